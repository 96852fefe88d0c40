"""Figure 8's claims hold in the paper's world and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits import Constant, Power
from affinity_bandits.paper.figure_08 import ITEM, claims, never_rises
from affinity_bandits.paper.gaps import run

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], replicates=20)


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


@pytest.mark.slow
@pytest.mark.parametrize("bias", [Constant(), Power(1.3)])
def test_with_another_bias_the_steps_are_elsewhere(tmp_path, bias) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong worlds: observed gaps of Delta, and of Delta / K^1.3."""
    _, fewer, steps, plateaus = claims(run(replace(SMALL, bias=bias), runner_in(tmp_path)))
    assert fewer.holds
    assert not steps.holds
    assert not plateaus.holds


def test_a_horizon_that_ends_too_soon_hides_the_fall(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: no run is decided, so T_1(n) = n/2 at every gap."""
    wrong = replace(SMALL, exponents=(4.5, 6.5), horizon=10_000)
    _, fewer, steps, plateaus = claims(run(wrong, runner_in(tmp_path)))
    assert not fewer.holds
    assert not steps.holds
    assert not plateaus.holds


def test_a_rise_is_found_and_chance_is_not_taken_for_one() -> None:
    noise = np.random.default_rng(1).normal(size=(40, 50))
    fall = np.linspace(0.0, 5.0, 40)[:, None]  # gaps descend, so pulls ascend
    assert never_rises(fall + noise).holds
    risen = fall + noise
    risen[20] += 5.0
    assert not never_rises(risen).holds
