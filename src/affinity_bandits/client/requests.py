"""A request as a value: what is sent, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from affinity_bandits import wire
from affinity_bandits.client.retries import TRANSIENT, Lost, Reply
from affinity_bandits.wire import ToldLine
from affinity_bandits.wire.limits import IDEMPOTENCY_KEY

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Request(Generic[T_co]):
    """What is sent, and how the reply is read.

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
        """Return what httpx is told to send."""
        sent: dict[str, Any] = {"method": self.method, "url": self.path, "params": self.params}
        if self.key is None:
            return sent
        headers = {IDEMPOTENCY_KEY: self.key, "Content-Type": self.media_type}
        return sent | {"headers": headers, "content": self.content}

    def transient(self, outcome: Reply | Lost) -> bool:
        """Return whether the same request may go better the next time."""
        return isinstance(outcome, Lost) or outcome.status in TRANSIENT


@dataclass(frozen=True)
class BulkRequest(Request[list[ToldLine]]):
    """Many tells at once: each line has a status of its own."""

    def transient(self, outcome: Reply | Lost) -> bool:
        if super().transient(outcome):
            return True
        assert isinstance(outcome, Reply)
        if outcome.status != 200:
            return False
        try:
            return any(one.status in TRANSIENT for one in self.read(outcome.content))
        except ValueError:
            return False  # said when the reply is read for good
