"""The compiled generator is numpy's Philox; its normals and binomials have the right laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.simulation.draws import (
    Stream,
    fill_normal,
    fill_uniform,
    log_probability,
    next_binomial,
    next_normal,
    next_uniform,
    normal_quantile,
)


def stream(replicate: int = 0) -> Stream:
    key = np.array([123456789, 987654321], dtype=np.uint64)
    return Stream(key, np.uint64(replicate), np.zeros(1, dtype=np.uint64))


def numpys(key: np.ndarray, replicate: int, size: int) -> np.ndarray:
    counter = np.array([0, 0, replicate, 0], dtype=np.uint64)
    return np.random.Philox(key=key, counter=counter).random_raw(size)


@pytest.mark.slow
@given(
    words=st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
    replicate=st.integers(0, 2**63),
    first=st.integers(0, 50),
    size=st.integers(0, 50),
)
def test_the_stream_is_numpys_word_for_word(
    words: tuple[int, int], replicate: int, first: int, size: int
) -> None:
    key = np.array(words, dtype=np.uint64)
    raw = numpys(key, replicate, 100)[first : first + size]
    out = np.empty(size)
    compile_kernel(fill_uniform, allocates=True)(out, key, np.uint64(replicate), first)
    np.testing.assert_array_equal(out, (raw >> np.uint64(11)) * 2.0**-53)
    compile_kernel(fill_normal, allocates=True)(out, key, np.uint64(replicate), first)
    quantiles = special.ndtri(((raw >> np.uint64(12)) + 0.5) * 2.0**-52)
    np.testing.assert_allclose(out, quantiles, rtol=4e-15, atol=1e-16)


def test_reading_one_by_one_is_reading_the_same_stream() -> None:
    one = stream(7)
    block = np.empty(40)
    compile_kernel(fill_uniform, allocates=True)(block, one.key, one.replicate, 0)
    assert [compile_kernel(next_uniform, allocates=True)(one) for _ in range(40)] == block.tolist()
    other = stream(7)
    compile_kernel(fill_normal, allocates=True)(block, one.key, one.replicate, 0)
    assert [compile_kernel(next_normal, allocates=True)(other) for _ in range(40)] == block.tolist()


@given(st.floats(1e-300, 1.0 - 1e-16, exclude_max=True))
def test_normal_quantile_is_scipys_to_sixteen_digits(p: float) -> None:
    assert compile_kernel(normal_quantile, allocates=True)(p) == pytest.approx(
        special.ndtri(p), rel=4e-15, abs=1e-16
    )


def fill_binomials(source: Stream, trials: int, p: float, out: np.ndarray) -> None:
    for i in range(len(out)):
        out[i] = next_binomial(source, trials, p)


many_binomials = compile_kernel(fill_binomials)


@pytest.mark.parametrize("p", [1e-9, 0.003, 0.5, 0.71])
@pytest.mark.parametrize("trials", [1, 40, 10**6, 10**9])
def test_binomials_have_the_binomial_law(trials: int, p: float) -> None:
    """Chi-square of 200,000 numbers against exact probabilities, in at most 60 cells.

    16 settings at p = 1e-6 each: correct code fails with probability below 2e-5. Power: a cell
    of probability 1/60 that is off by 10% adds 33 to the statistic, and p falls below 1e-6 when
    about four cells are.
    """
    out = np.empty(200_000, dtype=np.int64)
    many_binomials(stream(trials), trials, p, out)
    law = stats.binom(trials, p)
    cuts = np.unique(law.ppf(np.linspace(0.0, 1.0, 61)[1:-1]))
    expected = np.diff(np.concatenate([[0.0], law.cdf(cuts), [1.0]])) * len(out)
    found = np.bincount(np.searchsorted(cuts, out), minlength=len(cuts) + 1)
    keep = expected > 5.0
    assert found[~keep].sum() <= 40
    if keep.sum() > 1:
        statistic = np.sum((found[keep] - expected[keep]) ** 2 / expected[keep])
        assert stats.chi2.sf(statistic, keep.sum() - 1) > 1e-6


@pytest.mark.parametrize("trials", [10**12, 10**15])
def test_binomials_keep_mean_and_spread_at_huge_sizes(trials: int) -> None:
    """50,000 numbers: the mean within 5 standard errors, the variance within 5 of its own."""
    out = np.empty(50_000, dtype=np.int64)
    many_binomials(stream(1), trials, 0.37, out)
    scores = (out - trials * 0.37) / np.sqrt(trials * 0.37 * 0.63)
    assert abs(scores.mean()) < 5.0 / np.sqrt(len(out))
    assert abs(scores.var() - 1.0) < 5.0 * np.sqrt(2.0 / len(out))
    assert stats.kstest(scores, "norm").pvalue > 1e-6


@pytest.mark.slow
@given(trials=st.integers(10**3, 10**15), p=st.floats(0.05, 0.5), score=st.floats(-6.0, 6.0))
def test_binomial_probabilities_have_the_right_ratio(trials: int, p: float, score: float) -> None:
    """log P(k+1) - log P(k) = log((n - k) p / ((k + 1) q)), at any size."""
    k = float(np.floor(trials * p + score * np.sqrt(trials * p * (1.0 - p))))
    k = min(max(k, 1.0), trials - 2.0)
    log_of = compile_kernel(log_probability, allocates=True)
    step = log_of(k + 1.0, trials, p) - log_of(k, trials, p)
    exact = np.log1p((trials * p - k - (1.0 - p)) / ((k + 1.0) * (1.0 - p)))
    # Each log probability is rounded at about 1e-15 of its size, which is at most about 40.
    assert step == pytest.approx(exact, abs=2e-13)
