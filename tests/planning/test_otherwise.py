"""What a plan costs if an assumption is otherwise: each row has the change that it names."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from affinity_bandits.planning import otherwise
from affinity_bandits.planning.otherwise import _changes, costs_otherwise
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.worlds import HardWorld, hard_worlds
from tests.planning.assumed import SOME_JOIN


def test_the_rows_of_what_would_be_otherwise_have_the_changes_that_they_name() -> None:
    """A spread of .25 on 0 to 1 cannot be .625, and one of .4 not even .6."""
    found = [(words, one.spread, one.bonus) for words, one in _changes(SOME_JOIN)]
    assert found == [
        ("scores spread by 0.125, not 0.25", 0.125, 0.3),
        ("scores spread by 0.375, not 0.25", 0.375, 0.3),
        ("they spread as much as they can", None, 0.3),
        ("a bias of 60%, not 30%", 0.25, 0.6),
        ("a bias with a tipping point", 0.25, 0.3),
    ]
    steepest = [one.steepest for _, one in _changes(SOME_JOIN)]
    assert steepest == pytest.approx([0.3 / 1.3] * 3 + [0.6 / 1.6, 2.0])
    wide = replace(SOME_JOIN, spread=0.4, judges="panel")
    assert [words for words, _ in _changes(wide)] == [
        "scores spread by 0.2, not 0.4",
        "they spread as much as they can",
    ]


class Needed(NamedTuple):
    """What runs of a world that was not run are taken to need."""

    choices: float

    def count_needed(self, part: float) -> float:
        return self.choices * part


def test_what_would_be_otherwise_is_run_in_worlds_that_are_changed_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row that ran the world of the plan again would say that nothing depends on the answer."""
    ran: list[HardWorld] = []

    def note(world: HardWorld, *_: object) -> Needed:
        ran.append(world)
        return Needed(100.0)

    monkeypatch.setattr(otherwise, "run_hardest", note)
    hard = hard_worlds(SOME_JOIN)[0]
    lines = costs_otherwise(SOME_JOIN, policy_for(SOME_JOIN), hard, 1_000, seed=1)
    usual, *changed = [one.world for one in ran]
    assert usual == hard.world
    assert [line.factor for line in lines] == [1.0] * 6
    half, half_more, more_middle, most_spread, most_middle, twice, tipping, *jumps = changed
    assert half.spread == pytest.approx(0.125)
    assert (half_more.spread, more_middle.spread) == pytest.approx((0.375, 0.375))
    assert most_spread.spread == most_middle.spread > 0.375
    for middle in (more_middle, most_middle):
        assert middle.least_mean == middle.largest_mean == middle.drawn_at
        assert middle.largest_mean == pytest.approx(0.5 * hard.world.largest_mean)
    assert twice.steepness == pytest.approx(0.6 / 1.6)
    assert tipping.steepness == pytest.approx(2.0)
    assert {one.spread for one in (twice, tipping, *jumps)} == {hard.world.spread}
    assert {one.steepness for one in jumps} == {otherwise.JUMP}
