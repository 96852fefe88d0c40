"""How much of the scale judges use, measured without their own group's advantage.

If the judges of one group spread their scores more than others and that group's candidates are
better (or worse), own candidates get more (or less) although nobody favors anybody. So judges'
scores are divided by their stretch before they are compared a second time:

    Y_cj = s_j + b_j X_cj,    y_cj = Y_cj - mean(Y_j on candidates of c's group),
    stretch_j = sd(y_j) * loading_j,    corr(y_j, y_k) = loading_j loading_k  for j != k.

Only products of different judges' scores of one candidate enter the loadings, so errors do not.
Centering by the candidate's group removes favor. No judge's group enters the stretch of a judge.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from affinity_bandits.audit.differences import Differences
from affinity_bandits.audit.evidence import RATIO, THRESHOLD, favor_interval, log_evidence
from affinity_bandits.audit.judges import JudgeTest, permute_judges
from affinity_bandits.audit.log import Numbers, ScoreLog, pool_singles
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray

FEWEST_ROWS = 25
"""Mean number of scores per judge from which on loadings are estimated; standard deviations alone
are used below."""
FEWEST_DEGREES = 5
"""Degrees of freedom of a judge's standard deviation; below, the judge counts as average."""
SWEEPS = 200
CLOSE = 1e-12
"""Change of a loading at which the fit stops."""
FARTHEST = 4.0
"""Largest stretch, and largest inverse, that scores are divided by."""
BLOCKS = 20
"""Blocks of performances of the jackknife."""
QUANTILE = 1.96
LEAST_ODD = 0.02
"""Fraction of the weight of pairs of judges, see `slopes_are_known`."""
UNSEEN = 1.5
"""How many times as much of the scale the best group's judges may use, or the worst group's, where
who judged whom does not tell; the interval allows for it."""
MOST_ERROR = 0.5
"""Fraction of the variance that may be error of equal size with all judges, if each candidate had
one judge: then spread and slope differ, and both ends of what is possible are tried."""
HALVINGS = 7
"""Halvings of the logarithm of the tipping ratio."""


@dataclass(frozen=True)
class ScaleUse:
    """How unevenly groups of judges use the scale, as far as it looks like favor.

    Attributes:
        best: the group whose candidates score best.
        worst: the group whose candidates score worst.
        ratio: how many times as much of the scale the judges of the best group use, compared with
            those of the worst; with three groups or more, the fitted ratio over all groups. NaN if
            who judged whom does not tell.
        low: lower end of its 95% interval, by a jackknife over blocks of candidates.
        high: upper end.
        tipping: the ratio from which on the bets would no longer reach 20 to 1; infinite if no
            ratio up to `FARTHEST` would do, None if they do not reach it anyway.
        favor: points that remain on evened scores; NaN if unknown.
    """

    best: str
    worst: str
    ratio: float
    low: float
    high: float
    tipping: float | None
    favor: float

    @property
    def turned(self) -> ScaleUse:
        """The same for scores the other way round; a tipping ratio may then be below 1."""
        tipping = None if self.tipping is None else 1.0 / self.tipping  # 0 if it was infinite
        ends = (1.0 / self.ratio, 1.0 / self.high, 1.0 / self.low)
        return ScaleUse(self.worst, self.best, *ends, tipping, -self.favor)


@dataclass(frozen=True)
class EvenTests:
    """Both tests on evened scores.

    Attributes:
        use: what was found about the judges' use of the scale.
        known: whether who judged whom tells the slopes apart; if not, the bets are the worst of
            assumed ratios, see `UNSEEN` and `MOST_ERROR`.
        test: the permutation on scores divided by each judge's stretch; None without names.
        strict: log evidence with the allowance for strictness.
        plain: log evidence without it.
        interval: of the bets, as fractions of the scale.
    """

    use: ScaleUse
    known: bool
    test: JudgeTest | None
    strict: float
    plain: float
    interval: tuple[float, float]


def repeat_evened(
    log: ScoreLog, compare: Callable[[ScoreLog], list[Differences]], *, single: bool, wealthy: bool
) -> EvenTests:
    """Repeat both tests on scores divided by how much of the scale judges use.

    Args:
        log: rows whose judge's group is known.
        compare: returns the double differences of a log.
        single: whether each candidate had one judge, by lot. Then judges share no candidates, and
            their standard deviations alone tell how much of the scale they use.
        wealthy: whether today's bets reach 20 to 1, so that there is a tipping ratio.
    """

    def even(stretch: FloatArray) -> ScoreLog:
        divided = divide_scores(log, stretch)
        return pool_singles(divided) if single else divided

    def even_groups(slopes: FloatArray) -> list[Differences]:
        return compare(even(slopes[log.judge_group]))

    products, pairs = group_products(log, alone=single)
    known = single or slopes_are_known(log, pairs.sum(axis=0))
    place = rank_groups(log)
    test = None
    if log.identified and known:
        fewest = math.inf if single else FEWEST_ROWS
        test = permute_judges(even(judge_stretches(log, fewest)[log.judge]))
    if known:
        tried = [group_slopes(products.sum(axis=0), pairs.sum(axis=0))]
        if single:
            squares = tried[0] ** 2
            tried.append(np.sqrt(squares - MOST_ERROR * squares.min()))
    else:
        tried = [UNSEEN ** (sign * place) for sign in (-1.0, 1.0)]
    strict = plain = math.inf
    low, high, favor = 1.0, -1.0, math.nan
    for slopes in tried:
        differences = even_groups(slopes)
        strict = min(strict, log_evidence(differences, ratio=RATIO))
        plain = min(plain, log_evidence(differences))
        found = favor_interval(differences)
        low, high = min(low, found[0]), max(high, found[1])
        if known:
            weight = sum(one.information.sum() for one in differences)
            favor = float(sum(one.t.sum() for one in differences) / weight)
    if test is not None and not math.isnan(test.favor):
        favor = test.favor
    ratio, error = _measure_ratio(products, pairs, place) if known else (math.nan, math.nan)
    use = ScaleUse(
        best=log.groups[int(np.argmax(place))],
        worst=log.groups[int(np.argmin(place))],
        ratio=math.exp(ratio),
        low=math.exp(ratio - QUANTILE * error),
        high=math.exp(ratio + QUANTILE * error),
        tipping=_find_tipping(lambda r: even_groups(r**place)) if wealthy else None,
        favor=favor * log.width,
    )
    return EvenTests(use, known, test, strict, plain, (low, high))


def rank_groups(log: ScoreLog) -> FloatArray:
    """Return how good each group's candidates are, from 0, the worst, to 1, the best.

    A regression of mean scores with effects of the judges' group, of the candidates' group and of
    own scores, so that neither lenience nor favor enters.
    """
    groups = len(log.groups)
    cell = log.judge_group.astype(np.int64) * groups + log.group
    rows = np.bincount(cell, minlength=groups * groups)
    seen = np.flatnonzero(rows)
    means = np.bincount(cell, log.score, groups * groups)[seen] / rows[seen]
    judging, judged = np.divmod(seen, groups)
    columns = np.zeros((len(seen), 2 * groups + 1))
    place = np.arange(len(seen))
    columns[place, judging] = columns[place, groups + judged] = 1.0
    columns[:, -1] = judging == judged
    weight = np.sqrt(rows[seen])
    fitted = np.linalg.lstsq(columns * weight[:, None], means * weight, rcond=None)[0]
    effects = fitted[groups:-1].copy()
    present = np.unique(judged)
    effects[~np.isin(np.arange(groups), present)] = effects[present].mean()
    spread = float(np.ptp(effects))
    if spread < 1e-9:
        return np.full(groups, 0.5)
    return np.asarray((effects - effects.min()) / spread, dtype=np.float64)


def _measure_ratio(
    products: FloatArray, pairs: FloatArray, place: FloatArray
) -> tuple[float, float]:
    """Return the logarithm of the ratio of slopes between best and worst, and its error."""
    judging = pairs.sum(axis=(0, 2)) > 0.0
    from_mean = np.where(judging, place - place[judging].mean(), 0.0)
    square = float(from_mean @ from_mean)
    if square < 1e-12:
        return 0.0, math.inf

    def slope(left_out: int | None = None) -> float:
        tables = [products.sum(axis=0), pairs.sum(axis=0)]
        if left_out is not None:
            tables = [tables[0] - products[left_out], tables[1] - pairs[left_out]]
        return float(from_mean @ np.log(group_slopes(*tables))) / square

    filled = np.flatnonzero(pairs.sum(axis=(1, 2)) > 0.0)
    if len(filled) < 2:
        return slope(), math.inf
    parts = np.array([slope(int(block)) for block in filled])
    error = math.sqrt((len(parts) - 1) / len(parts) * ((parts - parts.mean()) ** 2).sum())
    return slope(), error


def _find_tipping(evened: Callable[[float], list[Differences]]) -> float:
    """Return the smallest ratio that leaves less than 20 to 1, by halving; infinite if none."""

    def explains(size: float) -> bool:
        return log_evidence(evened(math.exp(size)), ratio=RATIO) < THRESHOLD

    near, far = 0.0, math.log(FARTHEST)
    if not explains(far):
        return math.inf
    for _ in range(HALVINGS):
        middle = (near + far) / 2.0
        near, far = (near, middle) if explains(middle) else (middle, far)
    return math.exp(far)


def judge_stretches(log: ScoreLog, fewest: float = FEWEST_ROWS) -> FloatArray:
    """Return how much of the scale each judge uses, by the judge's number; 1 on average.

    Args:
        log: scores with names of judges.
        fewest: see `FEWEST_ROWS`.
    """
    groups = len(log.groups)
    cell = log.judge.astype(np.int64) * groups + log.group
    rows = np.bincount(cell)
    left = log.score - (np.bincount(cell, log.score) / np.maximum(rows, 1))[cell]
    scores = np.bincount(log.judge)
    cells = np.bincount(np.flatnonzero(rows) // groups, minlength=len(scores))
    squares = np.bincount(log.judge, left * left, len(scores))
    known = (scores - cells >= FEWEST_DEGREES) & (squares > 1e-12 * np.maximum(scores, 1))
    if not known.any():
        return np.ones(len(scores))
    deviation = np.ones(len(scores))
    deviation[known] = np.sqrt(squares[known] / (scores - cells)[known])
    used = scores > 0
    stretch = deviation
    if scores[used].mean() >= fewest:
        left /= deviation[log.judge]
        left[~known[log.judge]] = 0.0
        stretch = deviation * _fit_loadings()(log.first_rows, log.judge, left, SWEEPS, CLOSE)
    found = np.ones(len(scores))
    found[known] = stretch[known] / np.exp(np.log(stretch[known]).mean())
    return np.clip(found, 1.0 / FARTHEST, FARTHEST)


def divide_scores(log: ScoreLog, stretch: FloatArray) -> ScoreLog:
    """Return the log with each row's distance from the middle divided by its stretch."""
    return replace(log, score=0.5 + (log.score - 0.5) / stretch)


@cache
def _fit_loadings() -> Function:
    return compile_kernel(fit_loadings, allocates=True)


def fit_loadings(
    start: IntArray, judge: Numbers, left: FloatArray, sweeps: int, close: float
) -> FloatArray:
    """Fit one factor to the correlations of different judges; a kernel.

    Args:
        start: first row of each performance.
        judge: of each row.
        left: standardized scores.
        sweeps: most sweeps.
        close: change at which the fit stops.
    """
    judges = judge.max() + 1
    products = pairs = 0.0
    for c in range(len(start) - 1):
        total = square = 0.0
        for row in range(start[c], start[c + 1]):
            total += left[row]
            square += left[row] * left[row]
        products += total * total - square
        number = start[c + 1] - start[c]
        pairs += number * (number - 1)
    load = np.full(judges, math.sqrt(max(products / max(pairs, 1.0), 0.01)))
    for _ in range(sweeps):
        above = np.zeros(judges)
        below = np.zeros(judges)
        for c in range(len(start) - 1):
            total = square = 0.0
            for row in range(start[c], start[c + 1]):
                value = load[judge[row]]
                total += left[row] * value
                square += value * value
            for row in range(start[c], start[c + 1]):
                value = load[judge[row]]
                above[judge[row]] += left[row] * (total - left[row] * value)
                below[judge[row]] += square - value * value
        change = 0.0
        for j in range(judges):
            if below[j] > 1e-9:
                new = 0.5 * load[j] + 0.5 * min(max(above[j] / below[j], 0.2), 1.2)
                change = max(change, abs(new - load[j]))
                load[j] = new
        if change < close:
            break
    return load


def group_products(
    log: ScoreLog, *, alone: bool = False, blocks: int = BLOCKS
) -> tuple[FloatArray, FloatArray]:
    """Return sums of products of different scores of one candidate, and their numbers.

    Scores are centered per group of judges and of candidates, and per judge.

    Args:
        log: the scores.
        alone: return sums of squares instead, for candidates who had one judge each.
        blocks: of the jackknife.

    Returns:
        Two arrays, indexed by the block of performances and by the groups of the two judges.
    """
    groups = len(log.groups)
    cell = log.judge_group.astype(np.int64) * groups + log.group
    left = log.score - (np.bincount(cell, log.score) / np.maximum(np.bincount(cell), 1))[cell]
    if log.identified:
        seen = np.maximum(np.bincount(log.judge), 1)
        left -= (np.bincount(log.judge, left) / seen)[log.judge]
    products, pairs = np.zeros((2, blocks, groups, groups))
    _add_products()(log.first_rows, log.judge_group, left, alone, products, pairs)
    return products, pairs


@cache
def _add_products() -> Function:
    return compile_kernel(add_products)


def add_products(
    start: IntArray,
    judge_group: Numbers,
    left: FloatArray,
    alone: bool,
    products: FloatArray,
    pairs: FloatArray,
) -> None:
    """Add up products of different judges' rows of each performance, or squares; a kernel."""
    for c in range(len(start) - 1):
        block = c % len(products)
        for one in range(start[c], start[c + 1]):
            for two in range(start[c], start[c + 1]):
                if (one == two) == alone:
                    products[block, judge_group[one], judge_group[two]] += left[one] * left[two]
                    pairs[block, judge_group[one], judge_group[two]] += 1.0


def group_slopes(products: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return how much of the scale each group's judges use; 1 on average, and where unknown.

    Args:
        products: by the groups of the two judges.
        pairs: their numbers.
    """
    has = pairs.sum(axis=1) > 0.0
    size = math.sqrt(max(products.sum() / max(pairs.sum(), 1.0), 1e-6))
    slopes = np.full(len(pairs), size)
    for _ in range(SWEEPS):
        new = (products @ slopes) / np.maximum(pairs @ (slopes * slopes), 1e-12)
        slopes = np.where(has, 0.5 * slopes + 0.5 * np.clip(new, 1e-3, None), slopes)
    slopes[has] /= np.exp(np.log(slopes[has]).mean()) if has.any() else 1.0
    slopes[~has] = 1.0
    return np.asarray(np.clip(slopes, 1.0 / FARTHEST, FARTHEST), dtype=np.float64)


def slopes_are_known(log: ScoreLog, pairs: FloatArray) -> bool:
    """Return whether who judged whom tells the judges' slopes apart.

    The products of slopes of pairs of judges determine single slopes only if each connected part
    of the graph of pairs has a cycle of odd length. Panels with one judge of each of two groups
    have none. The same holds for groups of judges, where pairs within a group are such cycles: then
    the least eigenvalue of `diag(row sums) + pairs` is above 0. It is compared with the mean row
    sum, so that a few odd pairs are not enough.
    """
    has = pairs.sum(axis=1) > 0.0
    table = pairs[np.ix_(has, has)]
    if not len(table):
        return False
    least = np.linalg.eigvalsh(np.diag(table.sum(axis=1)) + table)[0]
    if least < LEAST_ODD * table.sum() / len(table):
        return False
    return not log.identified or bool(_has_odd_cycles()(log.first_rows, log.judge))


@cache
def _has_odd_cycles() -> Function:
    return compile_kernel(has_odd_cycles, allocates=True)


def has_odd_cycles(start: IntArray, judge: Numbers) -> bool:
    """Return whether each connected part of judges who share candidates has an odd cycle; a kernel.

    A union-find over two copies of each judge: an edge joins each copy of one judge with the other
    copy of the other. A part has an odd cycle if the copies of its judges are joined.
    """
    judges = judge.max() + 1
    root = np.arange(2 * judges)
    shares = np.zeros(judges, np.bool_)
    for c in range(len(start) - 1):
        for row in range(start[c] + 1, start[c + 1]):
            # Pairs with the first judge connect all; one pair among the others closes a triangle.
            for other in range(start[c], min(row, start[c] + 2)):
                shares[judge[row]] = shares[judge[other]] = True
                for copy in range(2):
                    a = judge[row] + copy * judges
                    b = judge[other] + (1 - copy) * judges
                    while root[a] != a:
                        root[a] = root[root[a]]
                        a = root[a]
                    while root[b] != b:
                        root[b] = root[root[b]]
                        b = root[b]
                    root[a] = b
    for j in range(judges):
        if shares[j]:
            a, b = j, j + judges
            while root[a] != a:
                a = root[a]
            while root[b] != b:
                b = root[b]
            if a != b:
                return False
    return True
