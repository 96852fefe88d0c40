"""Plans for committee, panels and recusal: told to the policy, and no cheaper than they say."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from affinity_bandits.planning import Assumptions, example, make_plan, otherwise
from affinity_bandits.planning.assumptions import JUDGES
from affinity_bandits.planning.files import plan_from_toml, plan_to_toml
from affinity_bandits.planning.otherwise import _changes, costs_otherwise
from affinity_bandits.planning.outcomes import exceptions, most
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.runs import hardest_outcomes
from affinity_bandits.planning.worlds import HardWorld, hard_worlds
from affinity_bandits.planning.worst_worlds import worst_worlds
from affinity_bandits.simulation.intervals import proportion_interval
from research.outcomes import outcomes

SOME_JOIN = Assumptions(
    *(2, 20_000, 0.2), committee=[12, 4], bonus=0.3, spread=0.25, joining=0.25, pace=10.0
)
RUNS = 200


@pytest.mark.parametrize(
    ("changes", "kind", "told"),
    [
        ({}, "members", {}),
        ({"joining": 1.0}, "head-start", {"initial_pulls": (12, 4)}),
        ({"joining": 1.0, "committee": [3, 0]}, "head-start", {"initial_pulls": (3, (0, 1))}),
        ({"joining": 1.0, "committee": None}, "head-start", {"initial_lead": 100}),
        ({"judges": "panel"}, "panel", {}),
        ({"judges": "outsiders"}, "panel", {}),
        ({"judges": "neutral", "groups": 3, "committee": [12, 4, 4]}, "neutral", {}),
        ({"judges": "recused"}, "recusal", {}),
    ],
    ids=str,
)
def test_the_policy_is_told_who_judges(
    changes: dict[str, object], kind: str, told: dict[str, object]
) -> None:
    policy = policy_for(replace(SOME_JOIN, **changes))
    assert policy.name == f"{kind}-elimination"
    assert {name: getattr(policy, name) for name in told} == told


IN_ROUNDS = [way for way in JUDGES if way != "neutral"]
"""Ways whose plans are run by `simulate`; outsiders are a panel that favors nobody."""


@pytest.mark.parametrize("judges", IN_ROUNDS)
def test_an_example_has_the_judges_the_joining_and_the_spread(judges: str) -> None:
    bandit = example(replace(SOME_JOIN, judges=judges))
    assert bandit.judges.who == ("panel" if judges == "outsiders" else judges)
    assert bandit.joining.part == 0.25
    assert max(bandit.true_means) - min(bandit.true_means) == pytest.approx(0.2)
    (row,) = bandit.noise.probabilities_at([max(bandit.true_means)])
    at = [place / 16 for place in range(17)]
    second = sum(p * x * x for p, x in zip(row, at, strict=True))
    assert (second - max(bandit.true_means) ** 2) ** 0.5 == pytest.approx(0.25, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("judges", IN_ROUNDS)
def test_no_example_takes_longer_than_the_hardest_worlds(judges: str) -> None:
    """The simulator's own committees, panels and recused judges against the worlds of plans.

    Means of 200 runs, whose standard deviations are about 0.6 of them: 4 standard errors of the
    difference are 24%. Measured is at most 0.85 of the hardest.
    """
    given = replace(SOME_JOIN, judges=judges)
    policy = policy_for(given)
    worlds = worst_worlds(given, policy, given.horizon, seed=1)
    hardest = max(one.choices for one in hardest_outcomes(worlds, policy, 20_000, RUNS, seed=2))
    bonuses = [part * (given.bonus or 0.0) for part in (0.0, 0.5, 1.0)]
    bandits = [example(replace(given, bonus=one, steepness=None)) for one in bonuses]
    for one in outcomes(bandits, policy, given.horizon, RUNS, seed=3):
        assert one.choices <= 1.24 * hardest
        # With failure 0.05, 24 wrong ones of 200 are 4.5 standard deviations too many.
        assert one.wrong < 24


@pytest.mark.slow
@pytest.mark.parametrize("judges", ["recused", "committee"])
def test_a_plan_file_keeps_all_that_was_said(judges: str) -> None:
    given = replace(
        SOME_JOIN, groups=3, committee=[12, 4, 4], horizon=60, judges=judges, names=["a", "b", "c"]
    )
    plan = make_plan(given, progress=False)
    again = plan_from_toml(plan_to_toml(plan))
    assert again.assumptions == given
    assert again.policy == plan.policy
    assert (again.needed, again.otherwise) == (plan.needed, plan.otherwise)
    assert not plan.enough
    assert plan.sufficient is not None
    assert plan.sufficient > 60
    assert plan.detectable is None or plan.detectable > given.smallest_difference
    words = {line.words for line in plan.otherwise}
    assert "they spread as much as they can" in words
    assert ("a bias with a tipping point" in words) == (judges == "committee")


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


@pytest.mark.parametrize(("runs", "left"), [(20, -1), (59, 0), (93, 1), (150, 2), (300, 8)])
def test_what_suffices_in_19_of_20_cases_is_a_limit_and_no_guess(runs: int, left: int) -> None:
    assert exceptions(runs) == left
    if left >= 0:
        assert proportion_interval(left, runs, 0.9)[2] <= 0.05
    assert proportion_interval(left + 1, runs, 0.9)[2] > 0.05
    assert most(range(runs)) == runs - 1 - max(0, left)
