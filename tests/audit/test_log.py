"""The log of an audit: built from columns in any order, with errors that name the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affinity_bandits.audit.log import (
    BLOCK,
    COLUMNS,
    UNKNOWN,
    Coded,
    average_groups,
    build_log,
    pool_singles,
    score_log,
)
from affinity_bandits.base.errors import InvalidInput
from tests.audit.logs import draw, draw_columns

SCALE = (0.0, 20.0)


def test_the_order_of_rows_does_not_matter() -> None:
    columns = draw_columns(60, per=2)
    columns["judge"][1] = columns["judge"][0]  # one judge scores a candidate twice
    columns["judge_group"][1] = columns["judge_group"][0]
    order = np.random.default_rng(1).permutation(len(columns["score"]))
    shuffled = {name: [values[row] for row in order] for name, values in columns.items()}
    first, second = score_log(**columns, scale=SCALE), score_log(**shuffled, scale=SCALE)
    assert len(first) == len(columns["score"]) - 1
    for name in COLUMNS:
        assert (getattr(first, name) == getattr(second, name)).all(), name


def test_labels_may_be_given_as_numbers_with_names_in_any_order() -> None:
    log = build_log(
        Coded(np.array([1, 1, 0]), ["p2", "p1"]),
        Coded(np.array([0, 0, 1]), ["B", "A"]),
        np.array([1.0, 2.0, 3.0]),
        scale=(1.0, 5.0),
        judge=Coded(np.array([1, 0, 0]), ["x", "y"]),
        judge_group=Coded(np.array([0, UNKNOWN, 1]), ["C", "A"]),
        session=Coded(np.array([0, 0, 1]), ["10", "9"]),
        hired=np.array([False, True, False]),
    )
    assert log.groups == ("A", "B", "C")
    assert log.sessions == ("9", "10")  # as numbers
    assert log.group.tolist() == [0, 1, 1]
    # The group of judge x is known from another row.
    assert log.judge_group.tolist() == [0, 0, 2]
    assert log.score.tolist() == [0.5, 0.25, 0.0]
    assert log.hired is not None
    assert log.hired.tolist() == [False, True]


@pytest.mark.parametrize(
    ("change", "parameter", "rule"),
    [
        ({"scale": (5, 5)}, "scale", "the worst and the best score"),
        ({"score": [1.0, 6.0]}, "score", "between 1 and 5 (row 2)"),
        ({"score": [1.0, float("nan")]}, "score", "between 1 and 5 (row 2)"),
        ({"score": []}, "score", "at least one row"),
        ({"judge": ["x"]}, "judge", "one value per score, 2 in all"),
        ({"hired": [True]}, "hired", "one value per score, 2 in all"),
        ({"group": ["A", None]}, "group", "must not be empty (row 2)"),
        ({"group": ["A", "B"]}, "group", "p has A, B"),
        ({"judge": ["x", "x"], "judge_group": ["A", "B"]}, "judge_group", "x has A, B"),
    ],
)
def test_errors_name_the_column_and_the_rule(
    change: dict[str, Any], parameter: str, rule: str
) -> None:
    given = {"candidate": ["p", "p"], "group": ["A", "A"], "score": [1.0, 2.0], "scale": (1, 5)}
    with pytest.raises(InvalidInput) as caught:
        score_log(**{**given, **change})
    assert caught.value.parameter == parameter
    assert rule in str(caught.value)


def test_means_of_a_groups_judges_keep_the_sum_of_scores() -> None:
    log = draw(60, per=5)
    means = average_groups(log)
    assert (np.bincount(means.performance, means.score * means.count)) == pytest.approx(
        np.bincount(log.performance, log.score)
    )
    assert len(np.unique(means.performance * 3 + means.judge_group)) == len(means)


def test_single_candidates_are_pooled_within_a_group_in_the_order_of_sessions() -> None:
    log = draw(300, per=1, day=1)
    pooled = pool_singles(log)
    assert pooled.count.sum() == len(log)
    assert np.bincount(pooled.performance, pooled.count).max() == BLOCK
    assert (np.diff(pooled.session) >= 0).all()
    group = np.full(pooled.performances, -1)
    group[pooled.performance] = pooled.group
    assert (group[pooled.performance] == pooled.group).all()
    assert pooled.score @ pooled.count == pytest.approx(log.score.sum())


def test_some_rows_are_kept_with_performances_numbered_anew() -> None:
    log = draw(50)
    kept = log.keep(log.group != 0)
    assert np.unique(kept.performance).tolist() == list(range(kept.performances))
    assert kept.performances == len(np.unique(log.performance[log.group != 0]))
    assert log.keep(np.ones(len(log), dtype=bool)) is log
