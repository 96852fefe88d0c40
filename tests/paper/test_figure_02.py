"""Figure 2's claims hold in the paper's world and fail in a wrong one."""

from __future__ import annotations

from dataclasses import replace

from affinity_bandits import Constant
from affinity_bandits.paper.figure_02 import ITEM, claims, run

from .cell_runner import runner_in


def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(ITEM.settings["full"], runner_in(tmp_path))))


def test_without_bias_the_best_arm_stays_ahead(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1, in which fractions move and feedback does not."""
    wrong = replace(ITEM.settings["full"], bias=Constant())
    flipped, grows, shrink = claims(run(wrong, runner_in(tmp_path)))
    assert not flipped.holds
    assert grows.holds
    assert shrink.holds


def test_an_arm_far_behind_does_not_overtake(tmp_path) -> None:  # type: ignore[no-untyped-def]
    wrong = replace(ITEM.settings["full"], picked=5)
    assert not claims(run(wrong, runner_in(tmp_path)))[0].holds
