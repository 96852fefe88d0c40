"""One of each bias, and any of them, for the tests of this folder."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from affinity_bandits import (
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
)
from affinity_bandits.model.bias import Bias
from tests.support.instances import piecewise_powers


def square_root_of_shifted(share: float) -> float:
    return math.sqrt(share + 0.25)


def kinked(share: float) -> float:
    return share if share < 0.5 else 2.0 * share - 0.5


ONE_OF_EACH = [
    Constant(0.7),
    Power(1.5),
    Root(0.5),
    Sigmoid(),
    Step(0.3, 0.4, 0.9),
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
