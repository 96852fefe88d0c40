"""Gaps and odds in words: with as many digits as they need."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.policies import Evidence
from affinity_bandits_service.ui.view import Row
from affinity_bandits_service.ui.wording import gap_in_words
from packages.service.tests.ui.test_evidence import rows_of

from .played_campaigns import LISTED, change, make_arm, played


@given(best=st.floats(0, 1), share=st.floats(0, 1), tolerance=st.sampled_from([0.5, 0.25, 2**-7]))
def test_the_numbers_of_a_gap_do_not_contradict_each_other(
    best: float, share: float, tolerance: float
) -> None:
    own = best * share
    top, low, gap, _ = gap_in_words(best, own, tolerance, 2)
    if len(gap) < len("0.0000"):  # the last resort of four digits may still be off by one
        assert math.isclose(float(top) - float(low), float(gap), abs_tol=1e-9)
        assert (float(gap) > tolerance) == (best - own > tolerance)


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
