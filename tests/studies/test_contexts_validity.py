"""Passes in random order with half counts keep their word, and planted errors do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from scipy.stats import binom

from affinity_bandits import Constant, HandicapElimination
from affinity_bandits.policies.bets import BettingState
from affinity_bandits.studies.contexts_model import TypedBandit, simulate_types
from affinity_bandits.studies.contexts_policies import HalfCountHandicap, sigma_of_passes

from .contexts_attacks import Attack, dropped, searched, step

BOLD = 0.5
LEVEL = 0.1
PLANTED = 300


def likely(count: int, runs: int, level: float) -> bool:
    """Whether so many failures have a probability above 1e-6 at the level."""
    return bool(binom.sf(count - 1, runs, level) > 1e-6)


@pytest.mark.slow
def test_no_order_of_types_makes_it_fail_more_often_than_its_level() -> None:
    """200 instances, ranked at a bold level; 4,000 runs at .1 on the worst.

    Of 20 runs at .5, 20 failures have a probability of 1e-6, in one of 200 instances with up to 4
    groups one below .001. Of 4,000 at .1, 494 have one below 1e-6; a true rate of .13 has as many
    with probability .89.
    """
    found = searched(200, 20, 1, 4_000, BOLD, LEVEL)
    assert max(found.bold) >= 5  # else nothing was attacked
    assert all(likely(count, 20, BOLD) for count in found.bold)
    assert likely(found.worst[0], 4_000, LEVEL)


# Planted errors.

ONE_OF_EACH = Attack(
    TypedBandit([[1.0, 0.0], [1.0, 0.0]], Constant(), [1, 1], [0, 1], "by turn"), [0, 1], 600
)
"""Two groups that are alike, and an arrival of each type in every pass."""

FIRST_TURN = Attack(
    TypedBandit([[0.0, 1.0], [0.9, 0.0]], step(0.5, 0.001), [1, 1], [0, 1], "by turn"), [0], 600
)
"""Equal groups have half of the committee in the first turn and less in the second. The first
group is the better one on average, and good for the type of the second turn."""


@dataclass(frozen=True)
class NoHandicap(HalfCountHandicap):
    """Takes equal numbers of members for enough."""

    name: ClassVar[str] = "no-handicap"

    def _bets(self, arms: int, horizon: int) -> BettingState:
        return super()._bets(arms, horizon)._replace(order=-1)


@pytest.mark.slow
def test_bets_on_whole_scores_are_seen_to_fail() -> None:
    """At .05, where 40 of 300 have a probability of 2e-8; the true rate is about .2."""
    assert not likely(dropped(ONE_OF_EACH, HandicapElimination, 0.05, PLANTED, 1), PLANTED, 0.05)
    assert likely(dropped(ONE_OF_EACH, HalfCountHandicap, 0.05, PLANTED, 1), PLANTED, 0.05)


@pytest.mark.slow
def test_a_fixed_order_is_seen_to_fail() -> None:
    fixed = dropped(ONE_OF_EACH, HalfCountHandicap, 0.05, PLANTED, 1, shuffles=False)
    assert fixed > 0.9 * PLANTED


@pytest.mark.slow
def test_equal_numbers_of_members_are_seen_to_fail() -> None:
    assert dropped(FIRST_TURN, NoHandicap, 0.05, PLANTED, 1) > 0.9 * PLANTED
    assert likely(dropped(FIRST_TURN, HalfCountHandicap, 0.05, PLANTED, 1), PLANTED, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "holds"), [(0.2, False), (sigma_of_passes(0.2, 1.0), True)])
def test_a_sigma_must_cover_what_differs_between_orders(sigma: float, *, holds: bool) -> None:
    """Gaussian scores: the sigma of a single score's noise is too small by far."""
    bandit = TypedBandit([[1.0, 0.0], [1.0, 0.0]], Constant(), [1, 1], [0, 1], "by turn", 0.2)
    policy = HandicapElimination(sigma=sigma, failure=0.05, initial_pulls=[1, 1])
    runs: Any = simulate_types(bandit, policy, 600, PLANTED, seed=1)
    lost = int((runs.kept == 0).sum(axis=0).max())
    assert likely(lost, PLANTED, 0.05) == holds


@pytest.mark.slow
def test_types_that_are_drawn_need_no_half_counts() -> None:
    """Theorem 10: scores of a pass are independent, and the policy is as it is for one type.

    Of 1,000 runs at .1, 149 have a probability below 1e-6; a rate of .16 has as many with .84.
    """
    bandit = TypedBandit([[1.0, 0.0], [0.0, 1.0]], Constant(), [1, 1], [0.5, 0.5])
    lost = dropped(Attack(bandit, [0, 1], 600), HandicapElimination, LEVEL, 1_000, 1)
    assert likely(lost, 1_000, LEVEL)
    assert lost > 10  # else nothing was attacked
