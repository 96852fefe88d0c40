"""How much speaks against each group: in words, as a picture, and by whom it is said."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest

from affinity_bandits.policies import Evidence, RecusalElimination
from affinity_bandits.service.core.spec import CampaignRecord
from affinity_bandits.service.ui.view import Row, evidence_of, evidence_rows, view_of
from affinity_bandits.service.ui.wording import odds

from .played_campaigns import LISTED, change, make_arm, played, told

RECUSED = RecusalElimination(bounded=True, failure=0.05)


def rows_of(campaign: CampaignRecord, evidence: Evidence) -> dict[str, Row]:
    return {row.name: row for row in evidence_rows(campaign, evidence, campaign.names).rows}


def filled(row: Row) -> tuple[str, float]:
    """The class of a bar's filled part, and the part; none if nothing is filled."""
    bars = ET.fromstring(row.picture).findall("rect")
    if len(bars) == 1:
        return "", 0.0
    return bars[1].attrib["class"], float(bars[1].attrib["width"].rstrip("%")) / 100


def test_odds_are_said_in_words_and_drawn_on_a_logarithmic_scale() -> None:
    campaign, _ = played(LISTED, "ABCDE", [0.5] * 5, rounds=2)
    campaign = change(campaign, arms=tuple(make_arm(name, name != "E", 0) for name in "ABCDE"))
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
    ticks = [float(one.attrib["x1"].rstrip("%")) for one in ET.fromstring(rows["B"].picture)[2:]]
    assert ticks == pytest.approx([100 * math.log(n) / math.log(400) for n in (10, 100)], abs=0.1)


@pytest.mark.slow
def test_what_a_page_shows_is_the_wealth_that_decides() -> None:
    """Odds of a group are below what is needed until it is dropped, and not afterwards."""
    seen = set()
    for rounds in range(1, 60, 3):
        campaign, _ = played(RECUSED, "ABC", [0.9, 0.5, 0.1], rounds=rounds)
        evidence = evidence_of(campaign)
        assert evidence is not None
        assert evidence.needed == pytest.approx(math.log(20.0))
        assert evidence.leader == 0
        words = {name: row.words for name, row in rows_of(campaign, evidence).items()}
        seen.add(words["A"].partition(";")[0])
        for name, against in zip("ABC", evidence.against, strict=True):
            assert against is not None
            assert (against >= evidence.needed) == (name not in campaign.active)
            assert words[name].startswith("dropped at ") == (name not in campaign.active)
    assert seen == {"leads", "recommended"}


def test_a_drop_is_told_with_its_odds() -> None:
    campaign, rounds = played(RECUSED, "ABC", [0.8, 0.6, 0.2])
    evidence = evidence_of(campaign)
    assert evidence is not None
    number = next(one.number for one in rounds if "C" in one.dropped)
    assert evidence.against[2] is not None
    assert f"than chance explains ({odds(evidence.against[2])} against), so C was dropped." in told(
        campaign, rounds, number
    )


def test_a_policy_that_says_nothing_is_shown_without_numbers() -> None:
    campaign, _ = played(LISTED, "AB", [0.1, 0.9])
    assert evidence_of(campaign) is None
    # Nor is anything said where the state cannot be read.
    lost, rounds = played(RECUSED, "ABC", [0.8, 0.6, 0.2])
    assert view_of(change(lost, saved=None), rounds).evidence_rows is None
