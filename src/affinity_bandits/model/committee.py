"""Who joins the committee, who leaves it, and who judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from affinity_bandits.base import checks
from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import InvalidInput

WHEN = ("at once", "next round")
WHO = ("committee", "panel", "recused")
SEATING = ("as wanted", "in proportion")
MOST_SEATS = 10**9


@dataclass(frozen=True)
class Joining:
    """Which of those chosen join the committee, when, and how members leave.

    By default everybody joins at once and stays, as in the paper.

    Args:
        part: the probability that somebody chosen joins, independently of all else.
        above: only those whose feedback is at least this can join.
        when: "at once", or "next round", when a new member begins to judge. For a step policy, the
            next round is the next pull.
        leaving: the probability that a random member leaves after a pull. The last one stays.
    """

    part: float = 1.0
    above: float | None = None
    when: str = "at once"
    leaving: float = 0.0

    __repr__ = one_line

    def __post_init__(self) -> None:
        checks.choice("joining.when", self.when, WHEN)
        values: dict[str, Any] = {
            "part": checks.number("joining.part", self.part, low=0.0, high=1.0),
            "leaving": checks.number("joining.leaving", self.leaving, low=0.0, high=1.0),
        }
        if self.above is not None:
            values["above"] = checks.number("joining.above", self.above, low=-1e9, high=1e9)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def everyone(self) -> bool:
        """Whether all who are chosen join at once and stay."""
        return self == Joining()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Rebuild a description from `to_json`, or from a part alone."""
        if isinstance(data, int | float) and not isinstance(data, bool):
            return cls(part=data)
        if not isinstance(data, Mapping):
            raise InvalidInput("joining", "a part from 0 to 1, or a table", data)
        checks.settings("parameter of joining", cls, data)
        return cls(**data)


@dataclass(frozen=True)
class Judges:
    """Who gives the scores.

    Args:
        who: "committee": all members, the paper's model. "panel": some of them, seated anew for
            each round, or for each pull of a step policy. "recused": members of other groups
            only, so every share is 0.
        seats: of a panel.
        seating: of a panel. "as wanted": as many of each group as possible, and at most as many of
            the group that should have the fewest (`RoundPolicy.fewest_seats`) as of any other. "in
            proportion": like the committee, rounded down.
    """

    who: str = "committee"
    seats: int | None = None
    seating: str = "as wanted"

    __repr__ = one_line

    def __post_init__(self) -> None:
        checks.choice("judges.who", self.who, WHO)
        checks.choice("judges.seating", self.seating, SEATING)
        if (self.seats is not None) != (self.who == "panel"):
            rule = "given where judges are a panel, and only there"
            raise InvalidInput("judges.seats", rule, self.seats)
        if self.seats is not None:
            seats = checks.integer("judges.seats", self.seats, low=1, high=MOST_SEATS)
            object.__setattr__(self, "seats", seats)
        elif self.seating != "as wanted":
            raise InvalidInput("judges.seating", "left out unless it is a panel", self.seating)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Rebuild a description from `to_json`, or from the word for who judges."""
        if isinstance(data, str):
            return cls(who=data)
        if not isinstance(data, Mapping):
            raise InvalidInput("judges", "a word such as 'recused', or a table", data)
        checks.settings("parameter of judges", cls, data)
        return cls(**data)
