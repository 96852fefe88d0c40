"""Powers joined at given shares: the constants they state, and the sums and draws of their rounds.

What every bias has in common (values, rules, breakpoints, JSON) is in `test_bias.py`,
`test_clips.py`, `test_descriptions.py` and `test_contracts.py`.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from affinity_bandits import PiecewisePower
from affinity_bandits.kernels.compile import compiled_part
from affinity_bandits.model.bias import Bias, bias_from_json, weight
from affinity_bandits.simulation.draws import Stream, bound_successes, new_read
from tests.support.instances import piecewise_powers
from tests.support.naive.biases import naive_bias
from tests.support.round_sums import many_counts

STEEP = piecewise_powers(largest=1.5, steepest=40.0)


def dense(bias: PiecewisePower) -> np.ndarray:
    """Shares at which a constant that was stated too small would show: inside every piece, and
    closely around every point."""
    ends = [1e-6, *bias.shares, 1.0]
    inside = [np.geomspace(left, right, 9) for left, right in pairwise(ends) if left < right]
    around = [share * (1.0 + step) for share in bias.shares for step in (-1e-5, 0.0, 1e-5)]
    return np.unique(np.clip(np.concatenate([*inside, around]), 1e-6, 1.0))


@pytest.mark.slow
@settings(max_examples=200)
@given(STEEP)
@example(PiecewisePower((0.0001, 0.00010000000000000002), (1.4999999999999973, 1.5)))
def test_the_lipschitz_constant_is_the_largest_slope_there_is(bias: PiecewisePower) -> None:
    """Never exceeded; and reached, up to the 1e-5 around its points that a slope is taken over.

    Over a relative step of 1e-5 the slope of a power of at most 40 changes by 4e-4 of itself.
    """
    shares = dense(bias)
    values = np.asarray(bias.weight(shares))
    slopes = np.diff(values) / np.diff(shares)
    # A difference of two rounded values of at most 1.5, over the step it is divided by.
    rounding = 1e-15 / np.diff(shares)
    assert np.all(slopes <= bias.lipschitz * (1.0 + 1e-9) + rounding)
    apart = all(right > left * (1.0 + 1e-4) for left, right in pairwise(bias.shares))
    if apart and bias.lipschitz > 1e-6:
        assert slopes.max() >= bias.lipschitz * (1.0 - 1e-3)


@pytest.mark.slow
@settings(max_examples=200)
@given(STEEP, st.floats(1e-5, 1.0), st.floats(1e-5, 1.0))
def test_the_steepness_is_the_largest_there_is(
    bias: PiecewisePower, one: float, other: float
) -> None:
    """log f(y) / f(x) over log y / x never exceeds it, and reaches it between two of the points."""
    low, high = sorted((one, other))
    rise = math.log(bias.weight(high) / bias.weight(low))
    assert rise <= bias.steepness * math.log(high / low) + 1e-12
    between = [
        math.log(bias.weight(right) / bias.weight(left)) / math.log(right / left)
        for left, right in pairwise(bias.shares)
        if right > left * (1.0 + 1e-4)
    ]
    if len(between) == len(bias.shares) - 1:
        assert max(between, default=0.0) == pytest.approx(bias.steepness, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("bias", "steepness", "lipschitz"),
    [
        (PiecewisePower([0.3], [2.0]), 0.0, 0.0),
        # x**2 has its largest slope at the right end, a root at the left, x**1 everywhere.
        (PiecewisePower([0.1, 1.0], [0.01, 1.0]), 2.0, 2.0),
        (PiecewisePower([0.01, 1.0], [0.1, 1.0]), 0.5, 5.0),
        (PiecewisePower([0.25, 0.5], [0.25, 0.5]), 1.0, 1.0),
        # The steepest piece is not the one with the largest slope.
        (PiecewisePower([0.0001, 0.001, 0.5, 1.0], [1e-6, 1e-4, 1e-4, 1e-4 * 2**1.5]), 2.0, 0.2),
    ],
)
def test_the_constants_worked_out_by_hand(
    bias: PiecewisePower, steepness: float, lipschitz: float
) -> None:
    assert bias.steepness == pytest.approx(steepness, abs=1e-12)
    assert bias.lipschitz == pytest.approx(lipschitz, abs=1e-12)


@pytest.mark.parametrize(
    "bias",
    [
        # As far apart as points can be, and as close.
        PiecewisePower([1e-18, 1.0], [1e-300, 1e8]),
        PiecewisePower([1e-18, 2e-18], [1e-300, 1e8]),
        PiecewisePower([math.nextafter(1.0, 0.0), 1.0], [1.0, 1.5]),
        PiecewisePower([0.5, math.nextafter(0.5, 1.0)], [1e-300, 1e8]),
    ],
    ids=str,
)
def test_the_most_extreme_points_give_numbers(bias: PiecewisePower) -> None:
    shares = np.array([0.0, *bias.shares, 0.3, 0.6, 1.0])
    values = np.asarray(bias.weight(np.sort(shares)))
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) >= 0.0)
    for share, value in zip(bias.shares, bias.weights, strict=True):
        assert bias.weight(share) == value
    assert math.isfinite(bias.steepness)
    assert math.isfinite(bias.lipschitz)
    assert bias_from_json(json.loads(json.dumps(bias.to_json(), allow_nan=False))) == bias


@pytest.mark.slow
@given(piecewise_powers(steepest=20.0), st.floats(0.0, 1.0))
def test_agrees_with_its_twin(bias: PiecewisePower, share: float) -> None:
    assert bias.weight(share) == pytest.approx(naive_bias(bias.to_json())(share), rel=1e-11)


# Rounds.


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "k", "pulls"), [(1, 30, 2, 40), (100, 110, 2, 400)])
@pytest.mark.parametrize(
    "bias",
    [
        PiecewisePower([0.05, 0.2, 0.3, 0.6], [0.1, 0.1, 0.7, 1.0]),
        PiecewisePower([0.01, 0.5], [0.2, 1.0]),
    ],
    ids=str,
)
def test_successes_have_their_exact_law(bias: Bias, a: int, b: int, k: int, pulls: int) -> None:
    """As for the other biases in `test_round_sums.py`: 4 more settings at p = 1e-6 each."""
    shares = (a + np.arange(pulls)) / (b + k * np.arange(pulls))
    law = np.ones(1)
    for p in 0.8 * np.asarray(bias.weight(shares)):
        law = np.convolve(law, [1.0 - p, p])
    out = np.empty(50_000, dtype=np.int64)
    source = Stream(np.array([5, 6], dtype=np.uint64), np.uint64(pulls), new_read())
    count = compiled_part(bound_successes(weight))
    many_counts(
        count, source, bias.code, bias.parameters, 0.8, float(a), float(b), float(k), pulls, out
    )
    assert agrees(out, law)
    assert not agrees(out, np.roll(law, 1))  # the negative control: a law shifted by one success


def agrees(found: np.ndarray, law: np.ndarray) -> bool:
    """Whether counts have a law: chi-square over cells of at least 20, at p = 1e-6."""
    expected, counts = law * len(found), np.bincount(found, minlength=len(law))
    keep = expected > 20.0
    rest = (counts[~keep].sum() - expected[~keep].sum()) ** 2 / expected[~keep].sum()
    statistic = np.sum((counts[keep] - expected[keep]) ** 2 / expected[keep]) + rest
    return bool(stats.chi2.sf(statistic, keep.sum()) > 1e-6)
