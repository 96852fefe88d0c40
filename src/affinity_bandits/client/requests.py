"""A request as a value: what is sent, how its reply is read, and when to try again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import httpx

from affinity_bandits import wire
from affinity_bandits.wire import ToldLine
from affinity_bandits.wire.limits import IDEMPOTENCY_KEY

T_co = TypeVar("T_co", covariant=True)
Outcome = httpx.Response | str
"""What a try brought: a reply, of the service or of something in between; or why none came, after
which the request may have been carried out all the same."""
TRANSIENT = frozenset({429, 502, 503, 504})
"""Statuses that say nothing against the request itself."""


@dataclass(frozen=True)
class Request(Generic[T_co]):
    """An HTTP request, and how to read its reply.

    Attributes:
        method: of HTTP.
        path: under the service's address.
        read: from the body of a good reply to a message.
        params: what follows the path.
        content: the body.
        key: the idempotency key; None where nothing is changed.
        media_type: of the body.
    """

    method: str
    path: str
    read: Callable[[bytes], T_co]
    params: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    key: str | None = None
    media_type: str = wire.JSON

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments of httpx's `request`."""
        sent: dict[str, Any] = {"method": self.method, "url": self.path, "params": self.params}
        if self.key is None:
            return sent
        headers = {IDEMPOTENCY_KEY: self.key, "Content-Type": self.media_type}
        return sent | {"headers": headers, "content": self.content}

    def transient(self, outcome: Outcome) -> bool:
        """Return whether another try may have a better outcome than this one."""
        return isinstance(outcome, str) or outcome.status_code in TRANSIENT


@dataclass(frozen=True)
class BulkRequest(Request[list[ToldLine]]):
    """Many tells in one request; each line of the reply has its own status."""

    def transient(self, outcome: Outcome) -> bool:
        if isinstance(outcome, str) or outcome.status_code != 200:
            return super().transient(outcome)
        try:
            return any(one.status in TRANSIENT for one in self.read(outcome.content))
        except ValueError:
            return False  # said when the reply is read for good
