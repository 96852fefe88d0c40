"""Nobody can learn from constant feedback; where the outcomes can be told apart, many do."""

from __future__ import annotations

from dataclasses import replace

from affinity_bandits.paper.partial_monitoring import ITEM, claims, run

SMALL = replace(ITEM.settings["quick"], replicates=1)
LAB = None
"""No cell is run."""


def test_claims_hold() -> None:
    assert all(claim.holds for claim in claims(run(SMALL, LAB)))


def test_with_open_gates_the_outcomes_can_be_told_apart() -> None:
    """The planted wrong world: the same losses, but they are seen."""
    wrong = replace(SMALL, outcomes=((0, 1, 1, 1), (1, 0, 1, 1)))
    simulated, feedback, losses, same, regret = claims(run(wrong, LAB))
    assert simulated.holds
    assert losses.holds
    assert not feedback.holds
    assert not same.holds
    assert not regret.holds
