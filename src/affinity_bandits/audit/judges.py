"""Test 2: permute the judges' groups.

The residuals of scores after effects of performance and judge are the same for all assignments of
groups. If a judge's group is irrelevant beyond strictness, all assignments of group labels to
judges are equally likely, so a permutation test has its exact level. Judges may have lasting
personal tastes. The test looks at the whole log once; unlike the bets, it must not be repeated as
the log grows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from affinity_bandits.audit.log import UNKNOWN, Flags, Numbers, ScoreLog
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray

PERMUTATIONS = 399
FEWEST_JUDGES = 6
"""With fewer judges there are too few assignments of labels for a p-value of 0.05."""
TOLERANCE = 1e-20
"""Squared residual of the normal equations, relative to the values, at which the solver stops.

It is not relative to the first residual: where the judges' effects cancel, that is only rounding.
"""
SWEEPS = 500
FEWEST_SESSIONS = 10
"""Sessions from which on a drift of strictness is looked for."""
DRIFT = 2.8
"""Standard errors from which on a drift is reported."""
ROTA = 2.33
"""Standard normal quantile of 0.99."""
STEPS = 12
"""Halvings of an end of the interval."""


@dataclass(frozen=True)
class JudgeTest:
    """The regression with effects of candidate and judge, and the permutation test.

    Attributes:
        favor: the regression's estimate, as a fraction of the scale.
        error: its standard error, by a jackknife over judges.
        p_value: of the permutation test, one-sided; 1 with fewer than six judges.
        interval: the favors that the test accepts in both directions, at level 0.05.
        judges: how many judges there are.
        without: the estimate when each judge in turn is left out, by the judge's number.
        drifting: the group whose judges' strictness changed most against others' over time; None if
            that may be chance.
    """

    favor: float
    error: float
    p_value: float
    interval: tuple[float, float]
    judges: int
    without: dict[int, float]
    drifting: int | None = None


def follows_rota(log: ScoreLog) -> bool:
    """Return whether a group's judges see their own group's candidates about equally often.

    A chi-squared test for each group's judges at level 0.01, taken together. Only who judged whom
    enters, no score. If single judges are sent to their own group's candidates, their strictness
    makes the mean of the group look like favor.
    """
    present, label = _label_judges(log)
    seen, own = np.bincount(log.judge)[present], np.bincount(log.judge, log.own)[present]
    total, own_total = np.bincount(label, seen), np.bincount(label, own)
    share = own_total / np.maximum(total, 1)
    used = ((share > 0.0) & (share < 1.0))[label]
    expected = (share * (1.0 - share))[label[used]] * seen[used]
    squares = ((own - seen * share[label])[used] ** 2 / expected).sum()
    freedom = int(used.sum()) - len(np.unique(label[used]))
    if freedom < 1:
        return True
    # The cube root of a chi-squared variable is nearly normal (Wilson and Hilferty).
    variance = 2.0 / (9.0 * freedom)
    return bool(np.cbrt(squares / freedom) <= 1.0 - variance + ROTA * math.sqrt(variance))


def remove_effects(log: ScoreLog, values: FloatArray | Flags) -> FloatArray:
    """Return the residuals of values after effects of performance and of judge."""
    return fit_effects(log, values)[1]


def fit_effects(log: ScoreLog, values: FloatArray | Flags) -> tuple[FloatArray, FloatArray]:
    """Return the effects of judges, by number, and the residuals; a common constant is arbitrary.

    The judges' effects solve the normal equations, by conjugate gradients with the judges' numbers
    of scores as preconditioner.
    """
    start, judge = log.first_rows, log.judge
    subtract, add_up = _compiled_effects()
    in_judge = np.maximum(np.bincount(judge), 1)
    effects = np.zeros(len(in_judge))
    left = values.astype(np.float64)
    enough = TOLERANCE * float(left @ left)
    subtract(start, judge, effects, left)
    rest = np.bincount(judge, left)
    direction = rest / in_judge
    size = float(rest @ direction)
    for _ in range(SWEEPS):
        if size <= enough:
            break
        applied = add_up(start, judge, direction)
        step = size / float(direction @ applied)
        effects += step * direction
        rest = rest - step * applied
        before, size = size, float(rest @ (rest / in_judge))
        direction = rest / in_judge + size / before * direction
    subtract(start, judge, effects, left)
    return effects, left


@cache
def _compiled_effects() -> tuple[Function, Function]:
    return compile_kernel(subtract_effects), compile_kernel(add_up_effects, allocates=True)


def subtract_effects(
    start: IntArray, judge: Numbers, effects: FloatArray, rows: FloatArray
) -> None:
    """Subtract each judge's effect from rows, then the mean of each performance; a kernel."""
    for c in range(len(start) - 1):
        total = 0.0
        for row in range(start[c], start[c + 1]):
            rows[row] -= effects[judge[row]]
            total += rows[row]
        mean = total / max(start[c + 1] - start[c], 1)
        for row in range(start[c], start[c + 1]):
            rows[row] -= mean


def add_up_effects(start: IntArray, judge: Numbers, effects: FloatArray) -> FloatArray:
    """Return the sum over each judge's rows of the effect less its performance's mean; a kernel."""
    sums = np.zeros(len(effects))
    for c in range(len(start) - 1):
        total = 0.0
        for row in range(start[c], start[c + 1]):
            total += effects[judge[row]]
        mean = total / max(start[c + 1] - start[c], 1)
        for row in range(start[c], start[c + 1]):
            sums[judge[row]] += effects[judge[row]] - mean
    return sums


def permute_judges(log: ScoreLog, permutations: int = PERMUTATIONS, seed: int = 0) -> JudgeTest:
    """Estimate the favor by regression, and test it by permuting the judges' groups."""
    scores, own = remove_effects(log, log.score), remove_effects(log, log.own)
    present, labels = _label_judges(log)
    judges = len(present)
    weight = float(own @ own)
    if weight < 1e-9:
        return JudgeTest(math.nan, math.nan, 1.0, (-1.0, 1.0), judges, {})
    favor = float(own @ scores) / weight
    part = np.bincount(log.judge, own * scores)[present]
    own_part = np.bincount(log.judge, own * own)[present]
    without = (own @ scores - part) / np.maximum(weight - own_part, 1e-12)
    spread = float(((without - favor) ** 2).sum()) * (judges - 1) / judges
    freedom = max(len(log) - log.performances - 1, 1)
    error = math.sqrt(spread * (len(log) - 1) / freedom)
    p_value, interval = 1.0, (-1.0, 1.0)
    if judges >= FEWEST_JUDGES:
        table = _moments(log, scores, own, present, labels, permutations, seed)

        def share_above(assumed: float, sign: float) -> float:
            s, o, ss, so, oo = table
            root = np.sqrt(np.maximum(ss - 2.0 * assumed * so + assumed * assumed * oo, 1e-24))
            statistics = sign * (s - assumed * o) / root
            return float(np.mean(statistics >= statistics[0] - 1e-9))

        p_value = share_above(0.0, 1.0)
        interval = (_end(share_above, favor, -1.0), _end(share_above, favor, 1.0))
    estimates = {int(j): float(value) for j, value in zip(present, without, strict=True)}
    drifting = _find_drift(log, scores)
    return JudgeTest(favor, error, p_value, interval, judges, estimates, drifting)


def _label_judges(log: ScoreLog) -> tuple[IntArray, Numbers]:
    """Return the numbers of the judges who gave scores, and their groups."""
    labels = np.full(int(log.judge.max()) + 1, UNKNOWN, dtype=np.int32)
    labels[log.judge] = log.judge_group
    present = np.flatnonzero(labels != UNKNOWN)
    return present, labels[present]


def _find_drift(log: ScoreLog, residuals: FloatArray) -> int | None:
    """Return the group whose judges' residuals rise or fall most clearly over the sessions.

    The moods of one session are one observation: sums of squares are over sessions.
    """
    if 1 + np.count_nonzero(np.diff(log.session)) < FEWEST_SESSIONS:
        return None
    largest, found = DRIFT, None
    for number in np.unique(log.judge_group):
        rows = log.judge_group == number
        session = log.session[rows]
        parts = np.bincount(session, residuals[rows] * (session - session.mean()))
        error = math.sqrt(parts @ parts)
        if abs(parts.sum()) > largest * error:
            largest, found = abs(parts.sum()) / error, int(number)
    return found


def _moments(
    log: ScoreLog,
    scores: FloatArray,
    own: FloatArray,
    present: IntArray,
    labels: Numbers,
    permutations: int,
    seed: int,
) -> FloatArray:
    """Return, for the true labels and each permutation, five sums over judges.

    Let s be a judge's sum of score residuals over candidates of the judge's label, and o the same
    for residuals of "own". The rows are the sums of s, o, s s, s o and o o.
    """
    groups = len(log.groups)
    first = present * groups
    size = int(first[-1]) + groups
    cell = log.judge.astype(np.int64)
    cell *= groups
    cell += log.group
    score_sums, own_sums = np.bincount(cell, scores, size), np.bincount(cell, own, size)
    generator = np.random.default_rng(seed)
    found = []
    for number in range(permutations + 1):
        cells = first + (generator.permutation(labels) if number else labels)
        s, o = score_sums[cells], own_sums[cells]
        found.append((s.sum(), o.sum(), s @ s, s @ o, o @ o))
    return np.array(found).T


def _end(share_above: Callable[[float, float], float], favor: float, far: float) -> float:
    """Return the end of the accepted favors, in the direction of `far`."""
    sign = -far  # a favor below the estimate is rejected if the rest is large, and vice versa
    if share_above(far, sign) > 0.025:
        return far
    near = favor
    for _ in range(STEPS):
        middle = (near + far) / 2.0
        near, far = (near, middle) if share_above(middle, sign) <= 0.025 else (middle, far)
    return far
