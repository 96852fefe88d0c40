"""The core: campaigns in a database, with nothing of HTTP."""
