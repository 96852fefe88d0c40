"""How much speaks against each group: in words, as a picture, and by whom it is said."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from affinity_bandits.policies import Evidence, HandicapElimination
from affinity_bandits.service.core.records import Campaign
from affinity_bandits.service.ui.evidence import (
    MOST_GROUPS,
    UNSAID,
    Row,
    evidence_of,
    evidence_view,
)
from affinity_bandits.service.ui.view import view_of
from affinity_bandits.service.ui.wording import odds

from .played_campaigns import LISTED, answers_of, played, told

STRANGERS = HandicapElimination(bounded=True, levels=2, failure=0.05, judges="strangers")


def rows_of(campaign: Campaign, evidence: Evidence) -> dict[str, Row]:
    view = evidence_view(campaign, evidence, range(len(campaign.spec.arms)))
    assert view.rows is not None
    return {row.name: row for row in view.rows.rows}


def filled(row: Row) -> tuple[str, float]:
    """The class of a bar's filled part, and the part; none if nothing is filled."""
    bars = ET.fromstring(row.picture).findall("rect")
    if len(bars) == 1:
        return "", 0.0
    return bars[1].attrib["class"], float(bars[1].attrib["width"].rstrip("%")) / 100


def test_odds_are_said_in_words_and_drawn_on_a_logarithmic_scale() -> None:
    campaign, _ = played(LISTED, "ABCDE", [0.5] * 5, rounds=2)
    campaign = replace(campaign, active=(0, 1, 2, 3))
    logs = (math.log(1.3), math.log(7.391), -3.0, None, math.log(431.0))
    evidence = Evidence(logs, math.log(400.0), leader=0, meaning="Odds are odds.")
    rows = rows_of(campaign, evidence)
    assert {name: row.words for name, row in rows.items()} == {
        "A": "leads; 1.3 to 1 against",
        "B": "7.3 to 1 against",
        "C": "nothing against it",
        "D": "not known",
        "E": "dropped at 431 to 1",
    }
    assert filled(rows["B"]) == (
        "odds-in",
        pytest.approx(math.log(7.391) / math.log(400), abs=1e-3),
    )
    assert filled(rows["C"]) == filled(rows["D"]) == ("", 0.0)
    assert filled(rows["E"]) == ("odds-out", 1.0)
    view = evidence_view(campaign, evidence, range(5))
    assert view.sentences == ["A group is dropped at 400 to 1 against it.", "Odds are odds."]
    ticks = [float(one.attrib["x1"].rstrip("%")) for one in ET.fromstring(rows["B"].picture)[2:]]
    assert ticks == pytest.approx([100 * math.log(n) / math.log(400) for n in (10, 100)], abs=0.1)


@pytest.mark.slow
def test_what_a_page_shows_is_the_wealth_that_decides() -> None:
    """Odds of a group are below what is needed until it is dropped, and not afterwards."""
    seen = set()
    for rounds in range(1, 60, 3):
        campaign, closed = played(STRANGERS, "ABC", [0.9, 0.5, 0.1], rounds=rounds)
        evidence = evidence_of(campaign)
        assert evidence is not None
        assert evidence.needed == pytest.approx(math.log(20.0))
        for arm, against in enumerate(evidence.against):
            assert against is not None
            assert (against >= evidence.needed) == (arm not in campaign.active)
        assert evidence.leader == 0
        view = view_of(campaign, closed, answers_of(campaign, closed)).evidence
        assert view.sentences[0] == "A group is dropped at 20 to 1 against it."
        assert view.rows is not None
        words = {row.name: row.words for row in view.rows.rows}
        seen.add(words["A"].partition(";")[0])
        for arm, name in enumerate("ABC"):
            assert words[name].startswith("dropped at ") == (arm not in campaign.active)
            assert "20 to 1" not in words[name] or arm not in campaign.active
    assert seen == {"leads", "recommended"}


def test_a_drop_is_told_with_its_odds() -> None:
    campaign, rounds = played(STRANGERS, "ABC", [0.8, 0.6, 0.2])
    evidence = evidence_of(campaign)
    assert evidence is not None
    number = next(one.number for one in rounds if 2 in one.dropped)
    assert evidence.against[2] is not None
    assert f"than chance explains ({odds(evidence.against[2])} against), so C was dropped." in told(
        campaign, rounds, number
    )


def test_a_policy_that_says_nothing_is_shown_without_numbers() -> None:
    campaign, rounds = played(LISTED, "AB", [0.1, 0.9])
    view = view_of(campaign, rounds, answers_of(campaign, rounds)).evidence
    assert (view.sentences, view.rows, view.scale) == ([UNSAID], None, None)
    # Nor is anything said where the state cannot be read.
    lost, rounds = played(STRANGERS, "ABC", [0.8, 0.6, 0.2])
    lost = replace(lost, saved=None)
    assert view_of(lost, rounds, answers_of(lost, rounds)).evidence.sentences == [UNSAID]


def test_many_groups_are_not_all_drawn() -> None:
    names = [f"g{i}" for i in range(MOST_GROUPS + 3)]
    campaign, rounds = played(STRANGERS, names, [0.5] * len(names), rounds=2)
    view = view_of(campaign, rounds, answers_of(campaign, rounds)).evidence
    assert view.rows is not None
    assert (len(view.rows.rows), view.rows.more) == (MOST_GROUPS, 3)


@pytest.mark.parametrize(
    ("log_odds", "down", "up"),
    [
        (math.log(1.0 / 0.05), "20 to 1", "20 to 1"),
        (math.log(1.0 / 0.03), "33 to 1", "34 to 1"),
        (math.log(1e3), "1,000 to 1", "1,000 to 1"),
        (math.log(1e6), "1 million to 1", "1 million to 1"),
        (math.log(9.99), "9.9 to 1", "10 to 1"),
        (690.0, "10^299 to 1", "10^300 to 1"),
    ],
)
def test_odds_are_rounded_so_that_they_do_not_seem_to_reach_what_they_do_not(
    log_odds: float, down: str, up: str
) -> None:
    assert (odds(log_odds), odds(log_odds, up=True)) == (down, up)
