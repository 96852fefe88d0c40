"""The routes of the API, one file per subject; each declares its scope, body and replies."""
