"""Figure 7's claims hold in the paper's world and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.figure_07 import ITEM, claims
from affinity_bandits.paper.rivals import run

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], rival_gaps=(16_000,))


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


@pytest.mark.slow
def test_without_bias_no_regret_is_linear(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1, in which all three leave arm 1 behind."""
    wrong = replace(SMALL, bias=Constant(), horizon=300_000)
    *rivals, ours = claims(run(wrong, runner_in(tmp_path)))
    assert ours.holds
    assert not any(claim.holds for claim in rivals)


def test_a_horizon_too_short_leaves_algorithm_1_undecided(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The other planted wrong world: n ends inside the rounds, and T_1(n) = n/2 is linear."""
    wrong = replace(SMALL, horizon=50_000)
    ours = claims(run(wrong, runner_in(tmp_path)))[-1]
    assert not ours.holds
