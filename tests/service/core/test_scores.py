"""Scores are whole numbers of 1e-9: exact, whatever their order."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.core.scores import (
    LARGEST_SCORE,
    UNITS_PER_ONE,
    Scale,
    from_units,
    to_units,
    total_to_units,
    units_to_text,
)

LARGEST_UNITS = LARGEST_SCORE * UNITS_PER_ONE
units = st.integers(-LARGEST_UNITS, LARGEST_UNITS)
many_units = st.integers(-(2**80), 2**80)


@given(units)
def test_nine_decimals_survive_the_way_through_a_float(exact: int) -> None:
    assert to_units(float(Decimal(exact).scaleb(-9))) == exact
    assert to_units(from_units(exact)) == exact


@given(st.floats(-LARGEST_SCORE, LARGEST_SCORE))
def test_any_other_score_is_rounded_to_the_nearest(score: float) -> None:
    distance = abs(Fraction(score) * UNITS_PER_ONE - to_units(score))
    # The product with 1e9 is rounded too, by half of its last place.
    assert distance <= Fraction(1, 2) + Fraction(abs(score)) * UNITS_PER_ONE / 2**53


@given(many_units)
def test_a_sum_becomes_the_nearest_float(total: int) -> None:
    assert from_units(total) == float(Fraction(total, UNITS_PER_ONE))


@given(many_units)
def test_a_sum_is_written_out_exactly(total: int) -> None:
    assert Fraction(units_to_text(total)) == Fraction(total, UNITS_PER_ONE)


@given(st.integers(1, 10_000), st.data())
def test_a_total_given_as_text_is_exact(answers: int, data: st.DataObject) -> None:
    total = data.draw(st.integers(-LARGEST_UNITS * answers, LARGEST_UNITS * answers))
    assert total_to_units(units_to_text(total), answers) == total
    assert abs(total) < 2**63  # fits eight bytes


@given(st.lists(st.integers(0, 512), min_size=1, max_size=200))
def test_totals_of_short_binary_fractions_are_exact_as_floats(parts: list[int]) -> None:
    scores = [part / 512 for part in parts]
    assert total_to_units(sum(scores), len(scores)) == sum(to_units(score) for score in scores)


@pytest.mark.parametrize("score", [100_000.000001, -1e300, float("nan"), float("inf"), "1", None])
def test_what_is_no_score_is_refused(score: Any) -> None:
    with pytest.raises(InvalidInput, match="score must be"):
        to_units(score)


@pytest.mark.parametrize(
    "total",
    [
        *("200000.000000001", "NaN", "sNaN", "-Infinity", "1e999999999", "two", "", "1" * 41),
        *(200_001, 10**400, float("inf"), True, None, [1]),
    ],
)
def test_what_is_no_total_of_two_scores_is_refused(total: Any) -> None:
    with pytest.raises(InvalidInput, match="sum must be a decimal number of at most 100,000"):
        total_to_units(total, 2)


@pytest.mark.parametrize(("total", "expected"), [("1e-999999999", 0), (" 2 ", 2 * 10**9), (0, 0)])
def test_what_looks_odd_and_is_a_total(total: Any, expected: int) -> None:
    assert total_to_units(total, 2) == expected


@pytest.mark.slow
@given(
    st.integers(-LARGEST_SCORE * UNITS_PER_ONE, LARGEST_SCORE * UNITS_PER_ONE),
    st.integers(1000, LARGEST_SCORE * UNITS_PER_ONE),
    st.integers(1, 10**12),
    st.fractions(0, 1),
)
def test_a_sum_is_mapped_exactly_and_rounded_once(
    lowest: int, width: int, answers: int, part: Fraction
) -> None:
    scale = Scale(lowest, lowest + width)
    total = answers * lowest + round(part * answers * width)
    exact = Fraction(total - answers * lowest, width)
    assert scale.to_policy(total, answers) == float(exact)
    assert 0.0 <= scale.to_policy(total, answers) <= answers
