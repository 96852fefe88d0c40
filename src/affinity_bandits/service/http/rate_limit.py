"""How fast a key may ask, and how much it may send."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.types import Message, Receive

from affinity_bandits.service.core.memory import remember
from affinity_bandits.service.http.errors import TooLarge


class RateLimiter:
    """A bucket of tokens for each key: one a request, filled at the key's rate.

    A bucket holds one second's worth, so a key may catch up on a pause of a second and no more.
    Each process counts on its own.

    Args:
        clock: seconds, from anywhere.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key_id: str, rate: float) -> float:
        """Take a token; return 0, or the seconds until there is one to take."""
        now = self._clock()
        most = max(1.0, rate)
        left, at = self._buckets.get(key_id, (most, now))
        tokens = min(most, left + (now - at) * rate)
        enough = tokens >= 1.0
        remember(self._buckets, key_id, (tokens - 1.0 if enough else tokens, now))
        return 0.0 if enough else (1.0 - tokens) / rate


def limited(receive: Receive, limit: int) -> Receive:
    """Return a receiver that stops at a body longer than the limit, however it is sent."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > limit:
                raise TooLarge(limit)
        return message

    return counting
