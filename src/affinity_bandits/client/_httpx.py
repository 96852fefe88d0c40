"""The libraries that carry requests and read messages, or what to install where one is missing."""

from affinity_bandits import extras

extras.need("client")

import httpx
import pydantic

__all__ = ["httpx", "pydantic"]
