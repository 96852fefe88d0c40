"""No bet against the best group is favorable: exactly, over all outcomes of a round to come."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from affinity_bandits.kernels.kernel import Function, bind
from affinity_bandits.policies import HeadStartElimination, wealth
from affinity_bandits.policies.betting import NODES
from affinity_bandits.policies.state import copy_state
from affinity_bandits.policies.wealth import (
    BettingState,
    bet_on_leader,
    is_tried,
    log_worth,
    return_to_prior,
    take_in,
)

SCORES = (0.0, 0.5, 1.0)
PLACES = [NODES.index(score) for score in SCORES]
EXACT = 1e-9
"""More than rounding makes of a round, far less than what the planted errors do."""


def outcomes(arms: int, means: list[float]) -> Iterator[tuple[float, np.ndarray]]:
    """Return every outcome of a pass with its probability; scores of 0, 1/2 and 1."""
    for scores in itertools.product(range(3), repeat=arms):
        seen = np.zeros((arms, len(NODES)))
        chance = 1.0
        for arm, score in enumerate(scores):
            seen[arm, PLACES[score]] = 1.0
            # A law on three levels with the mean asked for, half of it on 0 and 1.
            mean = means[arm]
            middle = min(mean, 1.0 - mean)
            chance *= (1.0 - mean - middle / 2, middle, mean - middle / 2)[score]
        yield chance, seen.ravel()


def growth(absorb: Function, policy: HeadStartElimination, *, arms: int, seed: int) -> float:
    """Return the largest factor by which a wealth is expected to grow in a pass of a random run.

    The group whose wealth it is has the largest mean of all, as large as the leader's or larger.
    """
    drawn = np.random.default_rng(seed)
    state = policy.start(arms, 10**6)
    largest = 0.0
    for _ in range(120):
        planned = policy.plan(state)
        times, size = int(planned.repetitions), len(planned.arms)
        leader = int(state.leader[0])
        if leader >= 0 and state.moving[0] == 0 and times == 1 and size == arms:
            for arm in set(range(arms)) - {leader}:
                best = drawn.uniform(0.02, 0.98)
                means = [drawn.uniform(0.0, best) for _ in range(arms)]
                means[arm], means[leader] = best, drawn.choice([best, means[leader]])
                expected = 0.0
                for chance, seen in outcomes(arms, means):
                    after = copy_state(state)
                    absorb(after, seen)
                    expected += chance * math.exp(log_worth(after, arm) - log_worth(state, arm))
                largest = max(largest, expected)
        scores = np.zeros((size, len(NODES)))
        scores[:, PLACES] = drawn.multinomial(times, (0.3, 0.3, 0.4), size)
        policy.absorb(state, scores.ravel())
    assert largest > 0.0
    return largest


POLICIES = [
    HeadStartElimination(initial_pulls=[5] * 3, bounded=True, failure=1e-9),
    HeadStartElimination(initial_lead=3, bounded=True, failure=1e-9, target=300),
    HeadStartElimination(initial_lead=3, bounded=True),
]


@pytest.mark.nightly_but("[0-")
@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=["known", "aimed", "horizon"])
@pytest.mark.parametrize("seed", range(4))
def test_no_wealth_of_the_best_is_expected_to_grow(policy: HeadStartElimination, seed: int) -> None:
    assert growth(policy.absorb, policy, arms=3, seed=seed) <= 1.0 + EXACT


def looking_ahead(state: BettingState, seen: np.ndarray) -> None:
    """Take the round in before the bets are settled, so that the centre knows it."""
    passes = 1
    centre = copy_state(state)
    take_in(centre, passes, seen)
    told = state._replace(sums=centre.sums, squares=centre.squares, recent=centre.recent)
    bet_on_leader(told, passes, seen)


def two_sided(state: BettingState, seen: np.ndarray) -> None:
    """Bet on whoever won the pass."""
    arms = seen.reshape(len(state.pulls), -1) @ np.array(NODES)
    told = state._replace(leader=np.array([np.argmax(arms)]))
    bet_on_leader(told, 1, seen)


@pytest.mark.slow
@pytest.mark.parametrize("planted", [looking_ahead, two_sided])
def test_bets_that_know_what_they_must_not_are_seen_to_grow(planted: Function) -> None:
    assert max(growth(planted, POLICIES[0], arms=3, seed=seed) for seed in range(4)) > 1.0 + 1e-4


def test_a_stake_without_a_cap_is_seen_to_lose_everything_and_more() -> None:
    """Without the cap a factor can be negative, and a wealth has no logarithm then."""
    policy = HeadStartElimination(initial_pulls=[5] * 3, bounded=True, failure=1e-9)
    uncapped = bind(
        HeadStartElimination.absorb,
        bet_on_leader=bind(
            wealth.bet_on_leader, bet_against=bind(wealth.bet_against, SAFE_STAKE=3.0)
        ),
    )
    with pytest.raises(ValueError, match=r"math domain error|expected a"):
        growth(uncapped, policy, arms=3, seed=0)


def spread_somewhere(drawn: np.random.Generator, spread: Function) -> tuple[float, int]:
    """Spread the wealth of a random state; return what that adds to its logarithm, and how many
    stakes had been tried."""
    failure = 0.05 if drawn.random() < 0.2 else None
    target = 10**6 if failure and drawn.random() < 0.5 else None
    policy = HeadStartElimination(initial_lead=10, sigma=2.0, failure=failure, target=target)
    state = policy.start(2, 10**12)
    state.passes[0] = int(10.0 ** drawn.uniform(0.0, 11.5))
    state.leader[0] = drawn.integers(2)
    lost = drawn.choice([0.0, 5.0, 700.0])
    state.log_wealth[:] += drawn.uniform(-lost, 20.0, len(state.log_wealth))
    before = copy_state(state)
    spread(state, 0, drawn.choice([0.02, 1.0]))
    tried = [k for k in range(len(state.stakes)) if is_tried(state, k, 4.0)]
    assert policy.failure is None or not tried
    assert (state.log_wealth[tried] == before.log_wealth[tried]).all()
    assert (state.log_wealth[len(state.stakes) :] == before.log_wealth[len(state.stakes) :]).all()
    return log_worth(state, 0) - log_worth(before, 0), len(tried)


def test_spreading_wealth_makes_none_and_loses_none() -> None:
    drawn = np.random.default_rng(1)
    found = [spread_somewhere(drawn, return_to_prior) for _ in range(2_000)]
    assert max(abs(change) for change, _ in found) < EXACT
    # From none to all but cash and the smallest.
    assert {0, 5, 30} <= {tried for _, tried in found}


def test_wealth_that_is_given_and_kept_is_seen() -> None:
    """Planted: what is on stakes that were tried is spread over the others, and stays there."""

    def given_twice(state: BettingState, arm: int, part: float) -> None:
        everything = log_worth(state, arm)
        bind(return_to_prior, log_worth=lambda *_: everything)(state, arm, part)

    drawn = np.random.default_rng(1)
    assert max(spread_somewhere(drawn, given_twice)[0] for _ in range(200)) > 0.1
