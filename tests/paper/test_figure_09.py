"""Figure 9's claim holds in the paper's world and fails in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits.paper.figure_09 import ITEM, claims
from affinity_bandits.paper.gaps import run
from affinity_bandits.policies import ListedSchedule

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], replicates=20)


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


@pytest.mark.slow
def test_rounds_that_grow_too_slowly_scale_otherwise(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: m_r grows as 2^r instead of 4^r, so pulls scale as 1 / Delta."""
    slow = ListedSchedule([(10**7 * 2**r, 2.0**-r) for r in range(1, 12)])
    (claim,) = claims(run(replace(SMALL, schedule=slow), runner_in(tmp_path)))
    assert not claim.holds


def test_a_horizon_that_ends_too_soon_flattens_the_scaling(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: small gaps stay undecided, where T_1(n) = n/2."""
    (claim,) = claims(run(replace(SMALL, exponents=(4.5, 6.5), horizon=10**6), runner_in(tmp_path)))
    assert not claim.holds
