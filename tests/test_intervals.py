"""The intervals of the result tables against scipy.stats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from affinity_bandits.simulation.intervals import mean_interval, proportion_interval

levels = st.floats(0.01, 0.999)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), levels)
def test_mean_interval_is_students(samples: list[float], level: float) -> None:
    mean, low, high = mean_interval(samples, level)
    error = stats.sem(samples)
    expected = stats.t.interval(level, len(samples) - 1, np.mean(samples), error or 1.0)
    if error == 0.0:  # scipy has no interval of width 0
        expected = (np.mean(samples), np.mean(samples))
    assert float(mean) == pytest.approx(np.mean(samples), rel=1e-12, abs=1e-6)
    assert (float(low), float(high)) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_mean_interval_of_numbers_worked_out_by_hand() -> None:
    # Mean 2, standard deviation 1, and 4.302653 is the 97.5% quantile with two degrees of freedom.
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    half = 4.302652729911275 / math.sqrt(3.0)
    assert (float(mean), float(low), float(high)) == pytest.approx((2.0, 2.0 - half, 2.0 + half))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_mean_interval_along_any_axis(axis: int) -> None:
    samples = np.random.default_rng(1).normal(size=(4, 5, 6))
    mean, low, high = mean_interval(samples, 0.9, axis)
    moved = np.moveaxis(samples, axis, 0)
    assert mean.shape == low.shape == high.shape == moved.shape[1:]
    for place in np.ndindex(mean.shape):
        single = mean_interval(moved[:, *place], 0.9)
        assert (mean[place], low[place], high[place]) == pytest.approx(single, rel=1e-12)


def test_one_sample_says_nothing_about_the_spread() -> None:
    mean, low, high = mean_interval([[1.0, 2.0]])
    assert mean.tolist() == [1.0, 2.0]
    assert low.tolist() == [-math.inf, -math.inf]
    assert high.tolist() == [math.inf, math.inf]


def test_equal_samples_have_an_interval_of_width_zero() -> None:
    mean, low, high = mean_interval([3.0, 3.0, 3.0])
    assert mean == low == high == 3.0


@given(st.data(), levels)
def test_proportion_interval_is_the_exact_one(data: st.DataObject, level: float) -> None:
    trials = data.draw(st.integers(1, 2000))
    hits = data.draw(st.integers(0, trials) | st.sampled_from([0, 1, trials]))
    proportion, low, high = proportion_interval(hits, trials, level)
    exact = stats.binomtest(hits, trials).proportion_ci(level, method="exact")
    assert proportion == hits / trials
    assert (low, high) == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-12)
    assert 0.0 <= low <= proportion <= high <= 1.0


def test_proportion_interval_of_none_and_of_all() -> None:
    # Without a hit the upper end p solves (1 - p)**n = 2.5%.
    _, low, high = proportion_interval(0, 20)
    assert low == 0.0
    assert high == pytest.approx(1.0 - 0.025 ** (1.0 / 20.0), rel=1e-12)
    assert proportion_interval(20, 20) == pytest.approx((1.0, 1.0 - high, 1.0), rel=1e-12)
