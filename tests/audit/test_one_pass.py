"""One pass over rows in parts finds what the functions for a log in memory find, bit by bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import (
    DecisionLog,
    OnePass,
    Rows,
    Summary,
    better,
    decision_log,
    pair_table_of,
    panels_at_random,
    panels_on_record,
    summary_of,
    summary_of_log,
    table_of,
)
from affinity_bandits.audit.comparison import RATIOS, ComparisonBets, Comparisons
from affinity_bandits.audit.one_pass import rows_of
from affinity_bandits.audit.overview import MOST_MOMENTS
from affinity_bandits.audit.table import bin_of
from affinity_bandits.bias import InGroupBonus
from affinity_bandits.errors import InvalidInput

MEANS = (0.4, 0.6, 0.5, 0.3, 0.7, 0.45, 0.5, 0.5, 0.6, 0.2)


def made(groups: int, rows: int, *, seats: int = 0, seed: int = 1, fine: bool = False) -> Any:
    """A log whose moments have several rows, of whom some are chosen."""
    world = World("softmax", MEANS[:groups], (9,) * groups, rows, bias=InGroupBonus(0.5))
    log = drawn(world._replace(seats=seats), seed)
    rng = np.random.default_rng(seed)
    panels = {"panel": log.panel, "drawn_from": log.drawn_from} if seats else {}
    return decision_log(
        log.group,
        rng.random(rows) if fine else log.score,
        initial={name: 1 + 3 * name for name in range(groups)},
        moment=np.sort(rng.integers(0, rows // 3 + 1, rows)),
        chosen=rng.random(rows) < 0.4,
        **panels,
    )


def cut(log: DecisionLog, rng: np.random.Generator) -> Iterator[Rows]:
    """The rows of a log, in parts of any length, some of them empty."""
    whole = rows_of(log)
    edges = np.sort(rng.integers(0, len(log) + 1, rng.integers(0, 9)))
    for start, stop in zip([0, *edges], [*edges, len(log)], strict=True):
        yield Rows(*(None if column is None else column[start:stop] for column in whole))


def assert_same(one: Any, other: Any) -> None:
    """Check that two values, or all that is in them, have the same bits."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, strict=True)
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for part, twin in zip(one, other, strict=True):
            assert_same(part, twin)
    else:
        assert one == other


def initial_of(log: DecisionLog) -> dict[str, int]:
    return dict(zip(log.groups, log.initial.tolist(), strict=True))


LOGS = {
    "two groups": {"groups": 2, "rows": 3_000},
    "panels": {"groups": 3, "rows": 2_000, "seats": 5},
    "any score": {"groups": 2, "rows": 1_500, "fine": True},
    "many groups": {"groups": 10, "rows": 4_000},
    "a few rows": {"groups": 2, "rows": 3},
}


@pytest.mark.parametrize("name", LOGS)
def test_it_is_the_same_however_rows_are_cut(name: str) -> None:
    log = made(**LOGS[name])
    whole = summary_of_log(log)
    rng = np.random.default_rng(4)
    for _ in range(12):
        assert_same(summary_of(cut(log, rng), initial_of(log)), whole)


@pytest.mark.parametrize("name", LOGS)
def test_it_is_what_each_function_finds(name: str) -> None:
    log = made(**LOGS[name])
    whole = summary_of_log(log)
    assert whole.rows == len(log)
    assert_same(whole.table, table_of(log))
    assert_same(whole.pair_table, pair_table_of(log))
    assert_same(whole.at_random, None if log.panel is None else panels_at_random(log))
    assert_same(whole.on_record, None if log.panel is None else panels_on_record(log))
    for group, than in whole.better.pairs[:3]:
        for ratio in RATIOS.tolist():
            found = better(log, log.groups[group], log.groups[than], ratio)
            assert whole.better.at(group, than, ratio) == found


def test_it_is_the_same_beyond_the_rows_that_are_looked_at_first() -> None:
    rng = np.random.default_rng(8)
    rows = 130_000
    score = np.where(np.arange(rows) < 110_000, 0.5, 0.3)  # comes too late to be a node
    log = decision_log(rng.integers(0, 2, rows), score, initial={0: 3, 1: 5})
    whole = summary_of_log(log)
    assert whole.table.nodes.tolist() == [0.0, 0.5, 1.0]
    assert_same(whole.table, table_of(log))
    np.testing.assert_allclose(whole.table.counts @ whole.table.nodes, _sums(whole, log))
    for _ in range(3):
        assert_same(summary_of(cut(log, rng), initial_of(log)), whole)


def _sums(whole: Summary, log: DecisionLog) -> list[float]:
    """The sum of the scores of each cell, counted slowly."""
    table = whole.table
    blocks = np.searchsorted(table.edges, np.arange(len(log)), side="right") - 1
    places = zip(table.group.tolist(), table.block.tolist(), table.bin.tolist(), strict=True)
    sums = dict.fromkeys(places, 0.0)
    rows = zip(log.group.tolist(), blocks.tolist(), log.share.tolist(), log.score, strict=True)
    for group, block, share, score in rows:
        sums[group, block, bin_of(share)] += score
    return list(sums.values())


def test_nodes_that_are_known_are_those_that_are_counted() -> None:
    log = made(2, 500)
    found = summary_of([rows_of(log)], initial_of(log), nodes=np.linspace(0, 1, 9))
    assert len(found.table.nodes) == len(found.pair_table.nodes) == 9
    assert found.table.counts.sum() == 500


def test_the_course_is_that_of_a_slow_count() -> None:
    log = made(3, 5_000)
    course = summary_of_log(log).shares_over_time
    assert len(course.rows) == len(course.shares) <= MOST_MOMENTS + 1
    assert course.rows[-1] == 5_000
    steps = np.diff(course.rows[:-1])
    assert (steps == 16).all()  # 5,000 rows, of which every 16th is the first to be below 400
    for row, shares in zip(course.rows[:-1], course.shares[:-1], strict=True):
        seated = log.group[: log.before[row]][log.chosen[: log.before[row]]]
        members = log.initial + np.bincount(seated, minlength=3)
        np.testing.assert_array_equal(shares, members / members.sum())
    members = log.initial + np.bincount(log.group[log.chosen], minlength=3)
    np.testing.assert_array_equal(course.shares[-1], members / members.sum())


def test_the_tally_is_that_of_a_slow_count() -> None:
    log = made(3, 700)
    tally = summary_of_log(log).tally
    for group in range(3):
        own = log.group == group
        assert tally.rows[group] == own.sum()
        assert tally.chosen[group] == log.chosen[own].sum()
        assert tally.mean[group] == pytest.approx(log.score[own].mean())


def test_of_many_groups_those_with_most_rows_are_compared() -> None:
    log = made(10, 4_000)
    counts = np.bincount(log.group, minlength=10)
    compared = {group for pair in summary_of_log(log).better.pairs for group in pair}
    assert compared == set(np.argsort(-counts, kind="stable")[:8].tolist())


def test_products_of_many_factors_are_those_of_their_logarithms() -> None:
    # With a logarithm for each pair and with one for 64 the sums differ by rounding alone.
    log = made(2, 3_000)
    found = []
    for held in (1, 7, 64):
        bets = ComparisonBets(log.initial, [(0, 1), (1, 0)], RATIOS, panels=False)
        bets._most_held = held
        bets.add(log.group, log.score, log.chosen, log.opens, log.share)
        found.append(bets.evidence())
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)
    np.testing.assert_allclose(found[2], found[0], atol=1e-9)


def test_a_limit_is_the_last_ratio_before_the_first_that_fails() -> None:
    ratios = np.array([0.5, 1.0, 2.0])
    pairs = [(0, 1), (1, 0), (0, 2), (2, 0)]
    log_e = np.array([[9.0, 5.0, 0.0], [0.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 9.0, 9.0]])
    found = Comparisons(ratios, pairs, log_e)
    assert [found.at_least(*pair) for pair in pairs] == [1.0, None, 0.5, 2.0]
    assert found.at_least(0, 1, enough=6.0) == 0.5


@pytest.mark.slow
def test_limits_are_seldom_above_the_truth() -> None:
    # A limit is wrong with probability at most 1/20, so one of the two of a log with at most 1/10,
    # and 14 or more of 60 logs have a wrong one with at most P(Bin(60, 1/10) >= 14) < 0.003.
    wrong = 0
    for seed in range(60):
        world = World("softmax", (0.4, 0.6), (20, 20), 2_000, bias=InGroupBonus(0.5))
        found = summary_of_log(drawn(world, seed)).better
        limits = found.at_least(1, 0), found.at_least(0, 1)
        truths = 1.5, 1.0 / 1.5
        wrong += any(
            limit is not None and limit > truth for limit, truth in zip(limits, truths, strict=True)
        )
    assert wrong < 14


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (Rows(np.array([0, 2]), np.array([0.0, 1.0])), "^group must be numbers from 0 to 1"),
        (Rows(np.array([0, -1]), np.array([0.0, 1.0])), "^group must be numbers from 0 to 1"),
        (Rows(np.array([0, 1]), np.array([0.0, 1.1])), "^score must be numbers from 0 to 1"),
        (Rows(np.array([0, 1]), np.array([0.0, math.nan])), "^score must be numbers from 0"),
        (Rows(np.array([0, 1]), np.array([0.0])), "^score must be a column of 2 rows"),
        (
            Rows(np.array([0]), np.array([0.0]), drawn_from=np.array([0.5])),
            "^drawn_from must be left out unless panels",
        ),
    ],
)
def test_what_would_make_a_kernel_write_elsewhere_is_refused(rows: Rows, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        OnePass({"a": 1, "b": 1}).add(rows)


def test_panels_are_in_all_parts_or_in_none() -> None:
    made = OnePass({"a": 1, "b": 1})
    one, half = np.array([0]), np.array([0.5])
    made.add(Rows(one, half))
    with pytest.raises(InvalidInput, match=r"^panel must be given in all rows or in none"):
        made.add(Rows(one, half, panel=half))


def test_no_rows_have_no_summary() -> None:
    with pytest.raises(InvalidInput, match=r"^rows must be at least one"):
        OnePass({"a": 1, "b": 1}).finish()
