"""Worlds of judges: people who differ in strictness, favor, use of the scale and taste.

A judge of group g gives a candidate of group c, on the user's scale,

    seen + strictness[g] + own strictness + favor[c] if g is c + taste[g, c] + error,

where `seen` is the candidate's quality, stretched around the middle of the scale by the slope of
g's judges. The score is rounded and cut off at the ends of the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel

MOST, MOST_PEOPLE = 1e9, 100_000
SIZES = ("spread", "error", "group_strictness", "judge_strictness", "tastes", "drift", "tiring")
"""Settings that are one number of points, at least 0."""
PER_GROUP = {
    "favors": (-MOST, MOST),
    "slopes": (0.0, MOST),
    "strictness": (-MOST, MOST),
    "own_part": (0.0, 1.0),
}
"""Settings with a number for each group, and their limits."""
JOINERS = 400
"""People of each group who can join its judges in a run; after that nobody joins."""


@kernel
def stretched(quality: Any, slope: Any, middle: float) -> Any:
    """Return a quality as judges see it who use `slope` times as much of the scale; also arrays."""
    return quality + (slope - 1.0) * (quality - middle)


@kernel
def on_scale(points: Any, lowest: float, highest: float) -> Any:
    """Return points as whole scores, cut off at the ends of the scale; also arrays."""
    return np.minimum(np.maximum(np.rint(points), lowest), highest)


class JudgesOfRun(NamedTuple):
    """The judges of one run and all that their scores depend on; rows are judges' groups.

    The last row are outsiders, who belong to no group.
    """

    lowest: float
    highest: float
    unit: float  # between two scores, in points
    spread: float
    error: float
    tiring: float
    period: float
    joining: float
    by_lot: bool
    quality: FloatArray  # per candidates' group
    favors: FloatArray  # per candidates' group
    own_part: FloatArray  # per candidates' group; none if raters are drawn by lot
    slopes: FloatArray
    drift: FloatArray
    tastes: FloatArray  # [judges' group, candidates' group]
    strictness: FloatArray  # [judges' group, person]
    people: IntArray  # per judges' group: those who judge; grows as people join


@kernel
def score_given(
    world: JudgesOfRun,
    group: int,
    rater: int,
    person: int,
    clock: int,
    place: int,
    rng: np.random.Generator,
) -> float:
    """Return the score, on [0, 1], that a person gives to a new candidate of a group.

    Args:
        world: the judges of the run.
        group: of the candidate.
        rater: the group of the person who judges.
        person: the number of this person in their group.
        clock: scores before this one.
        place: of the candidate among those whom this person sees, from 0.
        rng: draws the candidate's quality and the error.
    """
    middle = 0.5 * (world.lowest + world.highest)
    quality = world.quality[group] + world.spread * rng.standard_normal()
    points = stretched(quality, world.slopes[rater], middle)
    points += world.strictness[rater, person] + world.tastes[rater, group] - world.tiring * place
    points += world.drift[rater] * math.sin(2.0 * math.pi * clock / world.period)
    if rater == group:
        points += world.favors[group]
    points += world.error * rng.standard_normal()
    score = world.lowest + world.unit * on_scale(
        (points - world.lowest) / world.unit, 0.0, (world.highest - world.lowest) / world.unit
    )
    return float((score - world.lowest) / (world.highest - world.lowest))


@kernel
def join_judges(world: JudgesOfRun, group: int, rng: np.random.Generator) -> None:
    """Let a candidate who was scored join the judges of their group, by chance."""
    if world.joining > 0.0 and rng.random() < world.joining:
        world.people[group] = min(world.people[group] + 1, world.strictness.shape[1])


@dataclass(frozen=True, kw_only=True)
class JudgeWorld:
    """Candidates of several groups, and judges who differ as audits find them.

    All sizes are points of the scale. What differs by chance is drawn anew for each run.

    Attributes:
        quality: mean quality of each group's candidates.
        judges: number of judges per group; one number for all.
        outsiders: number of judges who belong to no group.
        lowest: the lowest score.
        highest: the highest score.
        unit: the difference between two neighboring scores.
        spread: standard deviation of quality within a group.
        error: standard deviation of a score's error.
        favors: what the judges of each group add for their own; none if empty.
        slopes: how much of the scale each group's judges use; 1 if empty, and for outsiders.
        strictness: what each group's judges add for everybody; 0 if empty, and for outsiders.
        group_strictness: standard deviation of what else a whole group's judges add.
        judge_strictness: standard deviation of what a single judge adds for everybody.
        tastes: standard deviation of what a group's judges add for one other group's candidates.
        drift: standard deviation of how far a group's judges swing in strictness.
        period: scores in one swing.
        tiring: what judges subtract for each candidate that they have seen in the same block.
        joining: probability that a scored candidate joins their group's judges.
        by_lot: whether the rater is drawn by lot. Otherwise one judge of a kind rates block after
            block, and the next one follows once they put the last candidate below the first.
        own_part: fraction of each group's slots that its own judges score on panels; by lot if
            empty.
    """

    quality: tuple[float, ...]
    judges: int | tuple[int, ...] = 8
    outsiders: int = 8
    lowest: float = 1.0
    highest: float = 5.0
    unit: float = 1.0
    spread: float = 0.8
    error: float = 0.6
    favors: tuple[float, ...] = ()
    slopes: tuple[float, ...] = ()
    strictness: tuple[float, ...] = ()
    group_strictness: float = 0.0
    judge_strictness: float = 0.4
    tastes: float = 0.0
    drift: float = 0.0
    period: float = 500.0
    tiring: float = 0.0
    joining: float = 0.0
    by_lot: bool = True
    own_part: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        self._set("quality", checks.numbers_list("quality", self.quality, low=-MOST, high=MOST))
        if self.groups < 2:
            raise InvalidInput("quality", "a number for each of two or more groups", self.quality)
        for name, (low, high) in PER_GROUP.items():
            given = checks.numbers_list(name, getattr(self, name), low=low, high=high)
            if len(given) not in (0, self.groups):
                rule = f"empty or a number for each of the {self.groups} groups"
                raise InvalidInput(name, rule, given)
            self._set(name, given)
        if not isinstance(self.judges, int):
            self._set(
                "judges", checks.integers_list("judges", self.judges, low=1, high=MOST_PEOPLE)
            )
        if len(self.people_per_group) != self.groups:
            rule = f"one number, or a number for each of the {self.groups} groups"
            raise InvalidInput("judges", rule, self.judges)
        for number in self.people_per_group:
            checks.integer("judges", number, low=1, high=MOST_PEOPLE)
        checks.integer("outsiders", self.outsiders, low=1, high=MOST_PEOPLE)
        for name in SIZES:
            checks.number(name, getattr(self, name), low=0.0, high=MOST)
        for name in ("unit", "period"):
            checks.number(name, getattr(self, name), low=0.0, high=MOST, open_low=True)
        checks.number("lowest", self.lowest, low=-MOST, high=MOST)
        checks.number("highest", self.highest, low=self.lowest, high=MOST, open_low=True)
        checks.number("joining", self.joining, low=0.0, high=1.0)
        checks.flag("by_lot", self.by_lot)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # frozen for everybody else

    @property
    def groups(self) -> int:
        """The number of candidates' groups."""
        return len(self.quality)

    @property
    def people_per_group(self) -> tuple[int, ...]:
        """The number of judges of each group."""
        if isinstance(self.judges, tuple):
            return self.judges
        return (self.judges,) * self.groups

    @property
    def best(self) -> int:
        """The best group; of equally good ones the least favored, then the first."""
        favors = self.favors or (0.0,) * self.groups
        return max(range(self.groups), key=lambda group: (self.quality[group], -favors[group]))

    def draw(self, generator: np.random.Generator) -> JudgesOfRun:
        """Draw the judges of a run."""
        groups, normal = self.groups, generator.normal
        people = np.array([*self.people_per_group, self.outsiders], dtype=np.int64)
        size = int(people.max()) + (JOINERS if self.joining > 0.0 else 0)
        strictness = normal(0.0, self.judge_strictness, (groups + 1, size))
        strictness += normal(0.0, self.group_strictness, (groups + 1, 1))
        strictness[:groups] += np.array(self.strictness or np.zeros(groups))[:, None]
        tastes = normal(0.0, self.tastes, (groups + 1, groups))
        np.fill_diagonal(tastes, 0.0)
        return JudgesOfRun(
            lowest=float(self.lowest),
            highest=float(self.highest),
            unit=float(self.unit),
            spread=float(self.spread),
            error=float(self.error),
            tiring=float(self.tiring),
            period=float(self.period),
            joining=float(self.joining),
            by_lot=bool(self.by_lot),
            quality=np.array(self.quality, dtype=np.float64),
            favors=np.array(self.favors or np.zeros(groups), dtype=np.float64),
            own_part=np.array(self.own_part, dtype=np.float64),
            slopes=np.array([*(self.slopes or np.ones(groups)), 1.0]),
            drift=normal(0.0, self.drift, groups + 1),
            tastes=tastes,
            strictness=strictness,
            people=people,
        )
