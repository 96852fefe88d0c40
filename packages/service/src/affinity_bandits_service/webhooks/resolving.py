"""Names of webhooks' hosts, looked up in threads of their own.

The event loop looks up two names at a time. Under a name server that is silent, hosts of webhooks
would keep the service from its own database.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from time import monotonic

SECONDS = 5.0
"""How long a name server may take."""
PAUSE = 60.0
"""Seconds for which a name that took longer is not looked up again."""
MOST_AT_ONCE = 32
"""Lookups under way, those included that nobody waits for any more: the C library goes on asking
for up to a minute."""


class NameNotFound(Exception):  # noqa: N818 - reads as the fact it states
    """A host's name is unknown, or was not looked up in time."""


class Resolver:
    """Looks up names, each in a thread of its own that ends with the process."""

    def __init__(self) -> None:
        self._room = threading.Semaphore(MOST_AT_ONCE)
        self._not_before: dict[str, float] = {}

    async def addresses(self, host: str) -> list[str]:
        """Return the addresses of a host, as they are now.

        Raises:
            NameNotFound: the name is unknown, or a name server is or was silent.
        """
        if self._not_before.get(host, 0.0) > monotonic() or not self._room.acquire(blocking=False):
            raise NameNotFound
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[str]] = loop.create_future()

        def settle(addresses: list[str]) -> None:
            if not found.done():
                found.set_result(addresses)

        def look_up() -> None:
            addresses: list[str] = []
            try:
                with suppress(OSError, UnicodeError):
                    known = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                    addresses = [str(one[4][0]) for one in known]
            finally:
                self._room.release()
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, addresses)

        threading.Thread(target=look_up, daemon=True).start()
        try:
            async with asyncio.timeout(SECONDS):
                addresses = await found
        except TimeoutError:
            now = monotonic()
            kept = {name: until for name, until in self._not_before.items() if until > now}
            self._not_before = kept | {host: now + PAUSE}
            raise NameNotFound from None
        if not addresses:
            raise NameNotFound
        return addresses


resolver = Resolver()
