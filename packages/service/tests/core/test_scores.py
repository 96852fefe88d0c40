"""Scores are whole numbers of 1e-9: exact, whatever their order."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits_client.messages.base import LARGEST_SCORE, UNITS_PER_ONE
from affinity_bandits_service.core.scores import (
    Scale,
    from_units,
    to_units,
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
