"""Answers become assumptions: in any form, each checked against what was said before."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from affinity_bandits.base.errors import InvalidInput, UnknownName
from affinity_bandits.planning import Assumptions
from affinity_bandits.planning.questions import NAMES, QUESTIONS
from affinity_bandits.planning.situation import Situation
from tests.planning.story import MEANT

TODAY = date(2027, 1, 1)
STORY: dict[str, object] = {
    "groups": "referrals, agencies, open call",
    "scale": "1..5",
    "bonus": "20%",
    "favor_gap": "same",
    "strictness": "same",
    "committee": "30,10,10",
    "joining": "1 in 10",
    "difference": "0.3",
    "budget": "2,000 a year",
}


def told(**changes: object) -> Situation:
    situation = Situation(TODAY)
    kept = {name: said for name, said in (STORY | changes).items() if said is not None}
    situation.answer_all(kept)
    return situation


def asked(**given: str) -> list[str]:
    """The questions that are asked, if Enter is pressed where that is possible."""
    situation, found = Situation(TODAY), []
    for question in situation.questions():
        found.append(question.name)
        said = given.get(question.name, question.usual)
        assert said is not None, question.name
        situation.answer(question.name, said)
    return found


def test_the_story_is_understood_as_it_is_told() -> None:
    situation = told()
    assert situation.assumptions() == MEANT
    assert situation.judges is None
    assert situation.for_a_year


def test_a_file_may_say_numbers_and_lists() -> None:
    situation = told(
        groups=["referrals", "agencies", "open call"],
        committee=[30, 10, 10],
        bonus=0.2,
        joining=0.1,
        difference=0.3,
        spread=1,
        failure=0.05,
        in_flight=1,
    )
    assert situation.assumptions() == MEANT


def test_what_is_left_out_is_the_usual() -> None:
    situation = Situation(TODAY)
    situation.answer_all({"groups": "2", "scale": "yes/no", "difference": "5%", "budget": "2k"})
    unsure = Assumptions(2, 2000, 0.05, favors_differ=True, strictness_differs=True)
    assert situation.assumptions() == unsure
    assert not situation.for_a_year


def test_every_question_is_asked_unless_an_answer_makes_it_pointless() -> None:
    known = {name: str(said) for name, said in STORY.items()}
    every = [question.name for question in QUESTIONS]
    assert asked(**known) == [name for name in every if name != "initial_lead"]
    assert asked(**known | {"committee": "do not know"}) == every
    for judges in ("panels", "recused"):
        skipped = {"committee", "initial_lead", "joining", "begins"}
        assert asked(**known | {"judges": judges}) == [n for n in every if n not in skipped]
    assert "spread" not in asked(**known | {"scale": "yes/no", "difference": "5%"})


@pytest.mark.parametrize(
    ("name", "said", "says"),
    [
        ("committee", "30,10", "a number of members for each group"),
        ("committee", "0,0,0", "at least one member"),
        ("difference", "4.5", "at most 4"),
        ("spread", "2.5", "at most 2, half of the scale"),
        ("budget", "2", "at least one choice for each of 3 groups"),
        ("budget", "1e16", "1,000,000,000,000,000"),
        ("joining", "none", "above 0; if nobody joins"),
        ("joining", "do not know", "the fewest you would expect"),
        ("failure", "60%", "[1e-12, 0.5)"),
        ("in_flight", "0", "from 1"),
        ("judges", True, "outsiders, neutral, panels, committee or recused"),
        ("favor_gap", "much", "a number of points such as 0.3"),
        ("favor_gap", "-1", "a number of points such as 0.3"),
        ("strictness", "0.2", "'same' if no group's judges are stricter"),
        ("outsiders", "some", "yes, no or 'do not know'"),
        ("judges_per_group", "0", "from 1"),
        ("groups", {"a": 1}, "names such as"),
        ("initial_lead", "5", "left out: the committee is known"),
        ("steepness", "101", "[0, 100]"),
        ("lipschitz", "-1", "at least 0"),
        ("noise", "poisson", "bounded, gaussian"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_by_its_name(
    name: str, said: object, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        told(**{name: said})
    assert caught.value.parameter == name
    assert says in caught.value.rule


@pytest.mark.parametrize("name", ["groups", "scale", "difference", "budget"])
def test_what_must_be_said_is_asked_for_with_an_example(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be given, e.g. --{name} "):
        told(**{name: None})


def test_all_that_must_be_said_is_asked_for_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        Situation().answer_all({"groups": "2"})
    assert str(caught.value) == (
        "scale, difference and budget must be given, e.g. --scale 1..5 --difference 0.3"
        " --budget '2,000 a year'"
    )
    with pytest.raises(InvalidInput, match=r"^difference and budget must be given"):
        Situation().answer_all({"groups": "2", "noise": "gaussian:sigma=1"})


def test_a_word_that_is_no_question_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'committee'"):
        told(comittee="30,10,10")
    assert len(set(NAMES)) == len(NAMES)


def test_recused_judges_are_refused_where_nothing_is_known_of_the_bias() -> None:
    with pytest.raises(InvalidInput, match="nothing to see"):
        told(bonus="no idea", judges="recused")
    assert told(judges="recused").assumptions().judges == "recused"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"judges": "outsiders", "outsiders": "no"}, "there are no outsiders"),
        ({"judges": "neutral", "groups": "a, b", "committee": "3,4"}, "a third group judge"),
    ],
)
def test_who_cannot_judge_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        told(**changes)
    assert caught.value.parameter == "judges"


@pytest.mark.parametrize(
    ("changes", "ways"),
    [
        ({}, ["neutral", "recused", "panel", "committee"]),
        ({"outsiders": "yes"}, ["outsiders", "neutral", "recused", "panel", "committee"]),
        ({"strictness": "no idea"}, ["neutral", "panel", "committee"]),
        ({"groups": "2", "committee": "3,4"}, ["panel", "committee"]),
        ({"bonus": "no idea"}, ["neutral", "panel", "committee"]),
    ],
    ids=str,
)
def test_all_ways_are_those_that_apply(changes: dict[str, object], ways: list[str]) -> None:
    assert [one.judges for one in told(**changes).ways()] == ways


def test_what_is_said_of_a_committee_that_does_not_judge_is_checked_and_kept() -> None:
    assert told(judges="panels").assumptions().committee == (30, 10, 10)
    with pytest.raises(InvalidInput, match="committee"):
        told(judges="panels", committee="many")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spread": "largest"}, {"spread": None}),
        ({"spread": "do not know"}, {"spread": 1.0}),
        ({"scale": "0..100", "difference": "8"}, {"spread": 25.0, "highest": 100.0}),
        ({"bonus": "no idea"}, {"bonus": None, "steepness": 2.0}),
        ({"bonus": "no idea", "steepness": "1"}, {"steepness": 1.0}),
        ({"committee": "do not know"}, {"committee": None, "initial_lead": 100}),
        ({"committee": "do not know", "initial_lead": "2k"}, {"initial_lead": 2000}),
        ({"budget": "40 a week until 2027-06-30"}, {"horizon": 1028, "pace": 40.0}),
        ({"largest_mean": "4"}, {"largest_mean": 4.0}),
        ({"favor_gap": "0.3"}, {"favor_gap": 0.3, "favors_differ": False}),
        ({"favor_gap": 0}, {"favor_gap": None, "favors_differ": False}),
        ({"favor_gap": "no idea"}, {"favor_gap": None, "favors_differ": True}),
        ({"strictness": "may differ"}, {"strictness_differs": True}),
        ({"outsiders": "yes", "judges_per_group": "12"}, {"judges_per_group": 12}),
        ({"outsiders": "yes"}, {"outsiders": True}),
        ({"judges": "outsiders"}, {"outsiders": True, "judges": "outsiders"}),
        ({"judges": "neutral blocks"}, {"judges": "neutral"}),
        ({"scale": None, "noise": {"name": "gaussian", "sigma": 2}}, {"sigma": 2.0}),
    ],
    ids=str,
)
def test_an_answer_reaches_the_assumptions(
    changes: dict[str, object], expected: dict[str, Any]
) -> None:
    found = told(**changes).assumptions()
    assert {name: getattr(found, name) for name in expected} == expected
