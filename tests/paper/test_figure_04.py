"""Figure 4's claims hold in the paper's world and fail in a wrong one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.figure_04 import ITEM, claims, run

from .cell_runner import runner_in

SMALL = ITEM.settings["as-published"]


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


@pytest.mark.slow
def test_without_bias_every_claim_fails(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1, in which there is nothing to debias.

    UCB-V's pulls then do grow as a + b log t, which a comparison with log t alone would miss.
    """
    wrong = replace(SMALL, bias=Constant())
    assert not any(claim.holds for claim in claims(run(wrong, runner_in(tmp_path))))
