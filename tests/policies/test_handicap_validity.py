"""Elimination with a handicap keeps its word where that is hardest, and cannot be told nonsense."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    HandicapElimination,
    InGroupBonus,
    Ordinal,
    Power,
    simulate,
)
from affinity_bandits.bias import Bias, PiecewisePower
from affinity_bandits.errors import InvalidInput

RUNS = 2_000
HORIZON = 10_000
STEP_AT_HALF = PiecewisePower([0.4999, 0.5001, 1.0], [0.5, 1.0, 1.0])
"""All but a step, at the share that two groups have when they take turns."""
STEP_AT_THIRD = PiecewisePower([0.3332, 0.3335, 1.0], [0.3, 1.0, 1.0])


def dropped(
    bandit: AffinityBandit, policy: HandicapElimination, *, runs: int = RUNS, seed: int = 3
) -> int:
    """Return in how many runs the first group was dropped."""
    result = simulate(bandit, policy, HORIZON, runs, seed, checkpoints=1, progress=False)
    return int((~result.candidates[0, :, 0].astype(bool)).sum())


TIES: list[tuple[Bias, list[int], object, float, str, float]] = [
    (Power(1.0), [60, 40], "bernoulli", 0.5, "pulls", 0.05),
    (STEP_AT_HALF, [40, 60], "bernoulli", 0.6, "bound", 0.2),
    (STEP_AT_HALF, [40, 60], Ordinal(5), 0.6, "pulls", 0.2),
    (Clipped(Power(1.0), low=0.2, high=0.45), [5, 80, 5], "bernoulli", 0.3, "interval", 0.2),
    (STEP_AT_THIRD, [80, 10, 10], Ordinal(5), 0.6, "pulls", 0.05),
    (InGroupBonus(1.0), [80, 10, 10], "bernoulli", 0.05, "bound", 0.05),
]
"""Bias, initial pulls, noise, true mean, what the policy is told of the pulls, failure."""


@pytest.mark.nightly_but("[0]", "[3]")
@pytest.mark.slow
@pytest.mark.parametrize("tie", range(len(TIES)))
def test_of_equal_groups_none_is_dropped_more_often_than_allowed(tie: int) -> None:
    """All groups are best, so each may be dropped with probability at most `failure`.

    6 cells, of which each fails if so many drops have a probability below 1e-6 at the level: all
    of them pass by chance alone with a probability above 0.9999. Power: of 2,000 runs at .05, a
    true rate of .08 fails with a probability above .7, one of .09 with .98.
    """
    bias, pulls, noise, mean, told, failure = TIES[tie]
    bandit = AffinityBandit([mean] * len(pulls), bias=bias, initial_pulls=pulls, noise=noise)  # type: ignore[arg-type]
    policy = {
        "pulls": HandicapElimination(initial_pulls=pulls, bounded=True, failure=failure),
        "interval": HandicapElimination(
            initial_pulls=[[pull - 2, pull + 3] for pull in pulls], bounded=True, failure=failure
        ),
        "bound": HandicapElimination(max(pulls) - min(pulls), bounded=True, failure=failure),
    }[told]
    assert binom.sf(dropped(bandit, policy) - 1, RUNS, failure) > 1e-6


@pytest.mark.slow
def test_a_head_start_that_is_told_too_small_is_seen_to_fail() -> None:
    """The negative control: the committee is not what the policy was told."""
    bandit = AffinityBandit([0.5, 0.5], bias=STEP_AT_HALF, initial_pulls=[40, 60])
    right = HandicapElimination(initial_pulls=[40, 60], bounded=True, failure=0.05)
    wrong = HandicapElimination(initial_pulls=[40, 40], bounded=True, failure=0.05)
    assert dropped(bandit, right) <= 0.05 * RUNS
    assert dropped(bandit, wrong) > 0.5 * RUNS


@pytest.mark.slow
def test_one_member_short_is_seen_to_fail() -> None:
    """With a step at the equal share one member decides: as many as the leader are too few."""
    bandit = AffinityBandit([0.5, 0.5], bias=STEP_AT_HALF, initial_pulls=[42, 40])
    short = HandicapElimination(initial_pulls=[44, 40], bounded=True, failure=0.05)
    assert dropped(bandit, short) > 0.2 * RUNS


@pytest.mark.slow
def test_a_leader_that_is_chosen_afterwards_is_seen_to_fail() -> None:
    """The other negative control: bets whose side is chosen after the scores are known."""
    policy = HandicapElimination(initial_pulls=[50, 50], bounded=True, failure=0.05)
    bandit = AffinityBandit([0.5, 0.5], bias=Power(1.0), initial_pulls=[50, 50])
    assert dropped(bandit, policy) <= 0.08 * RUNS
    assert looking_ahead(policy, runs=200) > 0.5


def looking_ahead(policy: HandicapElimination, runs: int) -> float:
    """Return how often a group as good as the other is dropped if bets are on who won a round."""
    drawn = np.random.default_rng(4)
    failures = 0
    for _ in range(runs):
        state = policy.start(2, HORIZON)
        policy.absorb(state, scores(drawn, 4))
        for _ in range(400):
            planned = policy.plan(state)
            seen = scores(drawn, int(planned.repetitions), len(planned.arms))
            if len(planned.arms) == 2:
                ones = seen.reshape(2, -1)[:, -1]
                state.leader[0] = int(np.argmax(ones))  # known only afterwards
            policy.absorb(state, seen)
            if state.left[0] == 1:
                failures += 1
                break
    return failures / runs


def scores(drawn: np.random.Generator, passes: int, arms: int = 2) -> np.ndarray:
    """Return tallies of fair coins."""
    seen = np.zeros((arms, 17))
    seen[:, -1] = drawn.binomial(passes, 0.5, arms)
    seen[:, 0] = passes - seen[:, -1]
    return seen.ravel()


@pytest.mark.slow
def test_without_a_failure_probability_mistakes_cost_no_more_than_what_was_spent() -> None:
    """E[n / passes before a mistake] is at most 1; with equal groups it is as large as it gets.

    The threshold is never below 1,000, so at most 2 of 2,000 runs fail on average; 12 or more
    have a probability below 1e-5.
    """
    bandit = AffinityBandit([0.5, 0.5], bias=STEP_AT_HALF, initial_pulls=[40, 60])
    policy = HandicapElimination(initial_pulls=[40, 60], bounded=True)
    assert dropped(bandit, policy) < 12


def test_shares_are_in_order_whenever_all_take_turns() -> None:
    """Every group that is bet against has more members than the leader, in every such round."""
    pulls = [70, 10, 30, 10]
    policy = HandicapElimination(initial_pulls=pulls, bounded=True, failure=1e-9, in_flight=6)
    state = policy.start(4, 10**6)
    drawn = np.random.default_rng(1)
    members = np.array(pulls)
    rounds = 0
    while rounds < 200:
        planned = policy.plan(state)
        arms, times = planned.arms.copy(), int(planned.repetitions)
        leader = int(state.leader[0])
        if len(arms) == 4 and leader >= 0:
            rounds += 1
            others = np.delete(members, leader)
            assert others.min() == members[leader] + 6 // 2 + 1  # and no more than it takes
        members[arms] += times
        policy.absorb(state, scores(drawn, times, len(arms)))
    assert int(state.leader[0]) >= 0


@pytest.mark.slow
def test_an_expected_difference_that_is_right_saves_choices() -> None:
    """Means of 4,000 runs differ by about 5%, their standard error is about 1% each."""
    bandit = AffinityBandit([0.6, 0.4], bias=InGroupBonus(0.1), initial_pulls=[50, 50])

    def mean_pulls(expected: float | None) -> float:
        policy = HandicapElimination(
            initial_pulls=[50, 50], bounded=True, failure=0.05, expected_difference=expected
        )
        result = simulate(bandit, policy, HORIZON, 4_000, 5, checkpoints=1, progress=False)
        return float(result.pulls[0, :, -1, 1].mean())

    assert mean_pulls(0.2) < mean_pulls(None)


def test_its_description_can_be_read_back() -> None:
    policy = HandicapElimination(initial_pulls=[[3, 5], 7], bounded=True, failure=0.1)
    assert policy.to_json()["initial_pulls"] == [[3, 5], 7]
    assert HandicapElimination.from_json(policy.to_json()) == policy


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"head_start": 3, "initial_pulls": [1, 2]}, "initial_pulls must be left out"),
        ({"initial_pulls": [1, [2, 3, 4]]}, r"pairs \[fewest, most\]"),
        ({"initial_pulls": [[5, 4]]}, "initial_pulls"),
        ({"initial_pulls": 5}, "initial_pulls must be a list"),
        ({"levels": 1}, "levels"),
        ({"expected_difference": 0.0}, "expected_difference"),
        ({"failure": math.nan}, "failure"),
    ],
)
def test_nonsense_is_refused_by_name(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        HandicapElimination(**settings)  # type: ignore[arg-type]


def test_pulls_of_another_number_of_groups_are_refused() -> None:
    with pytest.raises(InvalidInput, match="initial_pulls must be a list as long as"):
        HandicapElimination(initial_pulls=[1, 2]).start(3, 100)
