"""The routes of the API, a file a subject; scope, body and replies stand at each of them."""
