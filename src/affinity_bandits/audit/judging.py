"""How the judges of different groups differ: in strictness and in favor.

The model is `E[Y_cj] = quality_c + strictness_j + favor_g own_cj`, where g is the group of the
candidate and of the judge. With three groups or more, every favor is known up to noise. With two
groups the own scores of one are, after effects of candidate and judge, those of the other: only the
mean of both favors is known, and half of their difference cannot be told from strictness.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from affinity_bandits.audit.judges import fit_effects, remove_effects
from affinity_bandits.audit.log import UNKNOWN, ScoreLog
from affinity_bandits.kernels.kernel import FloatArray, IntArray

LEAST_INFORMATION = 1e-6
"""Smallest eigenvalue of the information about favors, relative to the largest, at which each is
known."""
MOST_GROUPS = 12
"""Groups whose favors are compared; a row is kept for each score and group."""


@dataclass(frozen=True)
class GroupStrictness:
    """How strict one group's judges are.

    Attributes:
        name: of the group.
        judges: their number.
        points: what they give everybody above the mean of all groups' judges; below 0 if they are
            stricter.
        low: lower end of the 95% interval, for judges like these.
        high: upper end.
    """

    name: str
    judges: int
    points: float
    low: float
    high: float


@dataclass(frozen=True)
class FavorDifference:
    """By how much one group's judges favor their own more than another's do theirs.

    Attributes:
        more: the first group.
        less: the second group.
        points: the estimate of the difference; may be below 0.
        low: lower end of its own 95% interval, by a jackknife over judges.
        high: upper end.
    """

    more: str
    less: str
    points: float
    low: float
    high: float


@dataclass(frozen=True)
class Judging:
    """How the judges of different groups differ.

    Attributes:
        strictness: of each group's judges; empty if it cannot be known.
        deviation: standard deviation of what single judges give everybody, within their groups and
            without the noise of their scores; None if no group has two judges.
        favors: differences between two groups' favors; empty if they cannot be known.
        favor_gap: the largest difference in favor that their intervals allow; None if unknown.
    """

    strictness: tuple[GroupStrictness, ...]
    deviation: float | None
    favors: tuple[FavorDifference, ...]
    favor_gap: float | None

    @property
    def favors_differ(self) -> bool:
        """Whether an interval of a difference excludes 0."""
        return any(one.low > 0.0 or one.high < 0.0 for one in self.favors)


def compare_judges(log: ScoreLog) -> Judging | None:
    """Compare the judges of different groups; None if judges have no names.

    Args:
        log: scores whose judge's group is known.
    """
    present = np.unique(log.judge_group)
    if not log.identified or len(present) < 2:
        return None
    groups = [int(g) for g in np.unique(log.group[log.own])]
    if not groups or len(groups) > MOST_GROUPS:
        return None
    labels = np.full(int(log.judge.max()) + 1, UNKNOWN, dtype=np.int64)
    labels[log.judge] = log.judge_group
    own = [(log.own & (log.group == g)).astype(np.float64) for g in groups]
    favor, deleted = _fit_favors(log, own)
    if favor is None:  # one favor for all groups
        favor, _ = _fit_favors(log, [log.own.astype(np.float64)])
        if favor is None:
            return None
        return Judging((), _deviation(log, log.score - favor[0] * log.own, labels)[1], (), None)
    pairs = []
    judges = len(deleted)
    for a, b in itertools.combinations(range(len(groups)), 2):
        points = float(favor[a] - favor[b])
        without = deleted[:, a] - deleted[:, b]
        error = math.sqrt(float(((without - without.mean()) ** 2).sum()) * (judges - 1) / judges)
        wide = t_quantile(max(1, judges - len(groups))) * error
        ends = (points - wide, points + wide)
        names = (log.groups[groups[a]], log.groups[groups[b]])
        pairs.append(FavorDifference(*names, *(one * log.width for one in (points, *ends))))
    plain = log.score - sum(f * o for f, o in zip(favor, own, strict=True))
    strictness, deviation = _deviation(log, plain, labels)
    gap = max((max(abs(one.low), abs(one.high)) for one in pairs), default=None)
    complete = len(groups) == len(np.unique(log.group))
    return Judging(strictness, deviation, tuple(pairs), gap if complete else None)


def _fit_favors(log: ScoreLog, own: list[FloatArray]) -> tuple[FloatArray | None, FloatArray]:
    """Return the favors, and those without each judge in turn; None if they are not known.

    Without a judge means without the rows of residuals, as in `permute_judges`.
    """
    left = np.array([remove_effects(log, one) for one in own])
    scores = remove_effects(log, log.score)
    information, sums = left @ left.T, left @ scores
    values = np.linalg.eigvalsh(information)
    if values[0] < LEAST_INFORMATION * max(values[-1], 1.0):
        return None, np.zeros((0, len(own)))
    found = []
    numbers = np.unique(log.judge)
    size = int(log.judge.max()) + 1
    part = np.array([np.bincount(log.judge, one * scores, size) for one in left])
    cross = np.array([[np.bincount(log.judge, a * b, size) for b in left] for a in left])
    for judge in numbers:
        rest = information - cross[:, :, judge]
        found.append(np.linalg.lstsq(rest, sums - part[:, judge], rcond=None)[0])
    return np.linalg.solve(information, sums), np.array(found)


def _deviation(
    log: ScoreLog, scores: FloatArray, labels: IntArray
) -> tuple[tuple[GroupStrictness, ...], float | None]:
    """Return the strictness of groups, and the deviation of single judges within them."""
    effects, residuals = fit_effects(log, scores)
    rows = np.bincount(log.judge, minlength=len(labels))
    freedom = max(1, len(log) - log.performances - int((rows > 0).sum()) + 1)
    noise = float(residuals @ residuals) / freedom
    numbers = [int(g) for g in np.unique(labels[labels != UNKNOWN])]
    of_group = {g: effects[labels == g] for g in numbers}
    spare = sum(len(one) - 1 for one in of_group.values())
    if not spare:
        return (), None
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in of_group.values())
    variance = squares / spare
    mean = float(np.mean([one.mean() for one in of_group.values()]))
    quantile = t_quantile(spare)
    found = []
    for g, one in of_group.items():
        # Of a group's mean less the mean of all groups' means.
        others = sum(1.0 / len(two) for h, two in of_group.items() if h != g)
        k = len(numbers)
        error = math.sqrt(variance * ((1.0 - 1.0 / k) ** 2 / len(one) + others / k**2))
        points = float(one.mean()) - mean
        ends = (points - quantile * error, points + quantile * error)
        values = (value * log.width for value in (points, *ends))
        found.append(GroupStrictness(log.groups[g], len(one), *values))
    blurred = noise * float(np.mean(1.0 / rows[rows > 0]))
    return tuple(found), log.width * math.sqrt(max(0.0, variance - blurred))


def t_quantile(freedom: int) -> float:
    """Return about the 97.5% quantile of Student's t distribution (Cornish and Fisher).

    With two degrees of freedom it is 3% too low, with one far too low.
    """
    z = 1.959964
    first = (z**3 + z) / 4.0
    second = (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
    third = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0
    return z + first / freedom + second / freedom**2 + third / freedom**3
