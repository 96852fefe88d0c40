"""The claims about UCB's linear regret hold in the theorem's world and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import Constant
from affinity_bandits.paper.figure_05 import ITEM, claims, run

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], horizon=20_000, horizons=3)


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


@pytest.mark.parametrize("change", [{"initial": (10, 10)}, {"bias": Constant()}])
def test_where_the_worse_arm_is_not_favoured_regret_is_not_that_high(tmp_path, change) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong worlds: a balanced start, and no bias."""
    regret, share, *_ = claims(run(replace(SMALL, replicates=100, **change), runner_in(tmp_path)))
    assert not regret.holds
    assert not share.holds


def test_the_digits_of_the_statement_do_not_meet_the_first_condition(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The lemma's statement has 16126 where its proof has 16216."""
    printed = replace(SMALL, replicates=2, frozen=16126, initial=(10, round(16126**1.5)))
    assert not claims(run(printed, runner_in(tmp_path)))[3].holds
