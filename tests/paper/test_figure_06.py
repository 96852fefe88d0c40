"""Figure 6's claims hold in the paper's world and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.figure_06 import ITEM, claims
from affinity_bandits.paper.rivals import run

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], rival_gaps=(16_000,))


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


@pytest.mark.slow
def test_without_bias_the_rivals_succeed(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1, in which all three find the better arm."""
    wrong = replace(SMALL, bias=Constant(), horizon=300_000)
    ours, *rivals = claims(run(wrong, runner_in(tmp_path)))
    assert ours.holds
    assert not any(claim.holds for claim in rivals)


def test_a_gap_too_large_deceives_algorithm_1(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The other planted wrong world: initial pulls that outlast the first rounds."""
    wrong = replace(SMALL, gaps=(100_000,), rival_gaps=(100_000,), horizon=50_000)
    ours = claims(run(wrong, runner_in(tmp_path)))[0]
    assert not ours.holds
