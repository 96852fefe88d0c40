"""Policies that are told who judges: on every path and order of answers, and in runs."""

from __future__ import annotations

import pytest

from affinity_bandits import (
    AffinityBandit,
    Live,
    MembersElimination,
    PanelElimination,
    simulate,
)
from affinity_bandits.base.errors import InvalidInput
from research.judges import Case, choices, failure


@pytest.mark.parametrize("wrong", [[1], [1, -1], [0.5, 1], 3])
@pytest.mark.parametrize("name", ["judges", "soon", "later"])
def test_counts_that_cannot_be_are_refused_by_name(name: str, wrong: object) -> None:
    live = Live(MembersElimination(bounded=True), 2, 100)
    with pytest.raises(InvalidInput, match=name):
        live.meet(**{"judges": [1, 2], name: wrong})  # type: ignore[arg-type]
    live.meet([1, 2], later=[0, 3])


MEMBERS = Case(2, "bernoulli", "step", "members", "even", "leader's", 1, begin="beginning")
PANEL = Case(2, "bernoulli", "ramp", "panel", "favoring", "1 in 10", 1_000, leave=True)
CASES = [
    pytest.param(MEMBERS, 150, 20, 50, id="members"),
    pytest.param(MEMBERS, 400, 42, 150, id="members-long", marks=pytest.mark.nightly),
    pytest.param(PANEL, 400, 42, 150, id="panel", marks=pytest.mark.nightly),
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "runs", "most", "fewest_unguarded"), CASES)
def test_no_adversary_gets_an_equal_dropped_more_often_than_stated(
    case: Case, runs: int, most: int, fewest_unguarded: int
) -> None:
    """More drops than `most` have a probability of 1e-4 at the level 0.05."""
    assert failure(case, runs=runs) <= most / runs
    assert failure(case, runs=runs, guarded=False) >= fewest_unguarded / runs


@pytest.mark.slow
def test_people_who_begin_later_cost_little_more() -> None:
    """Untold it is more than twice as much. A mean of 100 runs has a standard error of 36."""
    at_once = choices(0, runs=100).mean()
    assert choices(300, runs=100).mean() <= 1.6 * at_once
    assert choices(150, runs=20, tell=False).mean() > 3.0 * at_once


RUNS = 2000
LEVEL = 0.05


def wrong(policy: type[PanelElimination], world: AffinityBandit) -> int:
    """In how many runs the best group was dropped."""
    told = policy(bounded=True, failure=LEVEL)
    result = simulate(world, told, 3000, RUNS, progress=False)
    return round(result.summary()[0].wrong_arm[0] * RUNS)
