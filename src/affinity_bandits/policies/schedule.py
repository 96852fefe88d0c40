"""Round schedules of elimination: how often each arm is pulled in round r, and who is dropped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput, UnknownName
from affinity_bandits.policies.round import FOREVER


@runtime_checkable
class Schedule(Protocol):
    """How long each round lasts and by how much an arm must lag to be dropped."""

    def repetitions(self, round_number: int, arms: int, horizon: int) -> int:
        """Return m_r for round r = 1, 2, ..., at least 1."""

    def threshold(self, round_number: int) -> float:
        """Return the lag beyond which an arm is dropped after round r."""

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data."""


@dataclass(frozen=True)
class PublishedSchedule:
    """m_r = ceil(2**(2 r + c) log(12/pi**2 K**2 r**2 n)), dropped beyond 2**-r.

    This is `eq:eliminationArmPullsInRound` with c = 5, which the analysis uses; the statement of
    `thm:regretConstSuboptimalityGaps` has c = 6.

    Args:
        offset: the constant c.
    """

    name: ClassVar[str] = "published"
    offset: float = 5.0

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "offset", checks.number("offset", self.offset, low=-60.0, high=60.0)
        )

    def repetitions(self, round_number: int, arms: int, horizon: int) -> int:
        """Return m_r of `eq:eliminationArmPullsInRound`, rounded up."""
        # A sum of logarithms, because the product overflows nothing but loses digits.
        log_term = math.log(12.0 / math.pi**2) + 2.0 * math.log(arms * round_number)
        pulls = 2.0 ** (2 * round_number + self.offset) * (log_term + math.log(horizon))
        return max(1, math.ceil(pulls)) if pulls < FOREVER else FOREVER

    def threshold(self, round_number: int) -> float:
        """Return 2**-r."""
        return 2.0**-round_number

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data."""
        return {"name": self.name, "offset": self.offset}

    def __str__(self) -> str:
        return f"published(offset={self.offset:g})"


@dataclass(frozen=True)
class ListedSchedule:
    """Rounds spelled out one by one; after the last, its numbers are used again.

    Args:
        rounds: pairs (repetitions, threshold).
    """

    name: ClassVar[str] = "listed"
    rounds: Sequence[tuple[int, float]]

    def __post_init__(self) -> None:
        pairs = checks.sequence("rounds", self.rounds, "a list of (repetitions, threshold) pairs")
        cleaned = []
        for index, pair in enumerate(pairs):
            items = checks.sequence(f"rounds[{index}]", pair, "a pair (repetitions, threshold)")
            if len(items) != 2:
                raise InvalidInput(f"rounds[{index}]", "a pair (repetitions, threshold)", pair)
            cleaned.append(
                (
                    checks.integer(f"rounds[{index}].repetitions", items[0], low=1),
                    checks.number(f"rounds[{index}].threshold", items[1], low=0.0),
                )
            )
        if not cleaned:
            raise InvalidInput("rounds", "a list of at least one round", self.rounds)
        object.__setattr__(self, "rounds", tuple(cleaned))

    def repetitions(self, round_number: int, arms: int, horizon: int) -> int:
        """Return the listed repetitions."""
        return self.rounds[min(round_number, len(self.rounds)) - 1][0]

    def threshold(self, round_number: int) -> float:
        """Return the listed threshold."""
        return self.rounds[min(round_number, len(self.rounds)) - 1][1]

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data."""
        return {"name": self.name, "rounds": [list(pair) for pair in self.rounds]}

    def __str__(self) -> str:
        return f"listed({len(self.rounds)} rounds)"


SCHEDULES: dict[str, type[PublishedSchedule] | type[ListedSchedule]] = {
    "published": PublishedSchedule,
    "listed": ListedSchedule,
}


def schedule_from_json(data: object) -> Schedule:
    """Rebuild a schedule from its `to_json`."""
    given = checks.table("schedule", data)
    name = given.pop("name")
    if name not in SCHEDULES:
        raise UnknownName("schedule", name, SCHEDULES)
    checks.settings(f"parameter of schedule {name}", SCHEDULES[name], given)
    return SCHEDULES[name](**given)
