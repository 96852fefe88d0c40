"""Tells as the core takes them: checked, and laid out for the database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire.limits import LARGEST_NUMBER, MOST_ANSWERS
from affinity_bandits.wire.values import check_key

Rater = tuple[str | None, int | None]
"""A pseudonym, and the arm that the rater belongs to; each None if it is not told."""


@dataclass(frozen=True)
class _Tell:
    """What both kinds of tell have in common; checked when made.

    Args:
        lease: the lease's number.
        key: the idempotency key.
        actor: who tells.
    """

    kind: ClassVar[str]
    part: ClassVar[str]
    form: ClassVar[str]

    lease: int
    key: str
    actor: str

    def __post_init__(self) -> None:
        places: tuple[int, ...] = getattr(self, self.part)
        check_key(self.key)
        if not 1 <= len(places) <= MOST_ANSWERS:
            raise InvalidInput(self.kind, f"1 to {MOST_ANSWERS:,} of them", len(places))
        self._check_different()
        for name, values in (("lease", (self.lease,)), (self.kind, places)):
            if not all(0 <= value <= LARGEST_NUMBER for value in values):
                raise InvalidInput(name, f"from 0 to {LARGEST_NUMBER:,}", values)

    def _check_different(self) -> None:
        places: tuple[int, ...] = getattr(self, self.part)
        if len(set(places)) < len(places):
            raise InvalidInput(self.kind, f"for different {self.part}", sorted(places)[:20])

    @property
    def digest(self) -> bytes:
        """A hash that identifies repeats; it is stored, so how it is computed must never change."""
        own = vars(self)
        content: tuple[object, ...]
        content = (self.lease, own[self.part], own.get("counts"), own["units"])
        if own.get("raters"):
            content += (own["raters"],)
        return hashlib.sha256(repr(content).encode()).digest()


@dataclass(frozen=True)
class SlotTell(_Tell):
    """A tell with a score for each of some slots of a lease.

    Args:
        slots: those that are answered.
        units: the score of each, in units of 1e-9.
        raters: who gave each, if that is told: a pseudonym and the arm that the rater belongs to,
            both of which may be None.
    """

    kind, part, form = "answers", "slots", "answers"

    slots: tuple[int, ...]
    units: tuple[int, ...]
    raters: tuple[Rater, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.raters and len(self.raters) != len(self.slots):
            raise InvalidInput("raters", f"{len(self.slots)} of them", len(self.raters))

    @property
    def detail(self) -> str | None:
        """Who rated, as the event has it; None if nobody says."""
        if not self.raters:
            return None
        raters, groups = zip(*self.raters, strict=True)
        return json.dumps({"raters": raters, "rater_arms": groups})


@dataclass(frozen=True)
class ArmTell(_Tell):
    """A tell with the totals of a lease by arm, where nothing of the lease was told before.

    Of an arm with fewer answers than slots, the lowest slots count as answered.

    Args:
        arms: those that have answers.
        units: the sum of each, in units of 1e-9.
        counts: the number of answers of each.
    """

    kind, part, form = "totals", "arms", "totals"

    arms: tuple[int, ...]
    units: tuple[int, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 <= count <= MOST_ANSWERS for count in self.counts):
            raise InvalidInput("count", f"from 0 to {MOST_ANSWERS:,}", self.counts)


@dataclass(frozen=True)
class ScoreTell(ArmTell):
    """The totals of a lease by arm and score.

    Args:
        arms: those that have answers, each as often as it has different scores.
        units: the sum of the answers that an arm has with that score.
        counts: their number.
    """

    form = "scores"

    def _check_different(self) -> None:
        told = list(zip(self.arms, self.units, self.counts, strict=True))
        if not all(count > 0 and units % count == 0 for _, units, count in told):
            raise InvalidInput("count", "1 or more, and of one score", self.counts)
        scores = [(arm, units // count) for arm, units, count in told]
        if len(set(scores)) < len(scores):
            raise InvalidInput(self.kind, "for different scores of each arm", sorted(scores)[:20])


Tell = SlotTell | ArmTell
TOLD = 9
"""How many lists tells are flattened to where nobody says who rated."""


def told(tell: Tell) -> tuple[int, ...]:
    """Return the slots that a tell has scores for, or the arms that it has totals for."""
    return tell.slots if isinstance(tell, SlotTell) else tell.arms


def flattened(tells: Sequence[Tell]) -> tuple[list[Any], ...]:
    """Return tells as arguments of the SQL function, with ragged lists concatenated.

    The last one, who rated, is left out where nobody says.
    """
    places: list[int] = []
    counts: list[int] = []
    units: list[int] = []
    for one in tells:
        places += told(one)
        counts += one.counts if isinstance(one, ArmTell) else (0,) * len(one.slots)
        units += one.units
    details = [one.detail if isinstance(one, SlotTell) else None for one in tells]
    return (
        [one.actor for one in tells],
        [one.key for one in tells],
        [one.digest for one in tells],
        [one.lease for one in tells],
        [one.form for one in tells],
        [len(one.units) for one in tells],
        places,
        counts,
        units,
        *([details] if any(details) else []),
    )
