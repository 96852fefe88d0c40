"""Breakpoints, where a clip sets in or a model has its kink, and clips of clips."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits import Clipped, Constant, PiecewisePower, Plateau, Power, Sigmoid
from affinity_bandits.model.bias import Bias
from tests.model.bias.examples import clipped, shares, unclipped


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Constant(0.5), ()),
        (Power(3.0), ()),
        (Sigmoid(), ()),
        (Plateau(4, 1.0), (0.25,)),
        (Plateau(4, 4.0), ()),
        (PiecewisePower([0.01, 0.5, 1.0], [0.1, 0.5, 1.0]), (0.01, 0.5)),
        (Clipped(PiecewisePower([0.25, 1.0], [0.5, 1.0]), high=0.7), (0.25, 0.49)),
        (Clipped(Power(1.0), low=0.2), (0.2,)),
        (Clipped(Power(1.0), high=0.7), (0.7,)),
        (Clipped(Power(2.0), low=0.25, high=0.81), (0.5, 0.9)),
        (Clipped(Power(2.0), low=0.25, high=0.25), (0.5,)),
        (Clipped(Sigmoid(), low=0.6), (math.log(1.5),)),
        # Clips that the model meets at its very ends, or never.
        (Clipped(Power(1.0), low=0.0, high=1.0), ()),
        (Clipped(Sigmoid(), low=0.5), ()),
        (Clipped(Constant(0.5), low=0.1, high=0.4), ()),
        (Clipped(Sigmoid(), low=0.8), ()),
        # The kink of the base stays.
        (Clipped(Plateau(2, 0.5), high=0.01), (0.25, 0.25 + 0.01**0.1 - 2.0**-10)),
        # Clips of clips.
        (Clipped(Clipped(Power(1.0), low=0.2), high=0.7), (0.2, 0.7)),
        (Clipped(Clipped(Power(1.0), high=0.7), low=0.2), (0.2, 0.7)),
        (Clipped(Clipped(Power(1.0), high=0.7), high=0.7), (0.7,)),
        (Clipped(Clipped(Power(1.0), high=0.7), high=0.9), (0.7,)),
    ],
)
def test_breakpoints_are_where_a_clip_sets_in(model: Bias, expected: tuple[float, ...]) -> None:
    assert model.breakpoints == pytest.approx(expected, abs=1e-15)


@pytest.mark.slow
@given(st.floats(1.0, 20.0), st.floats(1e-6, 1.0 - 1e-6))
def test_a_breakpoint_is_the_first_share_at_which_the_level_is_reached(
    alpha: float, level: float
) -> None:
    base = Power(alpha)
    (share,) = Clipped(base, low=level).breakpoints
    assert 0.0 < share < 1.0
    assert base.weight(math.nextafter(share, 0.0)) < level <= base.weight(share)


# Clips of clips.


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (Clipped(Clipped(Power(1.0), low=0.2, high=0.8), low=0.5), [0.5, 0.5, 0.6, 0.8]),
        (Clipped(Clipped(Power(1.0), low=0.2, high=0.8), high=0.5), [0.2, 0.4, 0.5, 0.5]),
        # The outer clip lies wholly beyond the inner one: what is left is constant.
        (Clipped(Clipped(Power(1.0), high=0.3), low=0.5), [0.5, 0.5, 0.5, 0.5]),
        (Clipped(Clipped(Power(1.0), low=0.5), high=0.3), [0.3, 0.3, 0.3, 0.3]),
    ],
)
def test_the_outer_of_two_clips_has_the_last_word(model: Bias, values: list[float]) -> None:
    assert np.array(model.weight([0.1, 0.4, 0.6, 0.9])).tolist() == values


@pytest.mark.slow
@given(clipped(clipped(unclipped)), shares)
def test_a_clip_is_applied_to_what_its_base_gives(model: Bias, share: float) -> None:
    assert isinstance(model, Clipped)
    expected = model.base.weight(share)
    expected = expected if model.high is None else min(model.high, expected)
    expected = expected if model.low is None else max(model.low, expected)
    assert model.weight(share) == expected
