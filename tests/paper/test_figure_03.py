"""Figure 3's claims hold in the paper's world and fail in a wrong one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.figure_03 import ITEM, claims, run

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], first=(10, 200))


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


@pytest.mark.slow
def test_without_bias_every_claim_fails(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1, in which all three policies find the better arm."""
    wrong = replace(SMALL, bias=Constant(), replicates=100)
    assert not any(claim.holds for claim in claims(run(wrong, runner_in(tmp_path))))
