"""The assumptions that a plan is made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput

NOISES = ("bounded", "gaussian")
JUDGES = ("strangers", "panel", "committee")
"""Who may judge, from what usually costs least to what costs most."""
MOST_GROUPS = 1000
MOST_HEAD_START = 10**9
MOST_IN_FLIGHT = 10**9
USUAL_HEAD_START = 100
USUAL_STEEPNESS = 2.0
LEAST_JOINING = 1e-6


@dataclass(frozen=True)
class Assumptions:
    """What a plan takes for granted, and how often it may fail.

    Scores are compared as they are when every group has the same share: "a difference of 0.3
    stars" means that a group would score 0.3 stars more than another if both had equal shares.
    What the scores would be without any bias is not asked, since nobody ever sees it; the order of
    the groups is the same. The bias is described relative to its weight at equal shares too.

    How often a worse group is settled for depends on `committee` or `head_start`, `judges`, the
    range of scores and `in_flight` alone. All else says how many choices that takes.

    Args:
        groups: how many groups are compared.
        horizon: how many choices will be made in all.
        smallest_difference: at equal shares the best group's mean score exceeds every other's by
            at least this.
        head_start: initial numbers of members differ by at most this. Left out, and no committee
            given: 100.
        committee: members of each group at the start instead, where they are known.
        bonus: a score is higher by this part at most where only the candidate's own group judges
            than where none of it does: 0.2 if people rate their own kind up to 20% higher. Left
            out: any bias that does not fall.
        steepness: the bias is at most as steep as x**steepness: multiplying a share by c > 1
            multiplies the mean score by at most c**steepness, and never lowers it. Left out: 2;
            with a bonus, bonus / (1 + bonus), as if every judge gave it to their own kind.
        lipschitz: where given, a limit on the slope of the bias as well (`assump:multBias`): the
            mean score changes by at most this times the change of the share, as a multiple of
            what it is at equal shares.
        joining: the part of those chosen who join the committee, of one group at most twice as
            large a part as of another.
        judges: "committee", all of it; "panel", named for each round, with as many seats for each
            group; or "strangers", nobody of a candidate's own group. These need a bonus, since
            without one there may be nothing that strangers see.
        noise: "bounded" for scores from `lowest` to `highest`, or "gaussian".
        sigma: the standard deviation of Gaussian scores.
        spread: that of bounded scores of one group, in points. Left out: as large as it can be.
        lowest: the smallest score there can be; bounded scores only.
        highest: the largest.
        largest_mean: at equal shares no group's mean score is above this. Left out: `highest`
            for bounded scores, 1 for Gaussian ones.
        failure: the probability that may be risked of settling for a worse group.
        in_flight: choices that may be under way at once, from the oldest without a score to the
            newest; 1 if each is scored before the next is made.
        pace: choices a week, where known: so that a plan can say when it will be over.
        names: of the groups, where they have some.
    """

    groups: int
    horizon: int
    smallest_difference: float
    head_start: int | None = None
    committee: Sequence[int] | None = None
    bonus: float | None = None
    steepness: float | None = None
    lipschitz: float | None = None
    joining: float = 1.0
    judges: str = "committee"
    noise: str = "bounded"
    sigma: float = 1.0
    spread: float | None = None
    lowest: float = 0.0
    highest: float = 1.0
    largest_mean: float | None = None
    failure: float = 0.05
    in_flight: int = 1
    pace: float | None = None
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        checks.choice("noise", self.noise, NOISES)
        checks.choice("judges", self.judges, JUDGES)
        self._set(**self._checked_scores())
        self._set(
            groups=checks.integer("groups", self.groups, low=2, high=MOST_GROUPS),
            horizon=checks.integer("horizon", self.horizon, low=1),
            joining=checks.number("joining", self.joining, low=LEAST_JOINING, high=1.0),
            failure=checks.number("failure", self.failure, low=1e-12, high=0.5, open_high=True),
            in_flight=checks.integer("in_flight", self.in_flight, low=1, high=MOST_IN_FLIGHT),
        )
        if self.horizon < self.groups:
            raise InvalidInput(
                "horizon", f"at least the number of groups ({self.groups})", self.horizon
            )
        self._set(**self._checked_bias())
        if self.judges == "strangers" and self.bonus is None:
            rule = "given where strangers judge: without one they might see nothing at all"
            raise InvalidInput("bonus", rule, None)
        self._set(**self._checked_start())
        if self.pace is not None:
            self._set(pace=checks.number("pace", self.pace, low=1e-9, high=1e15))
        if self.names is not None:
            self._set(names=self._checked_names(self.names))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _checked_scores(self) -> dict[str, Any]:
        lowest = checks.number("lowest", self.lowest, low=-1e9, high=1e9)
        highest = checks.number("highest", self.highest, low=-1e9, high=1e9)
        if not self.bounded and (lowest, highest) != (0.0, 1.0):
            name = "lowest" if lowest != 0.0 else "highest"
            raise InvalidInput(name, "left out unless noise is bounded", getattr(self, name))
        if highest <= lowest:
            raise InvalidInput("highest", f"above lowest ({lowest:g})", self.highest)
        largest = checks.number(
            "largest_mean",
            highest if self.largest_mean is None else self.largest_mean,
            low=lowest,
            high=highest if self.bounded else 1e6,
            open_low=True,
        )
        smallest = checks.number(
            "smallest_difference",
            self.smallest_difference,
            low=0.0,
            high=largest - lowest,
            open_low=True,
        )
        spread = self.spread
        if spread is not None and not self.bounded:
            raise InvalidInput("spread", "left out unless noise is bounded", spread)
        if spread is not None:  # no scores in a range have a larger one than half of its width
            limit = 0.5 * (highest - lowest)
            spread = checks.number("spread", spread, low=0.0, high=limit, open_low=True)
        return {
            "lowest": lowest,
            "highest": highest,
            "largest_mean": largest,
            "smallest_difference": smallest,
            "spread": spread,
            "sigma": checks.number("sigma", self.sigma, low=0.0, high=1e6, open_low=True),
        }

    def _checked_bias(self) -> dict[str, Any]:
        bonus, steepness, lipschitz = self.bonus, self.steepness, self.lipschitz
        if bonus is not None:
            bonus = checks.number("bonus", bonus, low=0.0, high=1e6)
        if steepness is None:
            steepness = USUAL_STEEPNESS if bonus is None else bonus / (1.0 + bonus)
        if lipschitz is not None:
            lipschitz = checks.number("lipschitz", lipschitz, low=0.0)
        return {
            "bonus": bonus,
            "steepness": checks.number("steepness", steepness, low=0.0, high=100.0),
            "lipschitz": lipschitz,
        }

    def _checked_start(self) -> dict[str, Any]:
        if self.committee is None:
            ahead = USUAL_HEAD_START if self.head_start is None else self.head_start
            return {"head_start": checks.integer("head_start", ahead, low=0, high=MOST_HEAD_START)}
        if self.head_start is not None:
            raise InvalidInput(
                "head_start", "left out where the committee is given", self.head_start
            )
        members = checks.integers_list("committee", self.committee, low=0, high=MOST_HEAD_START)
        if len(members) != self.groups or sum(members) == 0:
            rule = f"a number of members for each of the {self.groups} groups, not all of them 0"
            raise InvalidInput("committee", rule, self.committee)
        return {"committee": members}

    def _checked_names(self, given: Sequence[str]) -> tuple[str, ...]:
        names = tuple(checks.sequence("names", given, "a list of names"))
        if len(names) != self.groups or not all(isinstance(name, str) for name in names):
            raise InvalidInput("names", f"a name for each of the {self.groups} groups", given)
        if len(set(names)) < len(names):
            raise InvalidInput("names", "names that differ", given)
        return names

    @property
    def bounded(self) -> bool:
        """Whether scores are bounded."""
        return self.noise == "bounded"

    @property
    def span(self) -> float:
        """The width of the range of scores, which policies see as 1; 1 for Gaussian scores."""
        return self.highest - self.lowest

    @property
    def best_mean(self) -> float:
        """The largest mean score that the best group can have at equal shares."""
        assert self.largest_mean is not None  # set in __post_init__
        return self.largest_mean

    @property
    def steepest(self) -> float:
        """The steepness that is assumed, stated or not."""
        assert self.steepness is not None  # set in __post_init__
        return self.steepness

    @property
    def ahead(self) -> int:
        """By how many members one group can outnumber another at the start."""
        if self.committee is not None:
            return max(self.committee) - min(self.committee)
        assert self.head_start is not None  # set in __post_init__
        return self.head_start

    def on_unit_scale(self) -> Assumptions:
        """Return the same assumptions with scores mapped to [0, 1], as policies see them."""
        return replace(
            self,
            lowest=0.0,
            highest=1.0,
            largest_mean=(self.best_mean - self.lowest) / self.span,
            # Rounding must not lift the difference above all there is.
            smallest_difference=min(
                self.smallest_difference / self.span, (self.best_mean - self.lowest) / self.span
            ),
            spread=None if self.spread is None else min(0.5, self.spread / self.span),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the assumptions as JSON-ready data, without those that are not made."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        if not self.bounded:
            values["lowest"] = values["highest"] = None
        for name in ("committee", "names"):
            values[name] = None if values[name] is None else list(values[name])
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild assumptions from `to_json`."""
        if not isinstance(data, Mapping):
            raise InvalidInput("assumptions", "a table", data)
        checks.settings("assumption", cls, data)
        return cls(**data)
