"""The library that carries requests, or what to install where it is missing."""

from affinity_bandits.errors import MissingExtra

try:
    import httpx
except ImportError as error:
    raise MissingExtra("httpx", "client") from error

__all__ = ["httpx"]
