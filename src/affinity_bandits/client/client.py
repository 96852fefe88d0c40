"""The blocking client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Self, TypeVar

import httpx

from affinity_bandits.client.core import Methods
from affinity_bandits.client.exchange import Exchange, lost_by, retries_of, settings_of
from affinity_bandits.client.methods import Waits
from affinity_bandits.client.requests import Outcome, Request
from affinity_bandits.wire import Page

T = TypeVar("T")


class Client(Methods, Waits):
    """A blocking client of the service; use it in a `with` block, or close it at the end.

    What gets no reply, or 429, 502, 503 or 504, is sent again after a growing pause. Every write
    has an idempotency key from its first try on, so a repeat never leases or counts anything
    twice. Threads may share a client.

    Args:
        url: the service's address.
        key: an API key; it is shown nowhere.
        timeout: seconds to wait for a reply to one try.
        attempts: tries of one request at most.
        transport: what carries requests; httpx's own if None.
        sleep: how to wait between tries.

    Raises:
        RequestRefused: from every method, where the service says no.
        NoReply: from every method, where no try brought a reply.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 10.0,
        attempts: int = 8,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._retries = retries_of(attempts)
        self._http = httpx.Client(transport=transport, **settings_of(url, key, timeout))
        self._sleep = sleep

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._http.base_url)!r})"

    def _send(self, request: Request[T]) -> T:
        exchange = Exchange(request, self._retries)
        while (pause := exchange.pause_after(self._try(request))) is not None:
            self._sleep(pause)
        return exchange.result()

    def _each(self, requests: Iterable[Request[list[T]]]) -> list[T]:
        return [item for request in requests for item in self._send(request)]

    def _pages(self, page: Callable[[str | None], Request[Page[T]]]) -> Iterator[T]:
        found = self._send(page(None))
        yield from found.items
        while found.next is not None:
            found = self._send(page(found.next))
            yield from found.items

    def _try(self, request: Request[T]) -> Outcome:
        try:
            return self._http.request(**request.parts())
        except httpx.RequestError as error:
            return lost_by(error)
