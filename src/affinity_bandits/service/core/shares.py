"""Shares of a batch: the requests of each campaign, and how they are laid out for the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

import asyncpg

from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import translate_errors


class Request(Protocol):
    """What asks and tells have in common."""

    @property
    def key(self) -> str:
        """The idempotency key."""

    @property
    def actor(self) -> str:
        """Who sends it."""


Item = TypeVar("Item", bound=Request)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Share(Generic[Item]):
    """The requests for one campaign in a batch.

    Attributes:
        tenant: whose campaign it is.
        campaign: the one.
        items: the requests, in order.
    """

    tenant: int
    campaign: UUID
    items: Sequence[Item]


@dataclass(frozen=True)
class Sent(Generic[Result]):
    """What became of a share.

    Attributes:
        results: of its requests, in order.
        complete: whether the round has all its answers now, and is to be closed.
    """

    results: Sequence[Result]
    complete: bool = False


def layout(shares: Sequence[Share[Any]], *, wait: bool) -> tuple[Any, ...]:
    """Return shares, in the order of their campaigns, as the first arguments of the SQL functions.

    Args:
        shares: of different campaigns.
        wait: whether to wait for the lock of the only one.
    """
    return (
        [one.tenant for one in shares],
        [one.campaign for one in shares],
        [len(one.items) for one in shares],
        [one.campaign for one in shares for _ in one.items],
        wait,
    )


def without_repeats(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Cut a list of requests wherever one comes that is in the same part already."""
    seen: set[tuple[str, str]] = set()
    first = 0
    for place, one in enumerate(items):
        if (one.actor, one.key) in seen:
            yield items[first:place]
            seen.clear()
            first = place
        seen.add((one.actor, one.key))
    yield items[first:]


async def send_together(
    shares: Sequence[Share[Item]],
    send: Callable[[Sequence[Share[Item]]], Awaitable[Sequence[asyncpg.Record]]],
    read: Callable[[Share[Item], Sequence[asyncpg.Record]], Awaitable[Sent[Result] | None]],
) -> list[Sent[Result] | None]:
    """Send shares in one transaction and read what became of each; None if it must be sent alone.

    Args:
        shares: of different campaigns.
        send: sends shares in the order of their campaigns; returns a row for each request.
        read: reads the rows of a share.

    Raises:
        Unavailable: the database does not answer.
    """
    # Those with a repeat in them take several transactions.
    alike = [one for one in shares if len(list(without_repeats(one.items))) == 1]
    alike.sort(key=lambda one: one.campaign)  # as the database does
    rows: Sequence[asyncpg.Record] = []
    try:
        async with translate_errors():
            rows = await send(alike) if alike else []
    except Unavailable:
        raise
    except Exception:  # of one of them: alone, each finds out whether it is its own
        return [None] * len(shares)
    if len(rows) != sum(len(one.items) for one in alike):
        return [None] * len(shares)
    found: dict[tuple[int, UUID], Sent[Result] | None] = {}
    for share in alike:
        own, rows = rows[: len(share.items)], rows[len(share.items) :]
        if own[0]["outcome"] == "busy":
            continue
        try:
            found[share.tenant, share.campaign] = await read(share, own)
        except Exception:  # it is committed: sent again, it is a repeat, and read again
            found[share.tenant, share.campaign] = None
    return [found.get((one.tenant, one.campaign)) for one in shares]
