"""What the service answers, as records; fields that this version does not know are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, NamedTuple

from affinity_bandits.client.values import listed, number
from affinity_bandits.errors import InvalidInput

Scores = Mapping[int, float] | Sequence[float]
"""The score of each slot by its number; or those of all slots of a lease, in their order."""
SMALLEST_UNIT = Decimal("1e-9")
LARGEST_SCORE = 10**5
"""Largest score in size that the service takes."""


class Slot(NamedTuple):
    """One choice to be made: take somebody from this group and say what came of it."""

    slot: int
    arm: str


@dataclass(frozen=True)
class Total:
    """The answers of one group taken together; the sum is a decimal text, which is exact."""

    arm: str
    count: int
    sum: str


@dataclass(frozen=True)
class Lease:
    """Slots that are yours until a moment.

    Attributes:
        campaign: the campaign's id.
        number: names the lease within the campaign.
        round: the round that the slots belong to.
        arms: the groups of the round; slot s is of arms[s % len(arms)].
        runs: the slots, as runs of (first, count).
        expires_at: from when on unanswered slots may be offered to others.
    """

    campaign: str
    number: int
    round: int
    arms: tuple[str, ...]
    runs: tuple[tuple[int, int], ...]
    expires_at: datetime

    def __len__(self) -> int:
        return sum(count for _, count in self.runs)

    @property
    def slots(self) -> list[Slot]:
        """Every slot with its group, in the order in which scores are listed."""
        return [Slot(slot, self.arms[slot % len(self.arms)]) for slot in self._numbers()]

    def answers(self, scores: Scores) -> dict[int, float]:
        """Return scores by slot, checked against the lease."""
        if isinstance(scores, Mapping):
            given = dict(scores)
            strange = sorted(map(repr, given.keys() - set(self._numbers())))
            if strange:
                raise InvalidInput("scores", f"for slots of lease {self.number}", strange)
        else:
            ordered = listed("scores", scores, "a list of scores, or scores by slot")
            if len(ordered) != len(self):
                raise InvalidInput("scores", f"{len(self)} of them, one a slot", len(ordered))
            given = dict(zip(self._numbers(), ordered, strict=True))
        if not given:
            raise InvalidInput("scores", "one or more", scores)
        return {int(slot): _score(slot, one) for slot, one in given.items()}

    def totals(self, scores: Scores) -> list[Total]:
        """Return the scores added up by group, to nine decimals each, as `tell_totals` takes them.

        >>> lease = Lease("id", 2, 0, ("a", "b"), ((0, 3),), datetime(2026, 1, 1))
        >>> lease.totals([0.1, 1, 0.2])
        [Total(arm='a', count=2, sum='0.3'), Total(arm='b', count=1, sum='1')]
        """
        sums: dict[str, tuple[int, Decimal]] = {}
        for slot, score in self.answers(scores).items():
            arm = self.arms[slot % len(self.arms)]
            count, total = sums.get(arm, (0, Decimal(0)))
            exact = Decimal(repr(score)).quantize(SMALLEST_UNIT, ROUND_HALF_EVEN)
            sums[arm] = (count + 1, total + exact)
        return [Total(arm, count, _plain(total)) for arm, (count, total) in sums.items()]

    def _numbers(self) -> Iterator[int]:
        for first, count in self.runs:
            yield from range(first, first + count)


@dataclass(frozen=True)
class Wait:
    """There is nothing to hand out now: all slots are out, or as many as may be at once.

    Attributes:
        outstanding: slots that are out and have no answer yet.
        retry_after: seconds until the first of them may be offered again, at the latest; any
            answer may come sooner and make room.
    """

    outstanding: int
    retry_after: float


@dataclass(frozen=True)
class Finished:
    """There is nothing to hand out any more: "exhausted" or "stopped"."""

    status: str


@dataclass(frozen=True)
class Told:
    """What became of answers.

    Attributes:
        counted: entered the comparison.
        late: came on an expired lease, after another answer or after the end of the round.
        duplicate: the slot had an answer already, and the lease was still good.
    """

    counted: int
    late: int
    duplicate: int


@dataclass(frozen=True)
class ToldLine:
    """What became of one of many tells.

    Attributes:
        line: which one, from 1.
        status: its HTTP status.
        told: what became of its answers; None if it was refused.
        code: why it was refused, in a word that programs can rely on.
        detail: the same in words.
    """

    line: int
    status: int
    told: Told | None
    code: str | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Arm:
    """A group of a campaign, whether it may still be the best, and its answers so far."""

    name: str
    active: bool
    answers: int


@dataclass(frozen=True)
class OpenRound:
    """The round that is going on."""

    number: int
    arms: tuple[str, ...]
    repetitions: int
    size: int
    handed_out: int
    answered: int


@dataclass(frozen=True)
class Attention:
    """That a campaign cannot go on by the service's own fault; whoever runs it can mend that.

    Attributes:
        kind: a word that programs can rely on.
        reason: what is wrong.
        since: when it was found.
    """

    kind: str
    reason: str
    since: datetime


@dataclass(frozen=True)
class Campaign:
    """A campaign as it stood when it was asked for.

    Attributes:
        status: "open", "decided", "exhausted" (the horizon came first) or "stopped".
        recommended: the group that is left, once there is only one.
        in_flight: choices that may be under way at once, from the oldest without an answer to the
            newest handed out; None where nothing that is promised depends on it.
        attention: why it cannot go on, if it cannot.
    """

    id: str
    name: str
    status: str
    arms: tuple[Arm, ...]
    recommended: str | None
    round: OpenRound
    horizon: int
    policy: Mapping[str, Any]
    lease_seconds: float
    lowest: float
    highest: float
    in_flight: int | None
    created_at: datetime
    attention: Attention | None


@dataclass(frozen=True)
class ClosedRound:
    """A round that is over; counts, sums (exact decimals) and means are in the order of `arms`.

    An arm without answers, where the horizon cut the round short, has no mean.
    """

    number: int
    arms: tuple[str, ...]
    counts: tuple[int, ...]
    sums: tuple[str, ...]
    means: tuple[float | None, ...]
    dropped: tuple[str, ...]
    opened_at: datetime
    closed_at: datetime


@dataclass(frozen=True)
class Event:
    """A line of the audit trail."""

    number: int
    at: datetime
    kind: str
    actor: str
    key: str | None
    round: int
    data: Mapping[str, Any]


def _score(slot: int, value: object) -> float:
    return number(f"score of slot {slot}", value, low=-LARGEST_SCORE, high=LARGEST_SCORE)


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
