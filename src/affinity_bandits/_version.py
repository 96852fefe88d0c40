"""The package's version, read by the build and by every saved result."""

__version__ = "0.3.0"
