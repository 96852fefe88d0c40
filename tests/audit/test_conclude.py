"""Verdicts, what is missing for them, and warnings: each raised by one log and not by another."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from affinity_bandits.audit import Audit, ScoreLog, audit_scores
from affinity_bandits.audit.differences import find_differences
from affinity_bandits.audit.evidence import THRESHOLD, log_evidence
from affinity_bandits.audit.log import UNKNOWN, average_groups, score_log
from research.audit_worlds import WORLDS, draw_log
from tests.audit.logs import draw, draw_columns


def conclude(log: ScoreLog, **settings: Any) -> Audit:
    return audit_scores(log, draws=20, **settings)


def codes(audit: Audit) -> dict[str, str]:
    return {caution.code: caution.detail for caution in audit.warnings}


def without_names(log: ScoreLog) -> ScoreLog:
    return replace(log, judge=np.full_like(log.judge, UNKNOWN), judges=())


def test_a_favor_is_shown_with_its_size() -> None:
    audit = conclude(draw(600, favor=1.0))
    assert audit.word == "shown"
    assert audit.missing == ()
    assert audit.assumptions == ("steady judges",)
    assert audit.favor is not None
    assert 0.0 < audit.favor.low < 1.0 < audit.favor.high < 1.6
    assert audit.log_evidence >= THRESHOLD
    assert audit.p_value <= 0.04
    assert [group.name for group in audit.groups] == ["A", "B", "C"]
    for group in audit.groups:
        assert group.favor is not None
        assert group.favor.low <= 1.0 <= group.favor.high
        assert group.own[0] + group.other[0] == group.scores
    assert audit.scores == 1_800
    assert (audit.candidates, audit.judges, audit.sessions) == (600, 12, 50)


def test_a_group_with_few_scores_has_no_favor_of_its_own() -> None:
    log = draw(600, favor=1.0)
    few = conclude(log.keep((log.group != 2) | (log.session < 1)))
    assert [group.favor is not None for group in few.groups] == [True, True, False]


def test_no_favor_is_not_seen_if_a_favor_would_have_been() -> None:
    audit = conclude(draw(600))
    assert (audit.word, audit.missing) == ("not seen", ())
    assert max(chance for _, chance in audit.power) >= 0.8
    assert audit.favor is not None
    assert audit.favor.low < 0.0 < audit.favor.high


def test_columns_in_another_order_give_the_same_audit() -> None:
    columns = draw_columns(80, favor=0.5)
    order = np.random.default_rng(2).permutation(len(columns["score"]))
    shuffled = {name: [values[row] for row in order] for name, values in columns.items()}
    # New names in the same alphabetical order change nothing either.
    shuffled["judge"] = [f"judge {name}" for name in shuffled["judge"]]
    first = conclude(score_log(**columns, scale=(0.0, 20.0)))
    assert first == conclude(score_log(**shuffled, scale=(0.0, 20.0)))


def only_one_kind(log: ScoreLog) -> ScoreLog:
    return log.keep(log.own)


def by_group_sessions(log: ScoreLog) -> ScoreLog:
    return log.keep(log.judge_group == log.session % 3)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (replace(draw(60), judge_group=np.full(180, UNKNOWN, np.int32)), "no judge groups"),
        (
            without_names(replace(draw(60), judge_group=np.full(180, UNKNOWN, np.int32))),
            "no judges",
        ),
        (draw(200, per=1), "one judge each"),
        (only_one_kind(draw(200, per=9)), "never both"),
        (by_group_sessions(draw(300, per=9)), "groups are sessions"),
        (draw(20), "too little"),
    ],
)
def test_a_log_that_cannot_tell_says_why(log: ScoreLog, reason: str) -> None:
    audit = conclude(log)
    assert (audit.word, audit.missing) == ("cannot tell", (reason,))
    assert sum(group.scores for group in audit.groups) == len(log)
    assert audit.deviation >= 0.0


@pytest.mark.parametrize(
    ("log", "missing"),
    [
        (without_names(draw(600, favor=1.0)), ("judge ids",)),
        (draw(600, favor=1.0, judges=4, groups="AB"), ("judges",)),
        (draw(150, favor=0.5, seed=1), ("evidence",)),
        (draw_log(WORLDS[16], 0), ("scale",)),
    ],
)
def test_an_indication_says_what_is_missing(log: ScoreLog, missing: tuple[str, ...]) -> None:
    audit = conclude(log)
    assert (audit.word, audit.missing) == ("indicated", missing)
    assert math.isnan(audit.p_value) == ("judge ids" in missing)
    assert (audit.favor is None) == ("scale" in missing)


def test_one_judge_per_candidate_can_tell_only_by_lot() -> None:
    log = draw(2_000, per=1, favor=2.0)
    assert conclude(log).word == "cannot tell"
    audit = conclude(log, by_lot=True)
    assert (audit.word, audit.basis, audit.assumptions) == ("shown", "lots", ("lots",))


def test_judges_sent_to_their_own_are_compared_one_by_one() -> None:
    """World 5: lenient judges see their own group. Means of groups take that for favor."""
    log = draw_log(WORLDS[4], 0)
    assert log_evidence(find_differences(average_groups(log))) >= THRESHOLD
    audit = conclude(log)
    assert audit.basis == "same judges"
    assert "no rota" in codes(audit)
    assert audit.word != "shown"


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, 8, 16, 37, 41, 44])
def test_worlds_without_favor_are_not_called_shown(number: int) -> None:
    """At most 5%: of 15 logs, more than 4 have probability 0.0006."""
    world = WORLDS[number - 1]
    assert world.number == number
    shown = 0
    for log_number in range(15):
        shown += conclude(draw_log(world, log_number)).word == "shown"
    assert shown <= 4


@pytest.mark.slow
def test_groups_at_an_end_need_evidence_that_strictness_cannot_give() -> None:
    """A lenient group, and others near the best score, where strictness counts less; no favor.

    The evidence above zero in every group is what is missing for "shown", although judges disagree
    about evenly in most of these logs: 17 of 20 have an interval, and 9 of 20 were "shown" when
    only uneven disagreement asked for that evidence.
    """
    world = replace(
        WORLDS[0], level=3.2, group_quality=(0.0, 1.9, 1.9), group_strictness=(0.8, 0.0, 0.0),
        day=10, error=0.4,
    )  # fmt: skip
    audits = [conclude(draw_log(world, number)) for number in range(8)]
    assert all("end of the scale" in codes(audit) for audit in audits)
    assert not any(audit.word == "shown" for audit in audits)
    assert sum("scale" in audit.missing for audit in audits) >= 2
    assert sum(audit.favor is not None for audit in audits) >= 5
