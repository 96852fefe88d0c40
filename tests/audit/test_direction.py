"""Marks of which the lowest is the best: 1 in schools of many countries, the rank in a contest."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from affinity_bandits.audit import Audit, audit_scores, score_log
from affinity_bandits.audit.result import to_json
from affinity_bandits.audit.sentences import tell
from tests.audit.logs import Columns, draw, draw_columns


def marks(columns: Columns) -> Columns:
    """Return the same judgments as marks from 20, the worst, to 0, the best."""
    return columns | {"score": [20.0 - score for score in columns["score"]]}


def conclude(columns: Columns, scale: tuple[float, float]) -> Audit:
    return audit_scores(score_log(**columns, scale=scale), draws=20)


def test_marks_tell_the_same_as_points() -> None:
    """Planted: judges give their own group a mark that is better by 1.0."""
    columns = draw_columns(600, favor=1.0)
    points, found = conclude(columns, (0, 20)), conclude(marks(columns), (20, 0))
    assert found.word == "shown"
    assert points.favor is not None
    assert found.favor is not None
    assert found.favor.low <= 1.0 <= found.favor.high
    np.testing.assert_allclose(list(asdict(found.favor).values()),
                               list(asdict(points.favor).values()), atol=0.01)  # fmt: skip
    for mark, point in zip(found.groups, points.groups, strict=True):
        assert mark.mean == pytest.approx(20.0 - point.mean)
        assert mark.own[1] == pytest.approx(20.0 - (point.own[1] or 0.0))
    assert found.deviation == pytest.approx(points.deviation)
    assert found.scale == (20.0, 0.0)


def test_the_wrong_direction_is_not_called_chance() -> None:
    """The same marks on a scale whose highest score is the best: own judges give less."""
    found = conclude(marks(draw_columns(600, favor=1.0)), (0, 20))
    assert found.favor is not None
    assert found.favor.high < 0.0
    assert found.word == "shown less"


def test_sentences_and_numbers_say_which_way_was_taken() -> None:
    columns = marks(draw_columns(600, favor=1.0))
    log = score_log(**columns, scale=(20, 0))
    story = tell(audit_scores(log, draws=20))
    assert story.heading == "Yes: judges score their own group 1.00 points better."
    assert "is between 0.81 and 1.20 points (95% interval)" in story.sentence
    assert story.direction == "The best score is 0, the worst 20."
    assert '"best_score": 0.0' in to_json(audit_scores(log, draws=20), log, source="x")
    ordinary = tell(conclude(draw_columns(600, favor=1.0), (0, 20)))
    assert ordinary.direction == "The best score is 20, the worst 0."
    assert ordinary.heading == "Yes: judges give their own group 1.00 points more."


def codes(columns: Columns, hired: Any, scale: tuple[float, float]) -> set[str]:
    log = score_log(**columns, hired=hired, scale=scale)
    return {caution.code for caution in audit_scores(log, draws=20).warnings}


def test_those_who_were_chosen_tell_which_end_is_the_best() -> None:
    columns = draw_columns(240)
    best = [score > 11.0 for score in columns["score"]]
    lots = np.random.default_rng(3).random(len(best)) < 0.3
    assert "chosen score less" not in codes(columns, best, (0, 20))
    assert "chosen score less" in codes(marks(columns), best, (0, 20))
    assert "chosen score less" not in codes(marks(columns), best, (20, 0))
    assert "chosen score less" not in codes(columns, lots, (0, 20))


def test_the_order_of_rows_changes_nothing_on_a_turned_scale() -> None:
    assert draw().scale == (0.0, 20.0)
    columns = marks(draw_columns(60))
    order = np.random.default_rng(1).permutation(len(columns["score"]))
    shuffled = {name: [values[row] for row in order] for name, values in columns.items()}
    assert conclude(columns, (20, 0)) == conclude(shuffled, (20, 0))
