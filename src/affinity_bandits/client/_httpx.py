"""The libraries that carry requests and read messages, or what to install where one is missing."""

from affinity_bandits.errors import MissingExtra

try:
    import httpx
    import pydantic
except ImportError as error:
    raise MissingExtra(error.name or "httpx", "client") from error

__all__ = ["httpx", "pydantic"]
