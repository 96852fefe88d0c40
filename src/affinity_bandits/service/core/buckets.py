"""Token buckets: how many of something each name may have, at a rate and at once."""

from __future__ import annotations

import time
from collections.abc import Callable

from affinity_bandits.service.core.memory import remember

LONGEST_DEBT = 10.0
"""Seconds that a key waits at most for what one request cost."""


class Buckets:
    """A token bucket for each name, all of one rate and size; it remembers the latest thousands.

    Args:
        rate: tokens a second.
        most: tokens that a bucket holds, and has at first.
        clock: returns seconds; only differences matter.
    """

    def __init__(
        self, rate: float, most: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._most = most
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, name: str) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        tokens = self._tokens(name)
        enough = tokens >= 1.0
        # Last in the order of what is forgotten: whoever asks often is not forgotten for others.
        self._left.pop(name, None)
        remember(self._left, name, (tokens - 1.0 if enough else tokens, self._clock()))
        return 0.0 if enough else (1.0 - tokens) / self._rate

    def empty(self, name: str) -> bool:
        """Return whether there is no token now."""
        return name in self._left and self._tokens(name) < 1.0

    def _tokens(self, name: str) -> float:
        now = self._clock()
        left, at = self._left.get(name, (self._most, now))
        return min(self._most, left + (now - at) * self._rate)


class RateLimiter:
    """A token bucket for each API key: work takes tokens, and they come at the key's rate.

    A request, or a line of one, takes a token, and more if it is large. A bucket holds one second's
    worth, so a key may catch up on a pause of a second and no more. What costs more than half of
    that takes what is there and leaves a debt. Each process counts on its own.

    Args:
        clock: returns seconds; only differences matter.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(
        self, key_id: str, rate: float, price: float = 1.0, needed: float | None = None
    ) -> float:
        """Take so many tokens and return 0, or return the seconds until that can be done.

        Args:
            key_id: whose.
            rate: the key's tokens a second.
            price: how many.
            needed: how many must be there; by default all of them, or half a bucket.
        """
        now = self._clock()
        most = max(1.0, rate)
        left, at = self._buckets.get(key_id, (most, now))
        tokens = min(most, left + (now - at) * rate)
        if needed is None:
            needed = min(price, max(1.0, most / 2))
        enough = tokens >= needed
        after = max(tokens - price, min(tokens, -LONGEST_DEBT * rate)) if enough else tokens
        self._buckets.pop(key_id, None)  # as in `Buckets`: last among what is forgotten
        remember(self._buckets, key_id, (after, now))
        return 0.0 if enough else (needed - tokens) / rate
