"""The library that carries requests, or what to install where it is missing."""

from affinity_bandits import extras

extras.need("client")

import httpx

__all__ = ["httpx"]
