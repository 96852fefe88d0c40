"""Confidence intervals of the result tables, valid for every law and number of runs.

Regret is bimodal and rare runs may cost thousands of times more than others, so normal intervals
cover too rarely. These use only that runs are independent and that the quantity is bounded.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks
from affinity_bandits.base.displays import Interval
from affinity_bandits.base.errors import InvalidInput, need
from affinity_bandits.kernels.kernel import FloatArray

MOST_EXACT = 256
"""Samples of a column up to which all are used as they are."""
NODES = 128
"""Of each kind, ranks and values, that more samples are gathered in."""
HALVINGS = 32
"""Of a bracket, which leave an end too far out by no more than 2**-32 of the range."""
COLUMNS = 64
"""Worked on at once, which bounds memory."""
KINDS = ("betting", "bootstrap", "t", "quantiles")
"""Intervals of a table; see `regret_interval`."""
RESAMPLES = 2000
FLIPS_AT_ONCE = 1000
ROUNDING = 1e-9
"""By how much of the range a sample may be outside of it."""


def mean_interval(
    samples: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    level: float = 0.95,
    axis: int = 0,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, lower and upper end of a confidence interval of a bounded mean.

    For independent samples of one law between `low` and `high` it covers the mean with probability
    at least `level`, for every law and sample size. It holds the sample mean and is the same for
    every order of the samples.

    The lower end, for a range of [0, 1]: to test a mean m, bet a part c of a unit of wealth on
    every sample, so that it becomes prod (1 - c + c x / m). If m is the mean, each factor has
    expectation 1, and so has any average of such products over fixed c. By Markov's inequality it
    reaches 2 / (1 - level) with probability at most (1 - level) / 2; then m is excluded. The upper
    end is the lower one of 1 - x.

    Samples of standard deviation s call for c of about z m / (s sqrt(n)). As s is at most
    sqrt(m (1 - m)), the bets are min(1, a_k sqrt(m / (1 - m))) with a_k = 2**k z / sqrt(n), for
    wide laws; and z / sqrt(n), doubled up to 1, for laws that spread at most as widely as their
    mean. Every factor is nonincreasing in m: its derivative is linear in x, and at most 0 at x = 0
    and x = 1. So everything excluded lies below one point, found by bisection (its outer end). At
    the sample mean the factors average 1, so their product is at most 1 and the sample mean stays
    inside.

    Args:
        samples: along `axis`; at least one.
        low: the smallest possible value, for each column or for all.
        high: the largest possible value.
        level: coverage probability, at least.
        axis: that of the samples.
    """
    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    values = np.moveaxis(np.asarray(samples, dtype=np.float64), axis, 0)
    if values.shape[0] == 0:
        raise InvalidInput("samples", "at least one", 0)
    shape = values.shape[1:]
    least = np.broadcast_to(np.asarray(low, dtype=np.float64), shape).ravel()
    width = np.broadcast_to(np.asarray(high, dtype=np.float64), shape).ravel() - least
    values = values.reshape(len(values), -1)
    mean = values.mean(axis=0)
    # Where only one value is possible there is nothing to estimate.
    part = np.divide(values - least, width, out=np.zeros_like(values), where=width > 0.0)
    slack = ROUNDING * np.maximum(width, np.abs(least))
    outside = (values < least - slack) | (values > least + width + slack)
    if outside.any():
        raise InvalidInput("samples", "between low and high", float(values[outside][0]))
    part = part.clip(0.0, 1.0)
    below, above = np.empty_like(mean), np.empty_like(mean)
    for start in range(0, len(mean), COLUMNS):
        some = slice(start, start + COLUMNS)
        nodes, weights = _gathered(part[:, some])
        below[some] = _lower_end(nodes, weights, level)
        above[some] = 1.0 - _lower_end(1.0 - nodes, weights, level)
    # The mean of rounded numbers may be off its place by a rounding.
    lower = np.minimum(least + width * below, mean)
    upper = np.maximum(np.minimum(least + width * above, least + width), mean)
    return mean.reshape(shape), lower.reshape(shape), upper.reshape(shape)


def regret_interval(
    kind: str,
    samples: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    level: float = 0.95,
    axis: int = 0,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean with an interval of a given kind.

    Args:
        kind: "betting" covers the mean for every law between `low` and `high` (`mean_interval`);
            "t" covers it if the sample mean is normal, and "bootstrap" if the runs seen resemble
            the others: both fail if rare runs cost much; "quantiles" has the two runs between which
            a part `level` of all runs lies.
        samples: along `axis`; at least one.
        low: the smallest possible value.
        high: the largest possible value.
        level: coverage probability.
        axis: that of the samples.
    """
    checks.choice("interval", kind, KINDS)
    if kind == "betting":
        return mean_interval(samples, low, high, level, axis)
    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    values = np.moveaxis(np.asarray(samples, dtype=np.float64), axis, 0)
    mean = values.mean(axis=0)
    tail = (1.0 - level) / 2.0
    count = len(values)
    if kind == "t":
        need("study", "scipy")
        from scipy.special import stdtrit

        error = values.std(axis=0, ddof=min(1, count - 1)) / math.sqrt(count)
        half = float(stdtrit(max(count - 1, 1), 1.0 - tail)) * error if count > 1 else np.inf
        return mean, np.maximum(mean - half, low), np.minimum(mean + half, high)
    if kind == "bootstrap":
        generator = np.random.default_rng(0)  # a result depends on its samples alone
        drawn = generator.multinomial(count, np.full(count, 1.0 / count), RESAMPLES) / count
        values = np.tensordot(drawn, values, 1)
    ends = np.quantile(values, np.array([tail, 1.0 - tail]), axis=0, method="inverted_cdf")
    return mean, ends[0], ends[1]


def flip_signs(differences: FloatArray, flips: int) -> FloatArray:
    """Return the two-sided p-value of each column of paired differences, by a sign-flip test.

    Assumes that exchanging a pair's outcomes leaves their law unchanged. The p-value is the part of
    random signs, the true ones included, under which the sum is at least as far from 0.
    """
    generator = np.random.default_rng(0)
    seen = np.abs(differences.sum(axis=0)) * (1.0 - 1e-9)
    reached = np.ones(len(seen))
    for start in range(0, flips, FLIPS_AT_ONCE):
        size = min(FLIPS_AT_ONCE, flips - start)
        signs = 2.0 * generator.integers(0, 2, (size, len(differences))) - 1.0
        reached += (np.abs(signs @ differences) >= seen).sum(axis=0)
    return np.asarray(reached / (flips + 1.0), dtype=np.float64)


def proportion_interval(hits: int, trials: int, level: float = 0.95) -> Interval:
    """Return the proportion and its exact (Clopper-Pearson) interval.

    >>> [round(x, 4) for x in proportion_interval(0, 100)]
    [0.0, 0.0, 0.0362]
    """
    need("study", "scipy")
    from scipy.special import betaincinv

    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    tail = (1.0 - level) / 2.0
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1.0 - tail))
    return Interval(hits / trials, low, high)


def middle_runs(samples: npt.ArrayLike, axis: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the median run, and the two runs between which lie at least 90% of all.

    Each is a sample, never a value between two clusters.
    """
    values = np.asarray(samples, dtype=np.float64)
    found = np.quantile(values, np.array([0.5, 0.05, 0.95]), axis=axis, method="inverted_cdf")
    return found[0], found[1], found[2]


def _lower_end(nodes: FloatArray, weights: FloatArray, level: float) -> FloatArray:
    """Return the lower end for each column of samples in [0, 1], given as nodes with weights."""
    count = float(weights[:, 0].sum())
    needed = math.log(2.0 / (1.0 - level))
    shares, fixed, log_prior = _bets(count, math.sqrt(2.0 * needed))
    mean: FloatArray = (weights * nodes).sum(axis=0) / count
    low, high = np.zeros_like(mean), mean.copy()
    shown = mean > 0.0  # else all samples are 0, and no candidate is below
    nodes, weights = nodes[:, shown], weights[:, shown]
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        m = middle[shown]
        with np.errstate(divide="ignore"):  # everything on a sample of 0, or a candidate of 1
            part = np.minimum(1.0, shares * np.sqrt(m / (1.0 - m)) + fixed)
            gains = np.log1p(part[:, None, :] * (nodes / m - 1.0))
        logs = (weights * gains).sum(axis=1) + log_prior
        excluded = np.zeros(len(mean), dtype=bool)
        excluded[shown] = np.logaddexp.reduce(logs, axis=0) >= needed
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return low


def _bets(count: float, z: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bets as a multiple of sqrt(m / (1 - m)) plus a constant, and their log weights.

    One of the two is 0. The first bet, for the widest laws, has half of the weight, the k-th
    1 / (k (k + 1)), and the constant ones the rest.
    """
    first = z / math.sqrt(count)
    shares = 2 + max(0, math.ceil(math.log2(count / z)))
    constants = 1 + max(0, math.ceil(-math.log2(first)))
    steps = np.arange(shares) + 1.0
    prior = np.concatenate(
        [1.0 / (steps * (steps + 1.0)), np.full(constants, 1.0 / (shares + 1) / constants)]
    )
    multiples = np.concatenate([first * 2.0 ** (steps - 1.0), np.zeros(constants)])
    fixed = np.concatenate([np.zeros(shares), first * 2.0 ** np.arange(constants)])
    return multiples[:, None], fixed[:, None], np.log(prior)[:, None]


def _gathered(part: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return columns of samples as fewer nodes with weights, [node, column].

    A sample x = (1 - w) a + w b counts 1 - w at node a and w at b. As log(1 - c + c x / m) is
    concave in x, a split only lowers the logarithm of every product, so for any nodes an interval
    can only grow. Nodes at ranks suit dense samples, nodes at equal distances sparse ones.
    """
    count = len(part)
    if count <= MOST_EXACT:
        return part, np.ones_like(part)
    ranks = np.round(np.linspace(0.0, count - 1.0, NODES)).astype(np.intp)
    ordered = np.sort(part, axis=0)
    places = []
    for samples in ordered.T:
        distinct = np.unique(samples)
        if len(distinct) > 2 * NODES:
            spaced = np.linspace(distinct[0], distinct[-1], NODES)
            distinct = np.unique(np.concatenate([samples[ranks], spaced]))
        places.append(distinct)
    # What is left over has no weight, and lies where no bet is lost altogether.
    nodes = np.tile(part.mean(axis=0), (max(map(len, places)), 1))
    weights = np.zeros_like(nodes)
    for column, own in enumerate(places):
        nodes[: len(own), column] = own
        weights[: len(own), column] = _split(ordered[:, column], own)
    return nodes, weights


def _split(samples: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return the weight of every node; nodes ascend, and samples lie between their ends."""
    size = len(nodes)
    if size == 1:
        return np.full(1, float(len(samples)))
    right = np.searchsorted(nodes, samples).clip(1, size - 1)
    upper = (samples - nodes[right - 1]) / (nodes[right] - nodes[right - 1])
    parts = np.bincount(right, upper, size) + np.bincount(right - 1, 1.0 - upper, size)
    return np.asarray(parts, dtype=np.float64)
