"""The answer of `affinity plan` fits a screen of 80 columns, and the dialogue asks again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from affinity_bandits.app import plan as page
from affinity_bandits.cli import plan as plan_command
from affinity_bandits.cli.plan_text import print_answer, print_explanation
from affinity_bandits.planning import Assumptions, Outcome, Plan, make_plan
from affinity_bandits.planning.files import plan_to_toml
from affinity_bandits.planning.otherwise import Otherwise
from affinity_bandits.planning.sentences import (
    cost_rows,
    otherwise_rows,
    tell_conditions,
    tell_situation,
)
from affinity_bandits.planning.situation import Situation
from affinity_bandits.plots import draw_ways
from tests.planning.story import MEANT

TODAY = date(2027, 1, 1)
STORY = replace(MEANT, pace=40.0, unit="interview")
NEEDED = {"recused": 900.0, "panel": 620.0, "committee": 2400.0}


@pytest.fixture(scope="module")
def real() -> Plan:
    """A plan that takes no time, whose figures are replaced below."""
    return make_plan(Assumptions(3, 300, 0.9, initial_lead=0, steepness=0.0), progress=False)


def cost(choices: float, undecided: int = 0) -> Outcome:
    spent = (choices / 3,) * 3
    return Outcome(300, 0, undecided, choices / 2, choices, spent, spent)


def plans(
    real: Plan,
    given: Assumptions = STORY,
    ways: Sequence[str] = ("recused", "panel", "committee"),
    few: Sequence[str] = ("committee",),
) -> list[Plan]:
    """Plans of the story with figures that need no runs; those in `few` are not enough."""
    found = []
    for way in ways:
        one = cost(NEEDED[way], 200 if way in few else 0)
        found.append(
            replace(
                real,
                assumptions=replace(given, judges=way),
                hardest=tuple(one for _ in real.hardest),
                needed=one,
                sufficient=2500 if way in few else None,
                detectable=0.25,
                otherwise=(Otherwise("scores spread by 0.5, not 1", 9999.0, way in few),),
            )
        )
    return found


def answer(capsys: pytest.CaptureFixture[str], made: list[Plan]) -> list[str]:
    print_answer(made, TODAY, for_a_year=True)
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_says_enough_or_not_when_it_is_over_and_what_each_way_to_judge_costs(
    real: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = answer(capsys, plans(real))
    assert " ".join(lines[:2]).startswith(
        "2,000 interviews are enough if people from other groups or panels judge; too few if"
        " the whole committee judges."
    )
    rows = [" ".join(line.split()) for line in lines if line.endswith((" yes", " no"))]
    assert rows == [
        "recusal 450 900 23 weeks 2027-06-08 0.25 yes",
        "panels, equal seats 310 620 16 weeks 2027-04-20 0.25 yes",
        "the whole committee 1,200 2,500 63 weeks 2028-03-14 0.25 no",
    ]
    text = " ".join(" ".join(lines).split())
    assert "3 groups (referrals, agencies, open call), 30, 10 and 10 on the committee." in text
    assert "Own group rated up to 20% higher (above 1: 3 becomes 3.4)." in text
    assert "1 in 10 of those chosen joins. 2,000 interviews in 50 weeks, 40 a week, as no" in text
    assert "at most 5% in each case; at worst 0 of 300 runs here. This is proven" in text


@pytest.mark.parametrize(("few", "choices"), [((), "620"), (("panel",), "2,500")])
def test_every_surface_tells_the_same_number(
    real: Plan, capsys: pytest.CaptureFixture[str], few: tuple[str, ...], choices: str
) -> None:
    """The verdict, the tables, the page, the plan file and the picture; 2,400 were measured."""
    (plan,) = made = plans(real, ways=("panel",), few=few)
    lines = answer(capsys, made)
    assert not few or f"About {choices} would suffice." in lines[0]
    assert [row[2] for row in cost_rows(made, TODAY)[2:]] == [choices]
    assert otherwise_rows(made)[1] == ["as it was said", choices]
    assert page._tell_way(plan, TODAY)["needs"].startswith(f"{choices} interviews, done by ")
    steps = page._differences(made)
    assert steps[page.STEPS]["lines"] == [f"panels, equal seats: {choices} interviews"]
    assert f"enough_choices = {choices.replace(',', '')}.0" in plan_to_toml(plan).splitlines()
    texts = [text.get_text() for text in draw_ways(made).axes[0].texts]
    assert any(f" {choices} in 19 of 20 cases" in text for text in texts)


@pytest.mark.parametrize(
    ("ways", "few", "verdict"),
    [
        (("panel",), (), "2,000 interviews are enough."),
        (("panel",), ("panel",), "2,000 interviews are too few. About 2,500 would suffice."),
        (("panel", "committee"), (), "2,000 interviews are enough, whoever judges."),
        (
            ("panel", "committee"),
            ("panel", "committee"),
            "2,000 interviews are too few, whoever jud",
        ),
        (
            ("panel", "committee"),
            ("panel",),
            "2,000 interviews are enough if the whole committee ju",
        ),
    ],
)
def test_the_verdict_comes_first(
    ways: tuple[str, ...],
    few: tuple[str, ...],
    verdict: str,
    real: Plan,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert answer(capsys, plans(real, ways=ways, few=few))[0].startswith(verdict)


def test_where_no_number_suffices_it_says_so(
    real: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    (plan,) = plans(real, ways=("committee",))
    lines = answer(capsys, [replace(plan, sufficient=None, needed=None, detectable=None)])
    assert lines[0] == "2,000 interviews are too few. Not even 10^15 would always suffice."
    (row,) = [line.split() for line in lines if line.startswith("the whole committee")]
    assert row[3:] == ["-", "-", "never", "-", "-", "no"]


def test_without_a_word_on_the_bias_recused_judges_may_see_nothing(
    real: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = replace(STORY, bonus=None, steepness=None)
    ways = ("panel", "committee")
    text = " ".join(answer(capsys, plans(real, unknown, ways)))
    assert "Recusal: nothing can be promised" in text
    assert "Recusal" not in " ".join(answer(capsys, plans(real, unknown, ("panel",))))


EXTREMES: list[dict[str, Any]] = [
    {},
    {"names": ["x" * 40, "y" * 40, "z" * 40]},
    {"committee": [10**9, 10**9, 1], "horizon": 10**15, "pace": 1e-3},
    {"committee": None, "initial_lead": 10**9, "bonus": None, "steepness": None},
    {"pace": None, "spread": None, "joining": 0.123456},
    {"noise": "gaussian", "lowest": 0.0, "highest": 1.0, "largest_mean": 1e5, "spread": None},
    {"lowest": -1e9, "highest": 1e9, "largest_mean": 1e9, "spread": 333_333_333.3},
    {"groups": 9, "committee": list(range(1, 10)), "names": [f"number {n}" for n in range(9)]},
]


@pytest.mark.parametrize("changes", EXTREMES, ids=lambda changes: "-".join(changes) or "story")
def test_no_line_is_longer_than_80_columns_and_no_word_is_broken(
    changes: dict[str, Any], real: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    given = replace(STORY, **changes)
    ways = ("panel", "committee") if given.bonus is None else ("recused", "panel", "committee")
    made = plans(real, given, ways)
    if given.horizon > 10**6:
        huge = cost(9.99e14)
        made = [replace(one, needed=huge, detectable=1.234e-4) for one in made]
    lines = answer(capsys, made)
    print_explanation(made[-1], made)
    lines += capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    names = list(given.names or ())
    if len(", ".join(names)) < 80:
        joined = " ".join(lines)
        assert all(name in joined for name in names)
    # No more than the conditions of the claim and who should judge need, unless it is to be
    # explained.
    assert len(answer(capsys, made)) <= 40


# The dialogue.


def answered(
    monkeypatch: pytest.MonkeyPatch, replies: Sequence[str]
) -> tuple[Situation, list[str]]:
    """Answer the questions, with Enter for an empty reply; return what was asked."""
    left, asked = list(replies), []

    def prompt(text: str, default: str | None = None, **_: object) -> str:
        asked.append(text)
        said = left.pop(0)
        return said or default or ""

    monkeypatch.setattr(plan_command.typer, "prompt", prompt)
    told = Situation(TODAY)
    plan_command.ask(told)
    assert left == []
    return told, asked


STORY_TYPED = (
    *("referrals, agencies, open call", "interview", "1 to 5", "", "20%"),
    *("same", "same", "", "", ""),
    *("30,10,10", "1 in 10", "0.3"),
    *("2,000 a year", "", "", ""),
)


def test_the_story_can_be_typed_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told, _ = answered(monkeypatch, STORY_TYPED)
    assert told.assumptions() == replace(STORY, pace=2000 / (365.25 / 7.0))
    assert told.judges is None


def test_enter_leaves_open_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = ("a,b", "", "1..5", *[""] * 10, "1", "2000", "", "", "")
    told, asked = answered(monkeypatch, replies)
    assert (told.said["bonus"], told.said["committee"]) == ("no idea", "do not know")
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize(
    ("place", "wrong", "says"),
    [
        (0, "referrals", "names such as 'referrals, agencies, open call'"),
        (1, "1 interview", "in the singular, such as interview"),
        (2, "5 stars", "1..5, '1 to 5' or 0..100, or yes/no"),
        (3, "9", "above 0 and at most 4"),
        (4, "20", "such as 20% or 0.2"),
        (5, "much", "a number of points such as 0.3"),
        (6, "strict", "'same' if no group's judges are stricter"),
        (7, "some", "a whole number such as 8"),
        (8, "perhaps", "yes, no or 'do not know'"),
        (9, "me", "outsiders, neutral, panels, committee or recused"),
        (10, "30,10", "such as 30,10,10, or 'do not know'"),
        (11, "10", "'1 in 10'"),
        (12, "5%", "points of the scale such as 0.3"),
        (13, "for 2 years", "2,000 a year for 2 years"),
        (14, "soon", "'at once', after a number"),
        (15, "0", "from 1"),
        (16, "5", "'1 in 10'"),
    ],
)
def test_a_wrong_answer_is_refused_at_once_and_asked_for_again(
    place: int,
    wrong: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    replies = [*STORY_TYPED[:place], wrong, *STORY_TYPED[place:]]
    told, asked = answered(monkeypatch, replies)
    assert told.assumptions().committee == (30, 10, 10)
    assert asked[place] == asked[place + 1]
    (line,) = [one for one in capsys.readouterr().out.splitlines() if "Not understood" in one]
    assert line.startswith("  Not understood: it must be ")
    assert says in line


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "you say before each round who is on the committee"),
        ({"joining": 1.0}, "everybody chosen joins the committee at once"),
        ({"judges": "panel"}, "panels have as many seats for each group"),
        ({"judges": "recused"}, "nobody judges their own group"),
    ],
)
def test_the_assumptions_stand_beside_the_claim_in_a_sentence_each(
    changes: dict[str, Any], says: str, real: Plan
) -> None:
    judges, alike, *lots, never_falls = tell_conditions(
        [replace(real, assumptions=replace(STORY, **changes))]
    )
    assert judges.startswith(says)
    if changes.get("judges") == "recused":
        assert "equally strict on average" in alike
        assert lots == []
    else:
        assert alike.startswith("all groups have the same bias: if")
        assert len(lots) == 1
    assert "no score negative, and never lowers a score as a share grows" in never_falls


def test_the_dialogue_names_the_unit_that_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    _, asked = answered(monkeypatch, STORY_TYPED)
    assert [text for text in asked if text.startswith("How many interviews (2000;")]
    assert [text for text in asked if "after 100 interviews" in text]


@pytest.mark.parametrize(
    ("weeks", "words"),
    [(365.25 / 7.0, "1 year"), (2 * 365.25 / 7.0, "2 years"), (50.0, "50 weeks"), (1.0, "1 week")],
)
def test_a_year_stays_a_year(weeks: float, words: str, real: Plan) -> None:
    given = replace(STORY, pace=STORY.horizon / weeks)
    assert f"2,000 interviews in {words}, " in tell_situation(given, for_a_year=False)
