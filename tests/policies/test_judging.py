"""Policies that must know who judges are told, also where they are wrapped."""

from __future__ import annotations

import pytest

from affinity_bandits import (
    AffinityBandit,
    InGroupBonus,
    Judges,
    Live,
    simulate,
)
from affinity_bandits.policies import (
    AsSteps,
    PanelElimination,
)


@pytest.mark.slow
def test_a_wrapped_policy_is_told_who_judges() -> None:
    """It bets against groups with as many seats as the leader, which it cannot do untold."""
    bandit = AffinityBandit(
        [0.55, 0.45],
        bias=InGroupBonus(4.0),
        initial_pulls=[1, 200],
        judges=Judges("panel", seats=40, seating="in proportion"),
    )
    policy = PanelElimination(bounded=True, failure=0.05)
    for engine in ("steps", "python"):
        runs = {
            "plain": simulate(bandit, policy, 3_000, 4, engine=engine, progress=False),
            "wrapped": simulate(bandit, AsSteps(policy), 3_000, 4, engine=engine, progress=False),
        }
        assert runs["wrapped"].pulls.tolist() == runs["plain"].pulls.tolist()
        assert runs["wrapped"].candidates.sum() == 8
    live = Live(AsSteps(policy), 2, 100)
    assert live.awaits_judges
