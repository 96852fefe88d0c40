"""Four verdicts: which one, and that none claims more than its evidence."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import mean_ratios, summary_of_log
from affinity_bandits.audit.conclude import conclude, weakest
from affinity_bandits.audit.conclusions import LIMITS, Conclusion, conclusion
from affinity_bandits.audit.result import Assumed, Seen, as_json, read_audit
from affinity_bandits.bias import InGroupBonus
from affinity_bandits.errors import InvalidInput
from tests.audit_report.examples import ALIKE, DRIFTS, NOTHING, STEADY, example

NOT_SHOWN = replace(NOTHING, odds=3.0, shown=False)
BLIND = (Seen(0.5, 0.05, (0.0, 0.2), math.inf), Seen(1.0, 0.3, (0.2, 0.5), math.inf))
SHARP = (Seen(0.5, 0.4, (0.3, 0.6), 2.0), Seen(1.0, 0.9, (0.8, 1.0), 1.0))


def found(
    assumed: list[Assumed], indicated: float = 1.0, power: tuple[Seen, ...] = BLIND
) -> Conclusion:
    return conclusion(assumed, indicated, power, DRIFTS, None)


def test_the_widest_assumption_that_shows_it_is_named() -> None:
    says = found([NOTHING, STEADY, ALIKE])
    assert says.word == "shown"
    assert STEADY.words in says.sentence
    assert any("fall by 12%" in one for one in says.because)


def test_what_is_only_indicated_is_not_shown() -> None:
    says = found([NOT_SHOWN], indicated=25.0)
    assert says.word == "indicated"
    assert "not proven" in says.sentence


def test_not_seen_says_what_would_have_been_seen() -> None:
    says = found([NOT_SHOWN], power=SHARP)
    assert says.word == "not seen"
    assert "100%" in says.sentence
    assert any("no proof that there is none" in one for one in says.because)


def test_a_log_that_sees_nothing_cannot_tell() -> None:
    says = found([NOT_SHOWN])
    assert says.word == "cannot tell"
    assert any("would not help" in one for one in says.because)
    assert any("drawn at random" in one for one in says.record)


def test_a_score_in_proportion_to_the_share_is_no_reason_to_say_not_seen() -> None:
    """It is the strongest bias there is: whoever sees only that has seen nothing."""
    only = (Seen(1.0, 0.1, (0.0, 0.2), None), Seen(math.inf, 1.0, (0.9, 1.0), 1.0))
    assert found([NOT_SHOWN], power=only).word == "cannot tell"


def test_the_limits_are_said() -> None:
    assert any("one group alone" in limit for limit in LIMITS)
    assert any("law" in limit for limit in LIMITS)


def test_of_several_committees_the_weakest_answer_counts() -> None:
    strong = example()
    weak = replace(example(), word="cannot tell", bonus=(0.0, 2.0))
    merged = weakest([strong, weak, strong])
    assert merged.word == "cannot tell"
    assert merged.committees == 3
    assert merged.bonus == (0.0, math.inf)
    assert weakest([strong]) == strong


def test_a_committee_that_leaves_no_bonus_possible_does_not_rule_out_those_of_others() -> None:
    none, some = replace(example(), bonus=None), replace(example(), bonus=(0.1, 0.4))
    assert weakest([none, some]).bonus == (0.1, 0.4)
    assert weakest([none, none]).bonus is None


def test_a_ratio_that_one_committee_leaves_open_is_open() -> None:
    known = example()
    unknown = replace(known, compared=tuple(replace(one, ratio=None) for one in known.compared))
    assert all(one.ratio is None for one in weakest([known, unknown]).compared)


@pytest.mark.slow
def test_of_two_statements_on_the_same_groups_both_share_one_chance() -> None:
    """What is said of two groups is what each statement says at half of the level."""
    world = World("round-robin", (0.4, 0.6), (20, 20), 2_000, bias=InGroupBonus(0.5), seats=5)
    summary = summary_of_log(drawn(world, 3))
    (one,) = conclude(summary, panels="random").compared
    numbers = [summary.groups.index(name) for name in (one.group, one.than)]
    assert one.at_least == summary.better.at_least(*numbers, math.log(2 / 0.025))
    sets = {(found.group, found.than): found for found in mean_ratios(summary.table, 0.025) or ()}
    own = sets[numbers[0], numbers[1]]
    assert one.ratio == (own.low, own.high)
    at_whole = {(found.group, found.than): found for found in mean_ratios(summary.table) or ()}
    assert own.low < at_whole[numbers[0], numbers[1]].low  # or nobody could tell them apart


def test_json_is_read_back(tmp_path: Path) -> None:
    place = tmp_path / "audit.json"
    place.write_text(as_json(example()), encoding="utf-8")
    says = read_audit(place)
    assert says["bonus"] == [0.4, math.inf]
    assert [group["members"] for group in says["groups"]] == [600, 600, 600]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("{", "affinity audit --json"),
        ("[]", "affinity audit --json"),
        ('{"format": "something else"}', "affinity audit --json"),
        (json.dumps({"format": "affinity audit", "format_version": 0}), "make it again"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    place = tmp_path / "audit.json"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=rule):
        read_audit(place)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is there"):
        read_audit(tmp_path / "none.json")
