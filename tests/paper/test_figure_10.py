"""Figure 10's claims hold in the paper's world and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.figure_10 import ITEM, claims, run

from .cell_runner import runner_in

SMALL = replace(
    ITEM.settings["quick"], alphas=(1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5), replicates=100
)


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


def test_every_failure_is_undecided(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """What the notes say, and why the two kinds are counted apart."""
    data = run(replace(SMALL, horizons=(10**6,)), runner_in(tmp_path))
    assert sum(data["undecided"]) > 0
    assert sum(data["deceived"]) == 0


def test_without_bias_nothing_fails_and_nothing_moves(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: f = 1 whatever alpha is."""
    wrong = replace(SMALL, bias=lambda alpha: Constant())
    fails, succeeds, *moves = claims(run(wrong, runner_in(tmp_path)))
    assert succeeds.holds
    assert not any(claim.holds for claim in (fails, *moves))


def test_horizons_that_end_in_the_same_round_have_the_same_failure_point(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: longer horizons that buy no further round."""
    wrong = replace(SMALL, horizons=(10**6, 10**6 + 1000))
    fails, succeeds, moves = claims(run(wrong, runner_in(tmp_path)))
    assert fails.holds
    assert succeeds.holds
    assert not moves.holds
