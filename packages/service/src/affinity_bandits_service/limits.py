"""Rate limits, turns, bounded caches, and work off the event loop."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import ParamSpec, TypeVar

from affinity_bandits_service.problems import Unavailable


def source_of(host: str) -> str:
    """Return the name of one client: an IPv4 address, or an IPv6 network of 64 bits.

    One customer usually has a whole network of that size.

    >>> source_of("2001:db8::17"), source_of("192.0.2.1"), source_of("::ffff:192.0.2.1")
    ('2001:db8::/64', '192.0.2.1', '192.0.2.1')
    """
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv4Address):
        return host
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 10_000
"""Entries, beyond which the oldest are forgotten."""


def remember(known: dict[K, V], key: K, value: V) -> V:
    """Add a value to a cache, dropping the oldest entries if it is full; return the value."""
    while key not in known and len(known) >= REMEMBERED:
        known.pop(next(iter(known)))
    known[key] = value
    return value


class RateLimiter:
    """Token buckets, one per name. Each process counts on its own.

    A bucket is full at first, and forgotten after long disuse.

    Args:
        clock: returns seconds; only differences matter.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(
        self, name: str, rate: float, tokens: float = 1.0, burst: float | None = None
    ) -> float:
        """Take tokens and return 0, or return the seconds until there are enough.

        Args:
            name: of the bucket.
            rate: tokens per second.
            tokens: how many to take; at most the size of the bucket.
            burst: tokens that the bucket holds; by default one second's worth.
        """
        now = self._clock()
        most = max(1.0, rate if burst is None else burst)
        tokens = min(tokens, most)
        # Taken out and put back last: the oldest are forgotten first.
        left, at = self._buckets.pop(name, (most, now))
        left = min(most, left + (now - at) * rate)
        enough = left >= tokens
        remember(self._buckets, name, (left - tokens if enough else left, now))
        return 0.0 if enough else (tokens - left) / rate


TURN_SECONDS = 2.0
"""How long a request waits for its turn; then it is to be repeated."""


class Turns:
    """Lets a number of requests wait for locks at once, each on a database connection.

    One turn is kept for other tenants, so that tenants never wait for another's locks.

    Args:
        number: turns in all, at least 1.
    """

    def __init__(self, number: int) -> None:
        self._all = asyncio.Semaphore(number)
        self._each = max(1, number - 1)
        self._own: dict[int, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def of(self, tenant: int) -> AsyncIterator[None]:
        """Wait for a turn of a tenant, and give it back at the end.

        Raises:
            Unavailable: all turns are taken for too long.
        """
        own = self._own.get(tenant)
        if own is None:
            own = remember(self._own, tenant, asyncio.Semaphore(self._each))
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(TURN_SECONDS):
                    await held.enter_async_context(own)
                    await held.enter_async_context(self._all)
            except TimeoutError:
                raise Unavailable from None
            yield


P = ParamSpec("P")
R = TypeVar("R")

SMALL = 20_000
"""Characters of JSON that are read and written sooner than a thread is asked to do it."""


async def off_loop(size: int, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return the result of work, done in a thread if it is on many characters of JSON."""
    if size <= SMALL:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
