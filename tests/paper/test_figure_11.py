"""Figure 11's claims hold in the paper's world and fail in a wrong one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.figure_11 import ITEM, claims, run

from .cell_runner import runner_in

SMALL = replace(
    ITEM.settings["quick"],
    gaps=(1_000, 10_000, 22_000, 45_000, 100_000, 1_000_000),
    horizons=(10**6, 10**8, 10**15),
    replicates=100,
)


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


def test_without_bias_nothing_fails_and_nothing_moves(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1, in which initial pulls do not matter."""
    wrong = replace(SMALL, bias=Constant())
    fails, succeeds, *moves = claims(run(wrong, runner_in(tmp_path)))
    assert succeeds.holds
    assert not any(claim.holds for claim in (fails, *moves))
