"""The package's version, which is that of the library and of the client."""

__version__ = "0.3.0"
