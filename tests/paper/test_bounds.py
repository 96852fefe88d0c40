"""The claims on both bounds hold in the paper's world and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits.paper.bounds import ITEM, claims, run
from affinity_bandits.policies import Elimination, Oracle, PublishedSchedule

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], arms=(4, 8), imbalances=(0,), series=(), replicates=20)


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = run(SMALL, runner_in(tmp_path))
    assert all(claim.holds for claim in claims(data))
    assert all(data["condition"])


def test_the_grid_is_large_and_mostly_meets_the_condition() -> None:
    from affinity_bandits.theory import horizon_condition

    settings = ITEM.settings["quick"]
    met = [
        horizon_condition(instance.bandit(settings.biases), instance.horizon).holds
        for instance in settings.instances()
    ]
    assert len(met) == 320
    assert sum(met) > 250
    assert not all(met)


@pytest.mark.slow
def test_rounds_that_are_too_short_break_the_upper_bound(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: rounds a thousand times shorter, so that best arms are dropped."""
    wrong = replace(SMALL, policy=Elimination(PublishedSchedule(-5.0)), horizons=(10**15,))
    upper, *_ = claims(run(wrong, runner_in(tmp_path)))
    assert not upper.holds


@pytest.mark.slow
def test_who_knows_the_best_arm_beats_the_lower_bound(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: a policy that is not consistent."""
    wrong = replace(SMALL, policy=Oracle(0), horizons=(10**4,), replicates=40)
    upper, lower, order, _ = claims(run(wrong, runner_in(tmp_path)))
    assert upper.holds
    assert not lower.holds
    assert not order.holds
