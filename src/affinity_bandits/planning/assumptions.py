"""The assumptions that a plan is made for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput

NOISES = ("bounded", "gaussian")
# Who may judge, in the order in which ways are shown.
JUDGES = ("outsiders", "neutral", "recused", "panel", "committee")
MOST_GROUPS = 1000
MOST_INITIAL_LEAD = 10**9
MOST_IN_FLIGHT = 10**9
USUAL_INITIAL_LEAD = 100
USUAL_STEEPNESS = 2.0
USUAL_JUDGES = 8
MOST_JUDGES = 100_000
FEWEST_FOR_BLOCKS = 3
LEAST_JOINING = 1e-6
LONGEST_UNIT = 16
# The check of each field that does not depend on others.
LIMITS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "lowest": (checks.number, {"low": -1e9, "high": 1e9}),
    "highest": (checks.number, {"low": -1e9, "high": 1e9}),
    "sigma": (checks.number, {"low": 0.0, "high": 1e6, "open_low": True}),
    "groups": (checks.integer, {"low": 2, "high": MOST_GROUPS}),
    "horizon": (checks.integer, {"low": 1}),
    "joining": (checks.number, {"low": LEAST_JOINING, "high": 1.0}),
    "failure": (checks.number, {"low": 1e-12, "high": 0.5, "open_high": True}),
    "begin_after": (checks.integer, {"low": 0, "high": MOST_IN_FLIGHT}),
    "in_flight": (checks.integer, {"low": 1, "high": MOST_IN_FLIGHT}),
    "bonus": (checks.number, {"low": 0.0, "high": 1e6}),
    "lipschitz": (checks.number, {"low": 0.0}),
    "favor_gap": (checks.number, {"low": 0.0, "high": 1e9}),
    "steepness": (checks.number, {"low": 0.0, "high": 100.0}),
    "initial_lead": (checks.integer, {"low": 0, "high": MOST_INITIAL_LEAD}),
    "pace": (checks.number, {"low": 1e-9, "high": 1e15}),
    "judges_per_group": (checks.integer, {"low": 1, "high": MOST_JUDGES}),
    "outsiders": (checks.flag, {}),
    "favors_differ": (checks.flag, {}),
    "strictness_differs": (checks.flag, {}),
}


def check_unit(parameter: str, given: object) -> str:
    """Return the name of one choice, with single spaces."""
    rule = f"one word or two in the singular, such as interview; at most {LONGEST_UNIT} letters"
    unit = " ".join(given.split()) if isinstance(given, str) else ""
    if not re.fullmatch(r"[^\W\d_][\w '-]*", unit) or len(unit) > LONGEST_UNIT:
        raise InvalidInput(parameter, rule, given)
    return unit


@dataclass(frozen=True)
class Assumptions:
    """The assumptions of a plan, and the tolerated failure probability.

    Scores are compared at equal shares: "a difference of 0.3 stars" means that a group would score
    0.3 stars more than another if both had the same share. Unbiased scores are hidden, but order
    the groups in the same way. The bias is relative to its weight at equal shares. Where nobody
    judges whose own group is compared (outsiders, neutral blocks), it is their difference.

    The failure probability depends on `committee` or `initial_lead`, `judges`, the range of scores
    and `in_flight` only. The other assumptions determine the cost.

    Args:
        groups: number of groups.
        horizon: number of choices in all.
        smallest_difference: the best group's mean score exceeds every other's by at least this, at
            equal shares.
        initial_lead: largest difference of initial numbers of members. Default: 100, unless
            `committee` is given.
        committee: initial members of each group, if they are known.
        bonus: the largest relative difference between scores by judges of the own group only and by
            judges of other groups only: 0.2 if people rate their own group up to 20% higher.
            Default: any nondecreasing bias.
        steepness: multiplying a share by c > 1 multiplies the mean score by at most c**steepness.
            Default: 2, or bonus / (1 + bonus), as if every judge gave the bonus to their own group.
        lipschitz: optional bound on the slope of the bias (Assumption 2.1), as a multiple of its
            weight at equal shares.
        favor_gap: by how many points the judges of one group may favor their own more than those of
            another favor theirs. Default: all groups are taken to have the same bias.
        favors_differ: whether favors may differ between groups and nobody knows by how much. Then
            panels and the committee promise nothing.
        strictness_differs: whether the judges of one group may be stricter on average than those
            of another. Then recusal and the committee promise nothing.
        outsiders: whether people can judge who belong to no group; None if unknown.
        judges_per_group: how many judges each group has. It matters for what happens if single
            judges differ in strictness.
        joining: the part of those chosen who join the committee; this may differ between groups by
            a factor of two.
        begin_after: choices between being chosen and beginning to judge, for those who join. They
            begin between rounds.
        judges: "committee" for all of it; "panel" for panels with equal seats per group, named for
            each round; "recused" for members of other groups only, which needs a bonus;
            "outsiders" for panels of people who belong to no group; "neutral" for blocks, in each
            of which one person of a third group scores a candidate of each of the others.
        noise: "bounded" for scores from `lowest` to `highest`, or "gaussian".
        sigma: standard deviation of Gaussian scores.
        spread: standard deviation of bounded scores of one group. Default: the largest possible.
        lowest: smallest possible score, if bounded.
        highest: largest possible score, if bounded.
        largest_mean: upper bound on mean scores at equal shares. Default: `highest`, or 1 for
            Gaussian scores.
        failure: tolerated probability of choosing the wrong group.
        in_flight: largest number of choices from the oldest unscored one to the newest.
        pace: choices per week, to compute dates.
        names: names of the groups.
        unit: the name of one choice, such as "interview".
    """

    groups: int
    horizon: int
    smallest_difference: float
    initial_lead: int | None = None
    committee: Sequence[int] | None = None
    bonus: float | None = None
    steepness: float | None = None
    lipschitz: float | None = None
    favor_gap: float | None = None
    favors_differ: bool = False
    strictness_differs: bool = False
    outsiders: bool | None = None
    judges_per_group: int = USUAL_JUDGES
    joining: float = 1.0
    begin_after: int = 0
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
    unit: str = "choice"

    def __post_init__(self) -> None:
        checks.choice("noise", self.noise, NOISES)
        checks.choice("judges", self.judges, JUDGES)
        for name, (check, limits) in LIMITS.items():
            self._check(name, check, **limits)
        self._check_scores()
        if self.horizon < self.groups:
            rule = f"at least the number of groups ({self.groups})"
            raise InvalidInput("horizon", rule, self.horizon)
        if self.judges == "recused" and self.bonus is None:
            rule = "given where judges are recused: without one they might see nothing at all"
            raise InvalidInput("bonus", rule, None)
        self._check_who_judges()
        if self.steepness is None and self.bonus is not None:
            self._set("steepness", self.bonus / (1.0 + self.bonus))
        elif self.steepness is None:
            self._set("steepness", USUAL_STEEPNESS)
        if self.committee is not None:
            self._check_committee(self.committee)
        elif self.initial_lead is None:
            self._set("initial_lead", USUAL_INITIAL_LEAD)
        if self.names is not None:
            self._check_names(self.names)
        self._set("unit", check_unit("unit", self.unit))

    def _check_who_judges(self) -> None:
        if self.favors_differ and self.favor_gap is not None:
            rule = "left out where nobody knows by how much favors differ"
            raise InvalidInput("favor_gap", rule, self.favor_gap)
        if self.judges == "outsiders":
            if self.outsiders is False:
                rule = "people who can judge: you said that there are no outsiders"
                raise InvalidInput("judges", rule, self.judges)
            self._set("outsiders", True)
        if self.judges == "neutral":
            if self.groups < FEWEST_FOR_BLOCKS:
                rule = (
                    "outsiders, panels or committee with two groups: for neutral blocks there must"
                    " be a third group, whose people judge the other two"
                )
                raise InvalidInput("judges", rule, self.judges)
            if not self.bounded:
                rule = "outsiders, panels, recused or committee: neutral blocks need a scale"
                raise InvalidInput("judges", rule, self.judges)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check(self, name: str, check: Callable[..., object], **limits: Any) -> None:
        """Check an optional field and set it to the value in its canonical type."""
        value = getattr(self, name)
        if value is not None:
            self._set(name, check(name, value, **limits))

    def _check_scores(self) -> None:
        usual = {"lowest": 0.0, "highest": 1.0, "spread": None}
        for name, value in usual.items():
            given = getattr(self, name)
            if not self.bounded and given != value:
                raise InvalidInput(name, "left out unless noise is bounded", given)
        if self.highest <= self.lowest:
            raise InvalidInput("highest", f"above lowest ({self.lowest:g})", self.highest)
        if self.largest_mean is None:
            self._set("largest_mean", self.highest)
        top = self.highest if self.bounded else 1e6
        self._check("largest_mean", checks.number, low=self.lowest, high=top, open_low=True)
        widest = self.best_mean - self.lowest
        self._check("smallest_difference", checks.number, low=0.0, high=widest, open_low=True)
        # The largest standard deviation of scores in a range is half of its width.
        self._check("spread", checks.number, low=0.0, high=0.5 * self.span, open_low=True)

    def _check_committee(self, given: Sequence[int]) -> None:
        if self.initial_lead is not None:
            rule = "left out where the committee is given"
            raise InvalidInput("initial_lead", rule, self.initial_lead)
        members = checks.integers_list("committee", given, low=0, high=MOST_INITIAL_LEAD)
        if len(members) != self.groups or sum(members) == 0:
            rule = f"a number of members for each of the {self.groups} groups, not all of them 0"
            raise InvalidInput("committee", rule, given)
        self._set("committee", members)

    def _check_names(self, given: Sequence[str]) -> None:
        names = tuple(checks.sequence("names", given, "a list of names"))
        if len(names) != self.groups or not all(isinstance(name, str) for name in names):
            raise InvalidInput("names", f"a name for each of the {self.groups} groups", given)
        if len(set(names)) < len(names):
            raise InvalidInput("names", "names that differ", given)
        self._set("names", names)

    @property
    def bounded(self) -> bool:
        """Whether scores are bounded."""
        return self.noise == "bounded"

    @property
    def span(self) -> float:
        """The width of the range of scores; 1 for Gaussian scores."""
        return self.highest - self.lowest

    @property
    def best_mean(self) -> float:
        """The largest mean score at equal shares."""
        assert self.largest_mean is not None  # set in __post_init__
        return self.largest_mean

    @property
    def steepest(self) -> float:
        """The steepness, stated or default."""
        assert self.steepness is not None  # set in __post_init__
        return self.steepness

    @property
    def at_once(self) -> bool:
        """Whether everybody who is chosen judges at once."""
        return self.joining == 1.0 and self.begin_after == 0

    @property
    def ahead(self) -> int:
        """The largest difference of initial numbers of members."""
        if self.committee is not None:
            return max(self.committee) - min(self.committee)
        assert self.initial_lead is not None  # set in __post_init__
        return self.initial_lead

    @property
    def alike(self) -> bool:
        """Whether all groups' judges are said to be alike in favor and in strictness."""
        return not (self.favors_differ or self.strictness_differs or self.favor_gap)

    @property
    def own_may_judge(self) -> bool:
        """Whether people score candidates of their own group."""
        return self.judges in ("panel", "committee")

    @property
    def hidden_gap(self) -> float:
        """The largest difference in true scores that the stated gap in favor can reverse.

        A gap of x points moves means by x times the share of a group's judges among those who
        judge: 1/K on a panel. In a committee it is at most 1/2, since the policy bets on a leader
        only against groups with at least its share. It is infinite if nobody knows the gap.
        """
        if not self.own_may_judge:
            return 0.0
        if self.favors_differ:
            return math.inf
        return (self.favor_gap or 0.0) / (self.groups if self.judges == "panel" else 2)

    @property
    def identified(self) -> bool:
        """Whether scores can tell a worse group from a difference between judges.

        They cannot if each of two groups is judged by the other's people, whose strictness may
        differ, nor if the difference that matters is not above the one that judges may hide. Where
        strictness may differ between groups, recusal can tell nothing, and of a committee that
        grows nothing is proven. Lots make it the same for all groups on a panel.
        """
        if self.strictness_differs and self.judges in ("recused", "committee"):
            return False
        if self.judges == "recused":
            return self.groups > 2
        return self.smallest_difference > self.hidden_gap

    @property
    def covered(self) -> str:
        """The biases that costs are computed for, in words; empty if they are all that is said.

        Only a committee's costs depend on the shape of the bias.
        """
        if self.judges != "committee" or self.steepest == 0.0:
            return ""
        if self.bonus is not None and self.steepest <= self.bonus / (1.0 + self.bonus):
            return "biases that grow evenly with the share"
        return f"biases that raise scores at most {2.0**self.steepest:.3g}-fold as a share doubles"

    def on_unit_scale(self) -> Assumptions:
        """Return the assumptions with scores mapped to [0, 1], as policies see them."""
        return replace(
            self,
            lowest=0.0,
            highest=1.0,
            largest_mean=(self.best_mean - self.lowest) / self.span,
            # Rounding must not lift the difference above the mean.
            smallest_difference=min(
                self.smallest_difference / self.span, (self.best_mean - self.lowest) / self.span
            ),
            spread=None if self.spread is None else min(0.5, self.spread / self.span),
            favor_gap=None if self.favor_gap is None else self.favor_gap / self.span,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the assumptions that are set, as JSON-ready data."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        if not self.bounded:
            values["lowest"] = values["highest"] = None
        for name in ("favors_differ", "strictness_differs"):
            values[name] = values[name] or None  # the usual answer is left out
        if self.judges_per_group == USUAL_JUDGES:
            values["judges_per_group"] = None
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
