"""Bias models: values worked out by hand, and the rules of the assumption."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Constant,
    Custom,
    InGroupBonus,
    PiecewisePower,
    Plateau,
    Power,
    Root,
    Sigmoid,
    Step,
    simulate,
)
from affinity_bandits.base.errors import NotSupported
from affinity_bandits.model import bias
from affinity_bandits.model.bias import BIASES, Bias
from affinity_bandits.policies import DebiasedUCBV
from tests.model.bias.examples import ONE_OF_EACH, kinked, models, shares

ROUNDING = 1e-14
"""Relative error of a few operations; pow and exp are not exactly monotone in floating point."""


def test_every_model_of_the_catalogue_is_tested() -> None:
    assert {model.name for model in ONE_OF_EACH} == set(BIASES)


@pytest.mark.parametrize(
    ("model", "share", "expected"),
    [
        (Constant(), 0.3, 1.0),
        (Constant(0.0), 0.3, 0.0),
        (Constant(2.5), 0.0, 2.5),
        (Power(), 0.3, 0.3),
        (Power(2.0), 0.3, 0.09),
        (Power(3.0), 0.5, 0.125),
        (Power(1.5), 0.25, 0.125),
        (Power(4.0), 0.1, 1e-4),
        (Power(7.0), 0.0, 0.0),
        (Power(7.0), 1.0, 1.0),
        (Root(), 0.25, 0.5),
        (Root(0.25), 0.0, 0.0),
        (Step(0.4, 0.2, 0.9), 0.39, 0.2),
        (Step(0.4, 0.2, 0.9), 0.4, 0.9),
        (Clipped(Step(0.4, 0.2, 0.9), low=0.3, high=0.8), 0.1, 0.3),
        (Clipped(Step(0.4, 0.2, 0.9), low=0.3, high=0.8), 0.9, 0.8),
        (Sigmoid(), 0.0, 0.5),
        (Sigmoid(), 1.0, math.e / (math.e + 1.0)),
        (Sigmoid(), math.log(2.0), 2.0 / 3.0),
        # A quarter more from one's own group: 4/5 from other groups alone, 1 from one's own alone.
        (InGroupBonus(0.25), 0.0, 0.8),
        (InGroupBonus(0.25), 0.5, 0.9),
        (InGroupBonus(0.25), 1.0, 1.0),
        (InGroupBonus(0.0), 0.3, 1.0),
        (InGroupBonus(3.0), 0.5, 0.625),
        # With K = 2 and beta = 1 the rise begins at 1/2, and K**-10 is 1/1024.
        (Plateau(2, 1.0), 0.0, 2.0**-100),
        (Plateau(2, 1.0), 0.5, 2.0**-100),
        (Plateau(2, 1.0), 0.75, float(Fraction(257, 1024) ** 10)),
        (Plateau(2, 1.0), 1.0, float(Fraction(513, 1024) ** 10)),
        (Plateau(2, 2.0), 1.0, 2.0**-100),
        # 1/10 at 1/100 and 1 at 1/2; flat beyond both, and a root in between.
        (PiecewisePower([0.01, 0.5], [0.1, 1.0]), 0.0, 0.1),
        (PiecewisePower([0.01, 0.5], [0.1, 1.0]), 0.005, 0.1),
        (PiecewisePower([0.01, 0.5], [0.1, 1.0]), 0.01, 0.1),
        (PiecewisePower([0.01, 0.5], [0.1, 1.0]), math.sqrt(0.005), math.sqrt(0.1)),
        (PiecewisePower([0.01, 0.5], [0.1, 1.0]), 0.5, 1.0),
        (PiecewisePower([0.01, 0.5], [0.1, 1.0]), 1.0, 1.0),
        (PiecewisePower([0.25, 1.0], [0.5, 1.0]), 0.49, 0.7),
        (PiecewisePower([0.2, 0.4, 0.5, 1.0], [0.1, 0.4, 0.4, 3.2]), 0.3, 0.225),
        (PiecewisePower([0.2, 0.4, 0.5, 1.0], [0.1, 0.4, 0.4, 3.2]), 0.45, 0.4),
        (PiecewisePower([0.2, 0.4, 0.5, 1.0], [0.1, 0.4, 0.4, 3.2]), 0.75, 1.35),
        (PiecewisePower([0.3], [2.0]), 0.1, 2.0),
        (PiecewisePower([0.3], [2.0]), 0.9, 2.0),
        (Custom(kinked, 2.0), 0.25, 0.25),
        (Custom(kinked, 2.0), 1.0, 1.5),
        (Clipped(Power(2.0), low=0.1, high=0.5), 0.1, 0.1),
        (Clipped(Power(2.0), low=0.1, high=0.5), 0.5, 0.25),
        (Clipped(Power(2.0), low=0.1, high=0.5), 0.9, 0.5),
        (Clipped(Power(2.0), low=0.1), 1.0, 1.0),
        (Clipped(Power(2.0), high=0.5), 0.0, 0.0),
        (Clipped(Custom(kinked, 2.0), high=1.0), 0.9, 1.0),
        (Clipped(Constant(0.3), low=0.4), 0.9, 0.4),
    ],
)
def test_has_the_value_worked_out_by_hand(model: Bias, share: float, expected: float) -> None:
    assert model.weight(share) == pytest.approx(expected, rel=1e-14, abs=0.0)


# Codes of formulas.


def codes_in_use() -> set[int]:
    """Codes of every built-in model, unclipped and clipped, but for users' own functions."""
    powers = (Power(alpha) for alpha in (1.0, 2.0, 3.0, 2.5))
    points = PiecewisePower([0.5], [1.0])
    plain = [Constant(), InGroupBonus(), Sigmoid(), Plateau(), Root(), points, *powers]
    assert {type(model) for model in plain} | {Clipped, Custom, Step} == set(BIASES.values())
    return {model.code for one in plain for model in (one, Clipped(one, low=0.1))}


def test_every_model_has_a_formula_and_every_formula_a_model() -> None:
    assert codes_in_use() == bias.KNOWN
    assert not {Custom(kinked, 2.0).code, Clipped(Custom(kinked, 2.0), low=0.1).code} & bias.KNOWN


def test_a_code_that_is_no_formula_has_no_weight() -> None:
    """It used to be taken for a plateau."""
    parameters = Plateau(4, 1.2).parameters
    for code in range(-1, 64):
        found = bias.weight(code, parameters, 0.5)
        assert math.isnan(found) == (code % bias.CLIPPED not in bias.FORMULAS)


@dataclass(frozen=True)
class Stray(Sigmoid):
    given: int = 0

    @property
    def code(self) -> int:
        return self.given


def test_a_model_without_a_formula_is_refused_before_it_runs() -> None:
    for code in (bias.CUSTOM, 7 + bias.CLIPPED, 2 * bias.CLIPPED, -1):
        for use in (
            lambda model: model.weight(0.5),
            lambda model: AffinityBandit([0.4, 0.6], bias=model, mechanism="gated"),
            lambda model: simulate(
                AffinityBandit([0.4, 0.6], bias=model, mechanism="shifted"), "ucb1", 10, 1
            ),
            lambda model: simulate(AffinityBandit([0.4, 0.6]), DebiasedUCBV(model, [1, 1]), 10, 1),
        ):
            with pytest.raises(NotSupported, match=f"code {code}, which is no formula"):
                use(Stray(code))


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_an_array_of_shares_gives_an_array_of_the_same_shape(model: Bias) -> None:
    grid = np.array([[0.0, 0.2, 0.4], [0.6, 0.8, 1.0]])
    bias = model.weight(grid)
    assert isinstance(bias, np.ndarray)
    assert bias.shape == grid.shape
    assert bias.ravel().tolist() == [model.weight(float(share)) for share in grid.ravel()]
    assert model.weight(np.empty(0)).shape == (0,)


@pytest.mark.parametrize(
    ("model", "steepest_at", "slope"),
    [
        (Power(1.0), 1.0, 1.0),
        (Power(2.5), 1.0, 2.5),
        (Sigmoid(), 0.0, 0.25),
        (InGroupBonus(3.0), 0.0, 0.75),
        # beta < K**-9 lets the bracket pass 1, and the slope pass 10.
        (Plateau(2, 1e-4), 1.0, 10.0 * (1.0 - 5e-5 + 2.0**-10) ** 9),
    ],
)
def test_the_constant_is_the_slope_where_the_model_is_steepest(
    model: Bias, steepest_at: float, slope: float
) -> None:
    step = 1e-6
    near = abs(steepest_at - step)
    quotient = abs(model.weight(steepest_at) - model.weight(near)) / step
    assert quotient == pytest.approx(slope, rel=1e-4)
    assert model.lipschitz == pytest.approx(slope, rel=1e-14)


def test_a_custom_function_may_be_as_steep_as_declared() -> None:
    assert Custom(lambda share: 3.0 * share, 3.0).lipschitz == 3.0
    assert Custom(lambda share: 1.0, 0.0).bounds == (1.0, 1.0)


@pytest.mark.slow
@given(models, shares, shares)
def test_keeps_the_rules_of_the_assumption(model: Bias, one: float, other: float) -> None:
    """Nonnegative, between its bounds, nondecreasing, and Lipschitz with the stated constant."""
    low, high = (model.weight(share) for share in sorted((one, other)))
    smallest, largest = model.bounds
    assert 0.0 <= smallest * (1.0 - ROUNDING) <= low <= high * (1.0 + ROUNDING)
    assert high <= largest * (1.0 + ROUNDING)
    assert high - low <= model.lipschitz * abs(one - other) + ROUNDING * (1.0 + largest)
