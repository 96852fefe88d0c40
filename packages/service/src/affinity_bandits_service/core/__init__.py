"""The core: campaigns in a database, independent of HTTP."""
