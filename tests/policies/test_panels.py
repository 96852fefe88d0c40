"""A panel that favours whoever leads does not get the best group dropped; unguarded, it would.

In every world here the panel is seated in proportion to a committee on which a worse group has most
members. It therefore scores best, leads, and has the most seats: the worst panel there is for
telling it from the best group. Some of those chosen join, so that the leader's seats become more.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from affinity_bandits import AffinityBandit, HandicapElimination, Joining, Judges, Power, simulate
from affinity_bandits.kernels import bind
from affinity_bandits.policies.judged import JudgedState, absorb_from_panel
from affinity_bandits.policies.round import RoundKernels

RUNS = 2000
LEVEL = 0.05
MOST = 139
"""Of the runs: the level, 100, and four standard deviations of a count at the level, sqrt(2000 *
0.05 * 0.95) = 9.7. A policy that keeps to the level has more with probability below 1e-4."""
WORLDS = [
    AffinityBandit(
        means,
        bias=Power(steepness),
        initial_pulls=members,
        joining=Joining(part=0.1),
        judges=Judges("panel", seats=10, seating="in proportion"),
    )
    for means, steepness, members in [
        ([0.5, 0.6, 0.4], 2.0, [12, 4, 4]),
        ([0.9, 1.0, 0.9], 4.0, [10, 5, 9]),
        ([0.45, 0.5, 0.4], 1.0, [12, 8, 12]),
    ]
]


def no_order(state: JudgedState, arm: int) -> bool:
    return True


@dataclass(frozen=True)
class Unguarded(HandicapElimination):
    """The policy, but it bets against whoever has fewer seats than the leader as well."""

    def kernels(self) -> RoundKernels:
        unguarded = bind(absorb_from_panel, in_order=no_order)
        return super().kernels()._replace(absorb=unguarded)


def wrong(policy: type[HandicapElimination], world: AffinityBandit) -> int:
    """In how many runs the best group was dropped."""
    told = policy(bounded=True, failure=LEVEL, levels=2, judges="panel")
    result = simulate(world, told, 3000, RUNS, progress=False)
    return round(result.summary()[0].wrong_arm[0] * RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_a_panel_of_the_leaders_own_does_not_get_the_best_dropped(world: AffinityBandit) -> None:
    assert wrong(HandicapElimination, world) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_without_the_guard_it_does(world: AffinityBandit) -> None:
    """The control: what the test above would find, if the policy bet on."""
    assert wrong(Unguarded, world) > 2 * MOST
