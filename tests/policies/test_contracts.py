"""Tallies of scores: counts and mean are those of the scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Ordinal,
    Power,
    simulate,
)
from affinity_bandits.policies import (
    HeadStartElimination,
)
from affinity_bandits.policies.contracts import add_score


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50),
    st.lists(st.floats(0.01, 0.99), min_size=0, max_size=15, unique=True),
)
def test_counts_and_mean_are_those_of_the_scores(scores: list[float], inner: list[float]) -> None:
    nodes = np.array(sorted({0.0, 1.0, *inner}))
    seen = np.zeros(len(nodes))
    for score in scores:
        add_score(nodes, score, seen, 0)
    assert seen.min() >= 0.0
    assert seen.sum() == pytest.approx(len(scores))
    assert seen @ nodes == pytest.approx(sum(scores), abs=1e-9)


@pytest.mark.parametrize("levels", [2, 3, 5, 9, 17])
def test_a_score_that_is_a_node_is_counted_there_alone(levels: int) -> None:
    nodes = np.array(HeadStartElimination(1, bounded=True).nodes)
    for score in np.linspace(0.0, 1.0, levels):
        seen = np.zeros(17)
        add_score(nodes, float(score), seen, 0)
        assert seen[nodes == score].tolist() == [1.0]


def test_what_lies_beyond_an_end_counts_as_that_end() -> None:
    nodes, seen = np.array([0.0, 0.5, 1.0]), np.zeros(6)
    add_score(nodes, -3.0, seen, 3)
    add_score(nodes, 1.5, seen, 3)
    assert seen.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]


def test_rounds_that_cannot_be_counted_are_played_by_steps_and_it_is_said() -> None:
    policy = HeadStartElimination(5, bounded=True, failure=0.05)
    for noise, engine in (("bernoulli", "rounds"), (Ordinal(5), "rounds"), ("gaussian", "steps")):
        bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), noise=noise)
        (run,) = simulate(bandit, policy, 200, 2, progress=False).runs
        assert run.engine == engine
