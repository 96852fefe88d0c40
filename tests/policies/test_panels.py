"""Eliminations for panels: one of the leader's own does not get the best dropped."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from affinity_bandits import (
    AffinityBandit,
    Joining,
    Judges,
    PanelElimination,
    Power,
)
from affinity_bandits.kernels.kernel import bind
from affinity_bandits.policies.contracts import RoundKernels
from affinity_bandits.policies.leading import stay
from tests.policies.test_judged import wrong

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


@dataclass(frozen=True)
class Unguarded(PanelElimination):
    """The policy, but it bets against whoever has fewer seats than the leader as well."""

    def kernels(self) -> RoundKernels:
        return super().kernels()._replace(absorb=bind(self.absorb, go_on=stay))


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_a_panel_of_the_leaders_own_does_not_get_the_best_dropped(world: AffinityBandit) -> None:
    assert wrong(PanelElimination, world) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_without_the_guard_it_does(world: AffinityBandit) -> None:
    """The control: what the test above would find, if the policy bet on."""
    assert wrong(Unguarded, world) > 2 * MOST
