"""Sums of weights over a round agree with plain addition, and with a closed form beyond it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from affinity_bandits import Clipped, Custom, Power
from affinity_bandits.kernels.compile import compiled_part
from affinity_bandits.model.bias import Bias, weight
from affinity_bandits.simulation.draws import Stream, bound_successes, new_read
from tests.support.instances import biases
from tests.support.round_sums import many_counts, plain_sums, quick_sums


@pytest.mark.slow
@settings(max_examples=200)
@given(data=st.data())
def test_quick_sums_are_plain_sums(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 64))
    bias = data.draw(biases(max(k, 2)))
    a = data.draw(st.integers(1, 10**5) | st.integers(1, 50))
    b = a + data.draw(st.integers(k - 1, 10**6) | st.integers(k - 1, 200))
    pulls = data.draw(st.integers(1, 200_000) | st.integers(1, 300))
    quick = quick_sums(bias, a, b, k, pulls)
    plain = plain_sums(bias, a, b, k, pulls)
    # 1e-9 absolute from the end correction left out (the square of the plateau is a power of
    # 20, hence ten times that), 1e-13 relative from rounding 2e5 additions.
    assert quick[0] == pytest.approx(plain[0], rel=1e-12, abs=1e-8)
    assert quick[1] == pytest.approx(plain[1], rel=1e-12, abs=1e-8)


@given(
    a=st.integers(1, 10**6),
    extra=st.integers(1, 10**6),
    k=st.integers(2, 100),
    pulls=st.integers(1, 5 * 10**14),
)
def test_the_share_itself_has_a_closed_form(a: int, extra: int, k: int, pulls: int) -> None:
    """sum (a + l) / (b + k l) = m / k + (a - b / k) / k (psi(b/k + m) - psi(b/k)), for f = x."""
    b = a + extra
    difference = special.digamma(b / k + pulls) - special.digamma(b / k)
    exact = pulls / k + (a - b / k) / k * difference
    assert quick_sums(Power(1.0), a, b, k, pulls)[0] == pytest.approx(exact, rel=1e-12, abs=1e-8)


def kinked(share: float) -> float:
    return 0.2 if share < 0.31 else 0.2 + 0.9 * (share - 0.31)


@pytest.mark.parametrize("pulls", [10, 1_000, 200_000])
def test_a_custom_function_with_a_hidden_kink_is_summed_right(pulls: int) -> None:
    bias = Custom(kinked, 0.9)
    for a, b, k in ((1, 100, 2), (90, 100, 5), (5, 5000, 3)):
        quick, plain = quick_sums(bias, a, b, k, pulls), plain_sums(bias, a, b, k, pulls)
        assert quick == pytest.approx(plain, rel=1e-10, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "k", "pulls"), [(1, 30, 2, 40), (100, 110, 2, 400), (3, 60, 5, 3000), (1, 2, 2, 17)]
)
@pytest.mark.parametrize(
    "bias", [Power(1.0), Power(2.0), Clipped(Power(1.0), low=0.1, high=0.4)], ids=str
)
def test_successes_of_a_drifting_coin_have_their_exact_law(
    bias: Bias, a: int, b: int, k: int, pulls: int
) -> None:
    """Chi-square of 50,000 counts against the exact Poisson-binomial law, built by convolution.

    12 settings at p = 1e-6 each. Power: with some 30 cells of at least 20 counts, a shift of the
    mean by 0.05 standard deviations adds about 0.05**2 * 50,000 = 125 to the statistic.
    """
    shares = (a + np.arange(pulls)) / (b + k * np.arange(pulls))
    law = np.ones(1)
    for p in 0.8 * np.asarray(bias.weight(shares)):
        law = np.convolve(law, [1.0 - p, p])
    out = np.empty(50_000, dtype=np.int64)
    key = np.array([5, 6], dtype=np.uint64)
    source = Stream(key, np.uint64(pulls), new_read())
    count = compiled_part(bound_successes(weight))
    many_counts(
        count, source, bias.code, bias.parameters, 0.8, float(a), float(b), float(k), pulls, out
    )
    expected = law * len(out)
    found = np.bincount(out, minlength=len(law))
    keep = expected > 20.0
    rest = (found[~keep].sum() - expected[~keep].sum()) ** 2 / expected[~keep].sum()
    statistic = np.sum((found[keep] - expected[keep]) ** 2 / expected[keep]) + rest
    assert stats.chi2.sf(statistic, keep.sum()) > 1e-6
