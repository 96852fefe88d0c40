"""Bias models: values worked out by hand, the rules of the assumption, clips, JSON."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Constant,
    Custom,
    InGroupBonus,
    PiecewisePower,
    Plateau,
    Power,
    Sigmoid,
    simulate,
)
from affinity_bandits.bias import BIASES, Bias, bias_from_json, weights
from affinity_bandits.errors import NotSupported
from affinity_bandits.policies import DebiasedUCBV
from tests.support.instances import piecewise_powers

ROUNDING = 1e-14
"""Relative error of a few operations; pow and exp are not exactly monotone in floating point."""


def square_root_of_shifted(share: float) -> float:
    return math.sqrt(share + 0.25)


def kinked(share: float) -> float:
    return share if share < 0.5 else 2.0 * share - 0.5


ONE_OF_EACH = [
    Constant(0.7),
    Power(1.5),
    Sigmoid(),
    InGroupBonus(0.5),
    Plateau(4, 1.2),
    PiecewisePower([0.01, 0.1, 0.5], [0.1, 0.1, 1.0]),
    Custom(kinked, 2.0, "kinked"),
    Clipped(Power(2.0), low=0.1, high=0.9),
]

shares = st.floats(0.0, 1.0)
levels = st.floats(0.0, 1.5)

plateaus = st.integers(2, 40).flatmap(
    lambda arms: st.floats(1e-15, float(arms)).map(lambda beta: Plateau(arms, beta))
)
unclipped: st.SearchStrategy[Bias] = st.one_of(
    st.floats(0.0, 1e6).map(Constant),
    st.sampled_from([1.0, 2.0, 3.0]).map(Power),
    st.floats(1.0, 60.0).map(Power),
    st.just(Sigmoid()),
    st.floats(0.0, 100.0).map(InGroupBonus),
    plateaus,
    piecewise_powers(largest=1.5, steepest=40.0),
    st.sampled_from([Custom(kinked, 2.0), Custom(square_root_of_shifted, 1.0)]),
)


def clipped(base: st.SearchStrategy[Bias]) -> st.SearchStrategy[Bias]:
    both = st.tuples(levels, levels).map(sorted)
    ends = st.one_of(
        both,
        levels.map(lambda level: [level, None]),
        levels.map(lambda level: [None, level]),
    )
    return st.builds(lambda model, pair: Clipped(model, pair[0], pair[1]), base, ends)


models = st.recursive(unclipped, clipped, max_leaves=3)


def through_json(model: Bias, **functions: Any) -> Bias:
    return bias_from_json(json.loads(json.dumps(model.to_json(), allow_nan=False)), functions)


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
        (Sigmoid(), 0.0, 0.5),
        (Sigmoid(), 1.0, math.e / (math.e + 1.0)),
        (Sigmoid(), math.log(2.0), 2.0 / 3.0),
        # A quarter more from one's own group: 4/5 from strangers alone, 1 from one's own alone.
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
    plain = [Constant(), InGroupBonus(), Sigmoid(), Plateau(), points, *powers]
    assert {type(model) for model in plain} | {Clipped, Custom} == set(BIASES.values())
    return {model.code for one in plain for model in (one, Clipped(one, low=0.1))}


def test_every_model_has_a_formula_and_every_formula_a_model() -> None:
    assert codes_in_use() == weights.KNOWN
    assert (
        not {Custom(kinked, 2.0).code, Clipped(Custom(kinked, 2.0), low=0.1).code} & weights.KNOWN
    )


def test_a_code_that_is_no_formula_has_no_weight() -> None:
    """It used to be taken for a plateau."""
    parameters = Plateau(4, 1.2).parameters
    for code in range(-1, 64):
        found = weights.weight(code, parameters, 0.5)
        assert math.isnan(found) == (code % weights.CLIPPED not in weights.FORMULAS)


@dataclass(frozen=True)
class Stray(Sigmoid):
    given: int = 0

    @property
    def code(self) -> int:
        return self.given


def test_a_model_without_a_formula_is_refused_before_it_runs() -> None:
    for code in (weights.CUSTOM, 7 + weights.CLIPPED, 2 * weights.CLIPPED, -1):
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
    weights = model.weight(grid)
    assert isinstance(weights, np.ndarray)
    assert weights.shape == grid.shape
    assert weights.ravel().tolist() == [model.weight(float(share)) for share in grid.ravel()]
    assert model.weight(np.empty(0)).shape == (0,)


@pytest.mark.slow
@given(models, shares, shares)
def test_is_nondecreasing(model: Bias, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert model.weight(low) <= model.weight(high) * (1.0 + ROUNDING)


@pytest.mark.slow
@given(models, shares, shares)
def test_is_lipschitz_with_the_constant_it_states(model: Bias, one: float, other: float) -> None:
    rise = abs(model.weight(one) - model.weight(other))
    assert rise <= model.lipschitz * abs(one - other) + ROUNDING * (1.0 + model.bounds[1])


@pytest.mark.slow
@given(models, shares)
def test_stays_between_its_bounds_and_is_never_negative(model: Bias, share: float) -> None:
    low, high = model.bounds
    assert low >= 0.0
    assert low * (1.0 - ROUNDING) <= model.weight(share) <= high * (1.0 + ROUNDING)


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


def test_a_plateau_states_at_least_the_constant_of_the_paper() -> None:
    assert Plateau(10, 1.0).lipschitz == 10.0


def test_a_custom_function_may_be_as_steep_as_declared() -> None:
    assert Custom(lambda share: 3.0 * share, 3.0).lipschitz == 3.0
    assert Custom(lambda share: 1.0, 0.0).bounds == (1.0, 1.0)


# Breakpoints.


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


@pytest.mark.slow
@given(models)
def test_breakpoints_are_ascending_and_inside(model: Bias) -> None:
    points = model.breakpoints
    assert list(points) == sorted(set(points))
    assert all(0.0 < point < 1.0 for point in points)


@pytest.mark.slow
@given(clipped(clipped(st.just(Power(1.0)))))
def test_a_clipped_line_is_straight_between_breakpoints(line: Bias) -> None:
    for low, high in itertools.pairwise([0.0, *line.breakpoints, 1.0]):
        ends = 0.5 * (line.weight(low) + line.weight(high))
        assert line.weight(0.5 * (low + high)) == pytest.approx(ends, abs=1e-14)


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


@given(clipped(clipped(unclipped)), shares)
def test_a_clip_is_applied_to_what_its_base_gives(model: Bias, share: float) -> None:
    assert isinstance(model, Clipped)
    expected = model.base.weight(share)
    expected = expected if model.high is None else min(model.high, expected)
    expected = expected if model.low is None else max(model.low, expected)
    assert model.weight(share) == expected


# Descriptions.


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_survives_json(model: Bias) -> None:
    assert through_json(model, kinked=kinked) == model


@pytest.mark.slow
@given(st.recursive(unclipped.filter(lambda model: model.name != "custom"), clipped))
def test_any_settings_survive_json(model: Bias) -> None:
    assert through_json(model) == model


def test_a_clipped_function_of_the_user_survives_json_with_the_function_handed_in() -> None:
    model = Clipped(Custom(kinked, 2.0, "mine"), high=1.0)
    assert through_json(model, mine=kinked) == model


def test_settings_left_out_of_a_description_take_their_defaults() -> None:
    assert bias_from_json({"name": "power"}) == bias_from_json("power") == Power(1.0)
    assert bias_from_json({"name": "clipped", "base": {"name": "sigmoid"}, "low": 0.6}) == Clipped(
        Sigmoid(), low=0.6
    )


def test_models_compare_and_hash_by_value() -> None:
    assert Power(2) == Power(2.0)
    assert len({Power(2), Power(2.0), Clipped(Power(2), 0.1), Clipped(Power(2.0), 0.1)}) == 2
    assert Power(2.0) != Power(3.0)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Constant(), "1"),
        (Power(1.0), "x"),
        (Power(2.5), "x^2.5"),
        (Sigmoid(), "1/(1+e^-x)"),
        (Plateau(4, 1.0), "plateau to 0.25"),
        (PiecewisePower([0.3], [2.0]), "2"),
        (
            PiecewisePower([0.01, 0.1, 0.5], [0.1, 0.1, 1.0]),
            "from 0.1 to 1, at most as steep as x^1.43",
        ),
        (Custom(kinked, 2.0, "kinked"), "kinked"),
        (Clipped(Power(2.0), low=0.1, high=0.9), "max(0.1, min(0.9, x^2))"),
        (Clipped(Power(2.0), high=0.9), "min(0.9, x^2)"),
    ],
)
def test_reads_as_its_formula(model: Bias, text: str) -> None:
    assert str(model) == text
