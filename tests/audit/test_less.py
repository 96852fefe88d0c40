"""Judges who give their own group less: a verdict of its own, with the error control of "shown"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from affinity_bandits.audit import Audit, ScoreLog, audit_scores
from affinity_bandits.audit.evidence import THRESHOLD
from affinity_bandits.audit.sentences import METHOD, tell
from tests.audit.logs import draw


def conclude(log: ScoreLog, **settings: Any) -> Audit:
    return audit_scores(log, draws=10, **settings)


def test_a_favor_below_0_is_a_verdict() -> None:
    audit = conclude(draw(600, favor=-1.0))
    assert (audit.word, audit.missing) == ("shown less", ())
    assert audit.log_evidence >= THRESHOLD
    assert audit.p_value <= 0.04
    assert audit.favor is not None
    assert audit.favor.low <= -1.0 <= audit.favor.high < -0.5
    for group in audit.groups:
        assert group.favor is not None
        assert group.favor.low <= -1.0 <= group.favor.high
        assert (group.own[1] or 0.0) < (group.other[1] or 0.0)


def test_it_is_the_verdict_on_the_same_scores_turned_round() -> None:
    """The null hypothesis does not change if all scores are turned round, so neither do errors."""
    for seed in range(4):
        log = draw(240, favor=0.6, seed=seed)
        up, down = conclude(log), conclude(replace(log, score=1.0 - log.score))
        assert up.word in ("shown", "indicated")
        assert down.word == f"{up.word} less"
        assert down.missing == up.missing
        assert down.p_value == up.p_value
        assert down.log_evidence == pytest.approx(up.log_evidence)
        assert up.favor is not None
        assert down.favor is not None
        turned = (down.favor.points, down.favor.low, down.favor.high)
        expected = (-up.favor.points, -up.favor.high, -up.favor.low)
        assert turned == pytest.approx(expected, abs=1e-9)


def test_the_story_says_less_and_how_much() -> None:
    story = tell(conclude(draw(600, favor=-1.0)))
    assert story.heading == "No, the opposite: judges give their own group 1.00 points less."
    assert "same candidates is between 0." in story.sentence
    assert "may be chance" not in story.sentence
    assert not any("affinity plan" in step for step in story.steps)
    assert "at most 1 in 20 with the opposite" in METHOD
    assert story.explanations[0].startswith("Direction: the audit was told that 20 is the best")


def test_an_indication_below_0_says_what_is_missing() -> None:
    audit = conclude(draw(150, favor=-0.5, seed=1))
    assert (audit.word, audit.missing) == ("indicated less", ("evidence",))
    heading = "Perhaps the opposite: judges seem to give their own group 0."
    assert tell(audit).heading.startswith(heading)


@pytest.mark.slow
def test_each_direction_keeps_its_level_where_there_is_no_favor() -> None:
    """Each of "shown" and "shown less" has probability at most 0.05 without favor.

    Of 120 logs more than 15 have a word with probability 3e-4 if the word has probability 0.05
    (binomial), and more than 23 have either word with 8e-4 if both together have 0.1. With favors
    of +1 and -1, each word appears: a test that never says "less" would keep its level as well.
    """
    words = [conclude(draw(90, seed=100 + seed)).word for seed in range(120)]
    up, down = words.count("shown"), words.count("shown less")
    assert up <= 15
    assert down <= 15
    assert up + down <= 23
    planted = {
        f: [conclude(draw(240, favor=f, seed=s)).word for s in range(5)] for f in (1.0, -1.0)
    }
    assert planted == {1.0: ["shown"] * 5, -1.0: ["shown less"] * 5}


@pytest.mark.slow
def test_a_wrong_direction_is_hardly_ever_claimed() -> None:
    words = [conclude(draw(150, favor=0.8, seed=300 + seed)).word for seed in range(30)]
    assert words.count("shown less") <= 6  # more have probability 6e-4 if it has 0.05
    assert words.count("shown") > 0


def own_is_five(group: str, judge: int, judge_group: str, session: int) -> float:
    return 1000.0 if group == judge_group == "B" else 0.0


def test_own_scores_that_are_all_the_same_are_named() -> None:
    found = {one.code: one.detail for one in conclude(draw(effect=own_is_five)).warnings}
    assert found["one own value"] == "B (20)"
    assert "one own value" not in {one.code for one in conclude(draw()).warnings}


def test_a_few_equal_own_scores_are_not_named() -> None:
    log = draw(effect=own_is_five)
    rows = np.flatnonzero(log.own & (log.group == 1))
    few = log.keep(~np.isin(np.arange(len(log)), rows[4:]))
    assert "one own value" not in {one.code for one in conclude(few).warnings}


def test_the_log_is_not_changed_by_the_audit() -> None:
    log = draw(60, favor=-1.0)
    before = log.score.copy()
    conclude(log)
    assert (log.score == before).all()
