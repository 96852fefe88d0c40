"""Tells: checked, and laid out for the database by campaign."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

import asyncpg

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_client import messages
from affinity_bandits_client.messages.base import MOST_ANSWERS
from affinity_bandits_service.core.scores import to_units
from affinity_bandits_service.problems import Unavailable
from affinity_bandits_service.store.connection import translate_errors

Rater = tuple[str | None, int | None]
"""A pseudonym, and the arm that the rater belongs to; each None if it is not told."""


@dataclass(frozen=True)
class AnyTell:
    """Answers to a lease, of which each one is checked where a request is read.

    Args:
        lease: the lease's number.
        key: the idempotency key.
        actor: who tells.
        places: the slots that are answered, or the arms of the scores that are counted.
        units: the score of each slot, or each counted score times its count, in units of 1e-9.
    """

    form: ClassVar[str]
    parameter: ClassVar[str]
    part: ClassVar[str]

    lease: int
    key: str
    actor: str
    places: tuple[int, ...]
    units: tuple[int, ...]

    def __post_init__(self) -> None:
        told = self._told()
        if len(set(told)) < len(told):
            raise InvalidInput(self.parameter, f"for different {self.part}", sorted(told)[:20])

    def _told(self) -> Sequence[Any]:
        """Return what may be told once only."""
        return self.places

    @property
    def digest(self) -> bytes:
        """A hash that identifies repeats of a request."""
        content = {name: value for name, value in vars(self).items() if name not in _SENDER}
        return hashlib.sha256(repr((self.form, content)).encode()).digest()


_SENDER = ("key", "actor")


@dataclass(frozen=True)
class SlotTell(AnyTell):
    """A tell with a score for each of some slots of a lease.

    Args:
        raters: who gave each score, if that is told.
    """

    form, parameter, part = "answers", "answers", "slots"

    raters: tuple[Rater, ...] = ()

    @property
    def detail(self) -> str | None:
        """The raters as the event stores them; None if unstated."""
        if not self.raters:
            return None
        raters, groups = zip(*self.raters, strict=True)
        return json.dumps({"raters": raters, "rater_arms": groups})


@dataclass(frozen=True)
class ScoreTell(AnyTell):
    """A tell with how often each arm was given each score, for leases wholly unanswered.

    An arm comes as often as it has different scores. If an arm has fewer answers than slots, its
    lowest slots count as answered.

    Args:
        counts: how many answers have each score.
    """

    form, parameter, part = "scores", "totals", "scores of each arm"

    counts: tuple[int, ...]

    def _told(self) -> Sequence[Any]:
        each = zip(self.places, self.units, self.counts, strict=True)
        return [(arm, units // count) for arm, units, count in each]


def sql_arguments(tells: Sequence[AnyTell]) -> tuple[list[Any], ...]:
    """Return tells as arguments of the SQL function, with ragged lists concatenated."""
    counts: list[int] = []
    for one in tells:
        counts += one.counts if isinstance(one, ScoreTell) else (0,) * len(one.places)
    return (
        [one.actor for one in tells],
        [one.key for one in tells],
        [one.digest for one in tells],
        [one.lease for one in tells],
        [len(one.units) for one in tells],
        [place for one in tells for place in one.places],
        counts,
        [units for one in tells for units in one.units],
        [one.detail if isinstance(one, SlotTell) else None for one in tells],
    )


def read_tell(body: messages.Tell, key: str, actor: str, names: Sequence[str]) -> AnyTell:
    """Return the tell in the body of a request.

    Raises:
        InvalidInput: the body breaks a rule.
    """
    arms: dict[str | None, int] = {name: arm for arm, name in enumerate(names)}
    if body.answers is not None:
        return SlotTell(
            body.lease,
            key,
            actor,
            tuple([one["slot"] for one in body.answers]),
            tuple([to_units(one["score"]) for one in body.answers]),
            _raters(body.answers, arms) if names_raters(body) else (),
        )
    for one in body.totals:
        if one.arm not in arms:
            # Not the closest name: with a thousand long ones it takes seconds to find.
            raise InvalidInput("arm", "the name of an arm of the campaign", one.arm)
    told = [
        (arms[one.arm], to_units(each["score"]) * each["count"], each["count"])
        for one in body.totals
        for each in one.scores
    ]
    if len(told) > MOST_ANSWERS:  # a tell writes them all
        raise InvalidInput("totals", f"of at most {MOST_ANSWERS:,} scores together", len(told))
    return ScoreTell(body.lease, key, actor, *zip(*told, strict=True))


def names_raters(body: messages.Tell) -> bool:
    """Return whether a tell says who rated."""
    return any(len(one) > 2 for one in body.answers or ())


def _raters(
    answers: Sequence[messages.SlotScore], arms: dict[str | None, int]
) -> tuple[Rater, ...]:
    for one in answers:
        group = one.get("rater_group")
        if group is not None and group not in arms:
            raise InvalidInput("rater_group", "a group of the campaign", group)
    return tuple((one.get("rater"), arms.get(one.get("rater_group"))) for one in answers)


class Keyed(Protocol):
    """The members that asks and tells have in common."""

    @property
    def key(self) -> str:
        """The idempotency key."""

    @property
    def actor(self) -> str:
        """Who sends it."""


Item = TypeVar("Item", bound=Keyed)
Result = TypeVar("Result")
Key = tuple[int, UUID]
"""A tenant and its campaign."""


@dataclass(frozen=True)
class Share(Generic[Item]):
    """The requests for one campaign in a batch, in order."""

    tenant: int
    campaign: UUID
    items: Sequence[Item]


@dataclass(frozen=True)
class Sent(Generic[Result]):
    """The results of a share.

    Attributes:
        results: one per request, in order.
        complete: whether the round has all its answers now, and must be closed.
    """

    results: Sequence[Result]
    complete: bool = False


def layout(shares: Sequence[Share[Any]], *, wait: bool) -> tuple[Any, ...]:
    """Return shares, in the order of their campaigns, as arguments of the SQL functions."""
    return (
        [one.tenant for one in shares],
        [one.campaign for one in shares],
        [len(one.items) for one in shares],
        [one.campaign for one in shares for _ in one.items],
        wait,
    )


def without_repeats(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Split a list of requests before each one that repeats a request of the same part."""
    seen: set[tuple[str, str]] = set()
    first = 0
    for place, one in enumerate(items):
        if (one.actor, one.key) in seen:
            yield items[first:place]
            seen.clear()
            first = place
        seen.add((one.actor, one.key))
    yield items[first:]


def sendable(shares: Sequence[Share[Item]]) -> list[Share[Item]]:
    """Return the shares that fit in one transaction, in the order in which it locks campaigns."""
    # A share with a repeat in it takes several transactions.
    fit = [one for one in shares if len(list(without_repeats(one.items))) == 1]
    return sorted(fit, key=lambda one: one.campaign)


async def rows_by_share(
    shares: Sequence[Share[Any]], fetched: Awaitable[Sequence[asyncpg.Record]]
) -> Mapping[Key, Sequence[asyncpg.Record]]:
    """Return the rows of each share that was sent, except those that must be sent alone.

    Raises:
        Unavailable: the database does not answer.
    """
    try:
        async with translate_errors():
            rows = await fetched
    except Unavailable:
        raise
    except Exception:  # of one of them: alone, each finds out whether it is its own
        return {}
    if len(rows) != sum(len(one.items) for one in shares):
        return {}
    found = {}
    for share in shares:
        own, rows = rows[: len(share.items)], rows[len(share.items) :]
        if own[0]["outcome"] != "busy":
            found[share.tenant, share.campaign] = own
    return found
