"""Warnings of an audit: each is raised by one log and not by another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from affinity_bandits.audit import ScoreLog
from affinity_bandits.audit.log import UNKNOWN, score_log
from research.audit_worlds import WORLDS, draw_log
from tests.audit.logs import draw, draw_columns
from tests.audit.test_conclude import codes, conclude


def opposite(group: str, judge: int, judge_group: str, session: int) -> float:
    return (group == judge_group) * {"A": 2.0, "B": -2.0, "C": 0.0}[group]


def one_judge(group: str, judge: int, judge_group: str, session: int) -> float:
    return 6.0 * (group == judge_group and judge == 4)


def one_session(group: str, judge: int, judge_group: str, session: int) -> float:
    return 6.0 * (group == judge_group and session == 2)


def separate_times(log: ScoreLog) -> ScoreLog:
    """Group A comes in the first half of the sessions, the others in the second."""
    return log.keep((log.group == 0) == (log.session < 60))


def two_times(columns: dict[str, list[Any]]) -> ScoreLog:
    """Every candidate comes to two sessions with the same judges."""
    twice = {name: values * 2 for name, values in columns.items()}
    half = len(columns["session"])
    twice["session"] = [s + 100 * (n >= half) for n, s in enumerate(twice["session"])]
    return score_log(**twice, scale=(0.0, 20.0))


def no_judges_of_c(log: ScoreLog) -> ScoreLog:
    return log.keep(log.judge_group != 2)


def unknown_group(log: ScoreLog) -> ScoreLog:
    return replace(log, judge_group=np.where(log.judge == 0, UNKNOWN, log.judge_group))


def mostly_one_group(log: ScoreLog) -> ScoreLog:
    """In all sessions but five, judges of one group only."""
    return log.keep((log.session < 5) | (log.judge_group == log.session % 3))


def sum_own(log: ScoreLog) -> str:
    return str(int(log.own.sum()))


PLAIN = draw()
CASES: dict[str, tuple[ScoreLog, str]] = {
    "few own scores": (draw(20), sum_own(draw(20))),
    "few judges": (PLAIN, "12"),
    "group without judges": (no_judges_of_c(draw(per=6)), "C"),
    "unknown judge groups": (unknown_group(PLAIN), f"{(PLAIN.judge == 0).mean():.1%}"),
    "end of the scale": (draw_log(WORLDS[17], 0), "B"),
    "repeated pairs": (two_times(draw_columns(120)), "50%"),
    "groups are sessions": (mostly_one_group(draw(per=9)), ""),
    "no rota": (draw_log(WORLDS[4], 1), ""),
    "drifting strictness": (draw_log(replace(WORLDS[35], group_drift=2.0), 0), "A"),
    "distant sessions": (separate_times(draw(day=2)), ""),
    "opposite groups": (draw(effect=opposite), "B"),
    "one judge": (draw(effect=one_judge), "j04"),
    "one session": (draw(effect=one_session), "2"),
}


@pytest.mark.parametrize("code", CASES)
def test_a_warning_names_what_it_is_about(code: str) -> None:
    log, detail = CASES[code]
    found = codes(conclude(log))
    assert code in found
    assert not detail or found[code] == detail


def test_an_ordinary_log_raises_no_warning() -> None:
    assert codes(conclude(draw(judges=18))) == {}
    assert codes(conclude(draw(judges=18, favor=1.0))) == {}
