"""Worlds of judges that a plan tries: what was said of leads and spreads, and how runs end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits import (
    NeutralElimination,
)
from affinity_bandits.planning import Assumptions
from affinity_bandits.planning.judge_worlds import Steps, judge_world, run_blocks
from tests.planning.assumed import UNSURE


@pytest.mark.parametrize(
    ("lowest", "highest", "spread", "lead"),
    [(1.0, 5.0, 1.0, 0.3), (0.0, 1.0, None, 0.1), (0.0, 100.0, 15.0, 4.0), (1.0, 5.0, 1.6, 0.5)],
)
def test_worlds_of_judges_have_the_lead_and_the_spread_that_were_said(
    lowest: float, highest: float, spread: float | None, lead: float
) -> None:
    """Exact sums over the scale, without what single judges add."""
    given = Assumptions(3, 2000, lead, lowest=lowest, highest=highest, spread=spread)
    world = judge_world(given, lead, judge_strictness=0.0)
    width = (world.spread**2 + world.error**2) ** 0.5
    steps = Steps(lowest, highest, world.unit)
    rival, _, best = (steps.moments(quality, width) for quality in world.quality)
    assert best[0] - rival[0] == pytest.approx(lead, rel=1e-6)
    if spread is not None:
        assert best[1] == pytest.approx(spread, rel=0.02)


def test_runs_of_blocks_end_when_they_are_decided() -> None:
    from affinity_bandits.planning.judge_worlds import block_world

    hard = block_world(replace(UNSURE, judges="neutral"), 2.0)
    runs = run_blocks(hard, NeutralElimination(), 4000, 20, seed=1)
    assert (runs.pulls.sum(axis=1) == runs.decided).all()
    assert runs.within(4000).undecided == 0
