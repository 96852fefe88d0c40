"""What plans promise where judges differ as audits find them: in strictness, in favor, in lots."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from affinity_bandits import (
    JudgeWorld,
    PanelElimination,
    RecusalElimination,
    simulate_slots,
)
from affinity_bandits.planning import Assumptions, Plan, hard_worlds, make_plan
from affinity_bandits.planning.enough import decided_enough
from affinity_bandits.planning.files import plan_from_toml, plan_to_toml
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.rule import recommended
from affinity_bandits.planning.runs import run_hardest
from affinity_bandits.planning.sentences import (
    cost_rows,
    otherwise_rows,
    tell_claim,
    tell_conditions,
    tell_obstacles,
    tell_recommendation,
    tell_saved,
    tell_verdict,
)
from affinity_bandits.simulation.intervals import proportion_interval

STARS = Assumptions(
    *(2, 1500, 0.3), bonus=0.25, spread=1.0, lowest=1.0, highest=5.0, judges="recused"
)


TODAY = date(2027, 1, 1)


RUNS = 100


EQUAL = JudgeWorld(quality=(3.2, 3.2), judges=8)
"""Whole stars from 1 to 5 with a standard deviation of 1; each judge's own has one of .4."""


ALIKE = replace(EQUAL, judge_strictness=0.0)


@pytest.mark.slow
def test_recused_judges_of_unequal_strictness_break_a_promise_that_no_plan_makes() -> None:
    """Eight judges per group with a strictness of deviation .4: about a third of runs are wrong.

    With a rate of 31%, 16 or fewer of 100 are wrong with probability 0.0004, and from 11 on the
    interval is above 5%. Without strictness at most 5% are: 16 or more have probability 4e-5.
    """
    policy = RecusalElimination(bounded=True, failure=0.05, target=1500)
    assert simulate_slots(policy, ALIKE, "recused", 1500, RUNS).wrong < 16
    wrong = simulate_slots(policy, EQUAL, "recused", 1500, RUNS).wrong
    assert wrong > 16
    assert proportion_interval(wrong, RUNS, 0.95)[1] > STARS.failure


@pytest.mark.slow
def test_unequal_favors_and_raters_who_are_not_drawn_break_what_panels_assume() -> None:
    """Favors of .57 and .23 points, or own judges for 75% of a group's slots and 25% of another's.

    Of two equally good groups the less favored should be dropped in at most 5% of runs, and is with
    equal favors and lots: 16 or more of 100 have probability 4e-5. With a rate of 50%, 25 or fewer
    have probability 3e-7.
    """
    policy = PanelElimination(bounded=True, failure=0.05, target=1000)
    same = replace(ALIKE, favors=(0.3, 0.3))
    assert simulate_slots(policy, same, "panel", 1500, RUNS).wrong < 16
    unequal = replace(ALIKE, favors=(0.57, 0.23))
    assert simulate_slots(policy, unequal, "panel", 1500, RUNS).wrong > 25
    sent = replace(ALIKE, favors=(0.6, 0.6), own_part=(0.25, 0.75))
    assert simulate_slots(policy, sent, "panel", 1500, RUNS).wrong > 25


@pytest.fixture(scope="module")
def two_recused() -> Plan:
    return make_plan(STARS, progress=False)


@pytest.fixture(scope="module")
def two_panels() -> Plan:
    return make_plan(replace(STARS, judges="panel"), progress=False)


@pytest.mark.slow
def test_two_groups_with_recusal_get_no_promise(two_recused: Plan) -> None:
    assert (two_recused.enough, two_recused.failure) == (False, None)
    # For judges who are alike it would be.
    assert decided_enough(two_recused.hardest[0])
    told = [two_recused]
    assert tell_verdict(told) == "No number of choices is enough."
    assert tell_obstacles(told) == [
        "Two groups: each is judged only by the other's people. Scores cannot tell stricter judges"
        " from worse candidates; no chance of a wrong group can be promised unless outsiders"
        " judge.",
    ]
    assert (tell_claim(told), tell_conditions(told)) == ("", [])
    assert cost_rows(told, TODAY)[-1] == ["recusal", "-", "-", "-", "no"]
    paced = replace(two_recused, assumptions=replace(STARS, pace=30.0))
    assert cost_rows([paced], TODAY)[-1] == ["recusal", *"-----", "no"]
    assert "5%" not in repr(told) + two_recused._repr_html_()
    assert recommended(told) is None
    assert plan_from_toml(plan_to_toml(two_recused)) == two_recused
    assert tell_saved(two_recused, told) == (
        "The saved plan is the one where people from other groups judge: no number of choices is"
        " enough, and nothing is promised."
    )


@pytest.mark.slow
def test_beside_panels_they_are_left_out_of_the_claim(two_recused: Plan, two_panels: Plan) -> None:
    told = [two_recused, two_panels]
    assert two_panels.enough
    assert tell_verdict(told) == (
        "1,500 choices are enough if panels judge; no number of choices is enough if people from"
        " other groups judge."
    )
    assert tell_claim(told).startswith(
        "Chance of choosing the wrong group: at most 5% if panels judge; at worst"
    )
    assert "recused" not in " ".join(tell_conditions(told))
    assert recommended(told) is two_panels
    line = [row for row in otherwise_rows(told) if row[0] == "they spread as much as they can"]
    assert line[0][1] == "-"


def conditions(plan: Plan, *ways: Assumptions) -> list[str]:
    return tell_conditions([replace(plan, assumptions=one) for one in ways])


def test_conditions_say_how_much_strictness_and_favor_matter(tiny: Plan) -> None:
    three = replace(STARS, groups=3)
    (judged, strict, _) = conditions(tiny, three)
    assert judged == "nobody judges their own group;"
    assert strict == (
        "the judges of each group's candidates are equally strict on average: if those who judge"
        " one group are stricter by 0.2 points, that group may lose although it is better by 0.2;"
    )
    judged, bias, lots, _ = conditions(tiny, replace(three, judges="panel"))
    assert bias == (
        "all groups have the same bias: if one group's judges favor their own by x points more"
        " than another's do theirs, it may win although it is worse by x/K (with 3 groups and x ="
        " 0.34, by 0.11);"
    )
    assert lots == "who of the judges scores which candidate is decided by lot, not by group;"
    (_, bias, lots_too, _) = conditions(tiny, replace(three, judges="committee"))
    assert "worse by about x/K (with 3 groups" in bias
    assert lots_too == lots
    ways = [replace(three, judges=way) for way in ("recused", "panel", "committee")]
    _, strict, bias, *_ = conditions(tiny, *ways)
    assert strict.startswith("the judges of each group's candidates (recusal) are equally strict")
    assert bias.startswith("all groups have the same bias (panels, committee): if")
    half = replace(three, lowest=0.0, highest=100.0, largest_mean=100.0)
    assert "stricter by 5 points, that group may lose although it is better by 5;" in " ".join(
        conditions(tiny, half)
    )


@pytest.mark.parametrize(
    ("judges", "groups", "gap", "identified", "hidden"),
    [
        ("panel", 3, 0.89, True, 0.89 / 3),
        ("panel", 3, 0.90, False, 0.30),
        ("panel", 2, 0.59, True, 0.295),
        ("committee", 3, 0.59, True, 0.295),
        ("committee", 3, 0.61, False, 0.305),
        ("panel", 3, None, True, 0.0),
        ("recused", 3, 0.90, True, 0.0),
        ("recused", 2, None, False, 0.0),
    ],
)
def test_no_number_is_enough_if_favors_can_hide_the_difference(
    judges: str, groups: int, gap: float | None, identified: bool, hidden: float
) -> None:
    given = replace(STARS, groups=groups, judges=judges, favor_gap=gap)
    assert given.identified == identified
    assert given.hidden_gap == pytest.approx(hidden)
    # Costs are those of the lead that is left; nothing is said of them where none is.
    taken = 0.25 * (gap or 0.0) if identified and judges != "recused" else 0.0
    assert [hard.world.favor_gap for hard in hard_worlds(given)] == pytest.approx(
        [taken] * len(hard_worlds(given))
    )


@pytest.mark.slow
def test_a_known_gap_in_favor_costs_choices_and_ends_promises(two_panels: Plan) -> None:
    """A gap of .3 between two groups leaves .15 of a lead of .3: about four times the choices."""
    some = make_plan(replace(two_panels.assumptions, favor_gap=0.3), progress=False)
    assert two_panels.needed is not None
    assert some.needed is not None
    assert 2.5 < some.needed.choices_95 / two_panels.needed.choices_95 < 6.0
    (bias,) = [text for text in tell_conditions([some]) if "favor" in text]
    assert bias == (
        "no group's judges favor their own by more than 0.3 points more than another's do theirs,"
        " and all groups have the same bias otherwise: a group may win although it is worse by up"
        " to 0.15 (panels);"
    )
    much = make_plan(replace(two_panels.assumptions, favor_gap=0.6), progress=False)
    assert (much.enough, much.failure, much.enough_choices) == (False, None, None)
    assert tell_obstacles([much]) == [
        "Panels, equal seats: favors that differ by 0.6 can hide a difference of 0.3 points, and"
        " 0.3 is not more.",
    ]
    assert tell_recommendation([much]).startswith("Two groups without outsiders")
    three = replace(much, assumptions=replace(much.assumptions, groups=3, favor_gap=1.0))
    assert tell_recommendation([three]).startswith("Recommended: neutral blocks.")


def test_strictness_and_favor_shorten_the_lead_by_as_much_as_they_say() -> None:
    """A lead of .3 points less a strictness of .3 is none: as many runs end each way.

    A strictness of .3 points (.075 of the scale) leaves two equal groups, so that at most 5% of
    runs drop either by mistake; 16 of 100 have probability 4e-5.
    """
    given = replace(STARS, groups=3, horizon=3000)
    (hard,) = hard_worlds(given)
    lead = hard.world.difference
    none = replace(hard, world=hard.world._replace(strictness=lead))
    runs = run_hardest(none, policy_for(given), given.horizon, 100, seed=4).within(3000)
    assert runs.wrong < 16
    assert runs.undecided > 60
    panels = replace(given, judges="panel")
    (hard,) = hard_worlds(panels)
    none = replace(hard, world=hard.world._replace(favor_gap=3.0 * hard.world.difference))
    runs = run_hardest(none, policy_for(panels), 3000, 100, seed=4).within(3000)
    assert runs.wrong < 16
    assert runs.undecided > 60


COMMITTEE = replace(STARS, judges="committee", committee=[30, 10], initial_lead=None)


@pytest.mark.parametrize(
    ("changes", "covered"),
    [
        ({}, "biases that grow evenly with the share"),
        ({"bonus": 0.0, "steepness": None}, ""),
        ({"steepness": 2.0}, "biases that raise scores at most 4-fold as a share doubles"),
        (
            {"bonus": None, "steepness": None},
            "biases that raise scores at most 4-fold as a share doubles",
        ),
        ({"judges": "panel"}, ""),
        ({"judges": "recused", "groups": 2, "committee": [1, 1]}, ""),
    ],
    ids=str,
)
def test_the_headline_says_which_biases_the_number_is_for(
    changes: dict[str, object], covered: str, tiny: Plan
) -> None:
    given = replace(COMMITTEE, **{"steepness": None} | changes)
    assert given.covered == covered
    enough = replace(tiny, assumptions=given)
    words = tell_verdict([enough])
    if given.identified:
        end = f" The number is for {covered}, not for jumps." if covered else ""
        assert words == f"1,500 choices are enough.{end}"
        assert f"enough{' for ' if covered else ''}{covered}" in enough._repr_html_()


def test_both_verdicts_are_in_the_view_of_a_notebook(tiny: Plan) -> None:
    asked = "2 groups, differences of 0.5 or more, 300 choices"
    assert f"{asked}: enough<" in tiny._repr_html_()
    late = replace(tiny.hardest[0], undecided=200)
    few = replace(tiny, hardest=(late,), sufficient=2500)
    assert f"{asked}: too few, 2,500 would do<" in few._repr_html_()
    never = replace(few, sufficient=None)
    assert f"{asked}: too few, 10^15 would not do<" in never._repr_html_()


def test_the_view_of_a_notebook_has_the_numbers_of_the_costliest_and_of_the_worst_world(
    tiny: Plan,
) -> None:
    first = replace(tiny.hardest[0], replicates=300, wrong=7, choices=40.4, choices_95=80.0)
    second = replace(first, wrong=2, choices=50.5, choices_95=120.0)
    worlds = [replace(tiny.worlds[0], favored=name) for name in ("nobody ahead", "one ahead")]
    view = replace(
        tiny, hardest=(first, second), worlds=tuple(worlds), detectable=0.25
    )._repr_html_()
    for name, value in (
        ("policy", str(tiny.policy)),
        ("chance of choosing the wrong group", "at most 5%, proven"),
        ("most runs that did", "7 of 300"),
        ("choices spent comparing, at worst", "50.5 on average"),
        ("in 19 of 20 runs", "120 of 300"),
        ("the worst is where", "one ahead"),
        ("smallest difference told apart there", "0.25"),
    ):
        assert f"<tr><td>{name}</td><td>{value}</td></tr>" in view
    assert "there</td><td>none</td>" in replace(tiny, detectable=None)._repr_html_()


@pytest.mark.slow
def test_a_jump_at_equal_shares_is_a_row_that_no_number_meets() -> None:
    """The headline's biases are decided, and a jump is not: more than five times the choices."""
    given = replace(COMMITTEE, committee=[12, 10], smallest_difference=0.5, horizon=3000)
    plan = make_plan(given, progress=False)
    assert plan.enough
    words = {line.words: line for line in plan.otherwise}
    jump = words["a bias that jumps at equal shares"]
    assert jump.more
    assert jump.factor > 30.0  # tried with 15,000 choices, and about 360 are enough otherwise
    panels = make_plan(replace(given, judges="panel"), progress=False)
    assert not {line.words for line in panels.otherwise} & {jump.words}


def test_the_cheapest_way_that_is_enough_is_saved_and_named(tiny: Plan) -> None:
    def plan(way: str, choices: float, *, enough: bool = True) -> Plan:
        cost = replace(tiny.hardest[0], choices_95=choices, undecided=0 if enough else 200)
        given = replace(STARS, groups=3, judges=way)
        return replace(tiny, assumptions=given, hardest=(cost,), needed=cost)

    three = [plan("recused", 900.0), plan("panel", 620.0), plan("committee", 1400.0)]
    assert recommended(three) is three[1]
    assert tell_saved(three[1], three) == (
        "The saved plan is the one where panels judge: the cheapest way that is enough."
    )
    last = [plan("recused", 900.0, enough=False), plan("committee", 1400.0)]
    assert recommended(last) is last[1]
    assert tell_saved(last[1], last).endswith(
        "the whole committee judges: the only way that is enough."
    )
    assert tell_saved(last[0], last[:1]).endswith(
        "people from other groups judge: 1,500 choices are too few."
    )
    assert tell_saved(last[1], last[1:]) == ""
    assert recommended(last[:1]) is None
