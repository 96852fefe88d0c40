"""An export has every answer of a trail, in its order, and sums to what verify recomputes."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.errors import NotSupported
from affinity_bandits.policies import ExploreThenCommit, HandicapElimination
from affinity_bandits.service.core.judging import Judges
from affinity_bandits.service.core.tells import SlotTell
from affinity_bandits.service.store.connection import transaction
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.trail.export import export
from affinity_bandits.service.trail.table_files import Target, harmless
from affinity_bandits.wire.values import new_key
from tests.support.one_campaign import LEASE_SECONDS, ONE, OneCampaign, opened

from .exported import Counted, Row, a_busy_campaign, create, replayed, written
from .test_judges_trail import PANEL, changed, name

NAMES = ("referrals", "open call", "agency", "fair", "web")
LITTLE = 12 * 2**20
"""Bytes; 10^5 answers that are held, of 200 or more each, do not fit."""
ENDINGS = pytest.mark.parametrize("ending", ["csv", "parquet"])


def on(dsn: str, test: Callable[[OneCampaign], Awaitable[None]]) -> None:
    async def run() -> None:
        async with opened(dsn) as one:
            await test(one)

    asyncio.run(run())


@pytest.mark.slow
def test_counted_rows_are_what_a_replay_counts_in_its_order(dsn: str, tmp_path: Path) -> None:
    async def test(one: OneCampaign) -> None:
        await a_busy_campaign(one, NAMES)
        replay = await replayed(one)
        assert len(replay.closed) >= 3
        query = (
            "SELECT number, counted, late, duplicate FROM affinity.events"
            " WHERE campaign = $1 AND kind = 'tell' ORDER BY number"
        )
        tells = [tuple(row) for row in await one.pool.fetch(query, one.id)]
        for ending, yes in (("csv", "yes"), ("parquet", True)):
            (tmp_path / ending).mkdir()
            rows = await written(one, tmp_path / ending / f"t.{ending}")
            kinds = Counter((row["outcome"], row["total"] == yes) for row in rows)
            assert len(kinds) == 6  # counted, late and duplicate, of answers and of totals
            assert min(kinds.values()) > 10
            assert all((row["counted"] == yes) == (row["outcome"] == "counted") for row in rows)
            assert_in_order(rows, tells)
            assert_as_replayed([row for row in rows if row["counted"] == yes], replay)

    on(dsn, test)


def assert_in_order(rows: list[Row], tells: list[tuple[int, ...]]) -> None:
    """Every answer that was told is a row, and they come as the events do."""
    assert [int(row["order"]) for row in rows] == list(range(1, len(rows) + 1))
    events = [int(row["event"]) for row in rows]
    assert events == sorted(events)
    told: Counter[tuple[int, str]] = Counter()
    for row in rows:
        told[int(row["event"]), row["outcome"]] += int(row["answers"])
    outcomes = ("counted", "late", "duplicate")
    assert tells == [
        (event, *(told[event, outcome] for outcome in outcomes)) for event, *_ in tells
    ]
    assert set(events) <= {event for event, *_ in tells}


def assert_as_replayed(rows: list[Row], replay: Counted) -> None:
    """Counted rows are the answers that a replay counts, and their sums those that it has."""
    assert [
        (int(row["event"]), int(row["round"]), row["group"], int(row["answers"]), in_units(row))
        for row in rows
    ] == [(event, at, NAMES[arm], *seen) for event, at, arm, *seen in replay.kept]
    sums: Counter[tuple[int, str]] = Counter()
    for row in rows:
        sums[int(row["round"]), row["group"]] += in_units(row)
    last = {"number": replay.number, "arms": replay.round.arms, "sums": replay.sums}
    recomputed = {
        (one["number"], NAMES[arm]): total
        for one in [*replay.closed, last]
        for arm, total in zip(one["arms"], one["sums"], strict=True)
    }
    assert sums == Counter(recomputed)


def in_units(row: Row) -> int:
    exact = Decimal(row["sum"]).scaleb(9)
    assert exact == int(exact)
    return int(exact)


def test_a_late_answer_is_of_its_own_round_and_group_and_not_counted(
    dsn: str, tmp_path: Path
) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(1), 100)
        first = await one.ask(2)
        one.wait(LEASE_SECONDS + 1)
        again = await one.ask(2)
        await one.tell(again, {0: 0, 1: 1})
        await one.tell(first, {1: 0.25})  # when b alone is left
        rows = await written(one, tmp_path / "t.csv")
        about = [
            (row["round"], row["slot"], row["group"], row["score"], row["counted"], row["outcome"])
            for row in rows
        ]
        assert about == [
            ("0", "0", "a", "0", "yes", "counted"),
            ("0", "1", "b", "1", "yes", "counted"),
            ("0", "1", "b", "0.25", "no", "late"),
        ]
        assert {row["time"] for row in rows} == {"2030-01-01T00:01:01.000000Z"}

    on(dsn, test)


@ENDINGS
def test_a_total_is_one_row_with_its_mean_and_its_exact_sum(
    dsn: str, tmp_path: Path, ending: str
) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(3), 100)
        lease = await one.ask(6)
        await one.tell(lease, {0: (3, 1.0), 1: (0, 0.0)})
        (row,) = await written(one, tmp_path / f"t.{ending}")
        found = (row["group"], str(row["slot"] or ""), str(row["answers"]), row["total"])
        assert found == ("a", "", "3", "yes" if ending == "csv" else True)
        assert Decimal(row["score"]) == Decimal("0.333333333")
        assert Decimal(row["sum"]) == 1
        one.wait(LEASE_SECONDS)
        again = await one.ask(6)  # those that no total stands for
        (tmp_path / f"t.{ending}").unlink()
        await one.tell(again, {slot: 1.0 for slot, _ in again.slots})
        rows = await written(one, tmp_path / f"t.{ending}")
        assert [(int(row["slot"]), row["group"]) for row in rows[1:]] == [
            *((1, "b"), (3, "b"), (5, "b"))
        ]

    on(dsn, test)


def test_scores_that_were_counted_are_a_row_each(dsn: str, tmp_path: Path) -> None:
    async def test(one: OneCampaign) -> None:
        policy = HandicapElimination(bounded=True, failure=0.3, levels=5)
        one.id = await one.create(policy.with_order_window(100), 1000)
        lease = await one.ask(6)
        await one.tell(lease, {(0, 0.5): 2, (0, 1.0): 1, (1, 0.25): 3})
        rows = await written(one, tmp_path / "t.csv")
        about = [(row["group"], row["answers"], row["score"], row["sum"]) for row in rows]
        assert about == [("a", "2", "0.5", "1"), ("a", "1", "1", "1"), ("b", "3", "0.25", "0.75")]

    on(dsn, test)


@ENDINGS
def test_who_judged_each_round_and_who_rated(dsn: str, tmp_path: Path, ending: str) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(PANEL, 1000, committee=(5, 3))
        for number, judges in enumerate([Judges((2, 2), 3), Judges((0, 1), 0)]):
            await name(one, judges, number)
            lease = await one.ask(100)
            slots = tuple(slot for slot, _ in lease.slots)
            raters = (("r1", 1), *((None, None) for _ in slots[1:]))
            units = tuple(ONE * (slot % 2) for slot in slots)
            await one.tell_all([SlotTell(lease.number, new_key(), "t", slots, units, raters)])
        rows = await written(one, tmp_path / f"t.{ending}")
        who = ("round", "outsiders", "a judges", "b judges", "a initial members")
        found = {tuple(int(row[column]) for column in who) for row in rows}
        assert found == {(0, 3, 2, 2, 5), (1, 0, 0, 1, 5)}
        raters = [(row["rater"], row["rater group"]) for row in rows if row["slot"] in (0, "0")]
        assert raters == [("r1", "b")] * 2
        assert not any(row["rater"] for row in rows if row["slot"] not in (0, "0"))

    on(dsn, test)


def test_where_nobody_is_told_who_judges_those_columns_are_empty(dsn: str, tmp_path: Path) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(1), 100)
        await one.tell(await one.ask(1), {0: 1})
        (row,) = await written(one, tmp_path / "t.csv")
        empty = [column for column, value in row.items() if value == ""]
        assert empty == [
            *("rater", "rater group", "outsiders", "a judges", "b judges"),
            *("a initial members", "b initial members"),
        ]

    on(dsn, test)


@ENDINGS
def test_a_campaign_without_answers_has_names_of_columns_alone(
    dsn: str, tmp_path: Path, ending: str
) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(1), 100)
        assert await written(one, tmp_path / f"t.{ending}") == []

    on(dsn, test)


HOSTILE = ("=1+1", "'=1+1", '+"a",b', "-2;=cmd|' /C calc'!A0", "@sum(a)", "ü, \uff1d1|@x")


def test_names_that_a_spreadsheet_would_compute_are_harmless_in_csv(
    dsn: str, tmp_path: Path
) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await create(one, HOSTILE, ExploreThenCommit(1), 100)
        lease = await one.ask(6)
        slots = tuple(range(6))
        raters = (("=r()", 0), ("-r", None), ("'r", None), *[(None, None)] * 3)
        await one.tell_all([SlotTell(lease.number, new_key(), "t", slots, (ONE,) * 6, raters)])
        rows = await written(one, tmp_path / "t.csv")
        assert [row["group"] for row in rows] == [
            *("'=1+1", "''=1+1", '\'+"a",b', "'-2;'=cmd|' /C calc'!A0".replace("|'", "|''")),
            *("'@sum(a)", "ü,' \uff1d1|'@x"),
        ]
        assert [given_back(row["group"]) for row in rows] == list(HOSTILE)
        assert [row["rater"] for row in rows] == ["'=r()", "'-r", "''r", "", "", ""]
        assert rows[0]["rater group"] == "'=1+1"
        assert "'=1+1 judges" in rows[0]
        (tmp_path / "t.csv").unlink()
        rows = await written(one, tmp_path / "t.parquet")  # nobody computes those: as they are
        assert [row["group"] for row in rows] == list(HOSTILE)
        assert "=1+1 judges" in rows[0]

    on(dsn, test)


def given_back(text: str) -> str:
    return re.sub("(^|[,;|\t\r\n])'", r"\1", text)


@pytest.mark.slow
@given(st.text("=+-@'\"a ,;|\t\n\uff1d", max_size=8))
def test_no_text_is_risky_once_it_is_harmless_and_none_is_lost(text: str) -> None:
    made = harmless(text)
    for cell in re.split("[,;|\t\r\n]", made):
        assert not re.match('[\\s"]*[=+\\-@\uff1d]', cell)
    assert given_back(made) == text


def test_a_negative_score_stays_a_number(dsn: str, tmp_path: Path) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(1), 100, lowest=-1, highest=1)
        await one.tell(await one.ask(1), {0: -0.5})
        (row,) = await written(one, tmp_path / "t.csv")
        assert row["score"] == "-0.5"

    on(dsn, test)


def test_parquet_has_types(dsn: str, tmp_path: Path) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(1), 100)
        await one.tell(await one.ask(1), {0: 0.1})
        (row,) = await written(one, tmp_path / "t.parquet")
        assert row["time"] == datetime(2030, 1, 1, tzinfo=UTC)
        assert (row["score"], row["counted"], row["total"]) == (Decimal("0.1"), True, False)
        assert (row["rater"], row["a judges"]) == (None, None)

    on(dsn, test)


@pytest.mark.as_owner
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE affinity.events SET counted = 2 WHERE campaign = $1 AND number = 3", "expected 3"),
        ("UPDATE affinity.events SET told[2] = 0 WHERE campaign = $1 AND number = 3", "expected 2"),
        ("DELETE FROM affinity.events WHERE campaign = $1 AND number = 2", "not on record"),
        ("UPDATE affinity.rounds SET arms = '{0,9}' WHERE campaign = $1", "does not have"),
        ("UPDATE affinity.events SET units = '{1}' WHERE campaign = $1 AND number = 3", "be read"),
    ],
)
def test_a_trail_that_contradicts_itself_is_not_exported(
    dsn: str, tmp_path: Path, statement: str, said: str
) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(2), 100)
        await one.tell(await one.ask(4), {0: 0, 1: 1, 2: 1})
        await changed(statement)(one)
        with pytest.raises(NotSupported, match=f"event 3 contradicts .*{said}"):
            await export(one.pool, one.id, Target(tmp_path / "t.csv"))
        assert list(tmp_path.iterdir()) == []

    on(dsn, test)


def test_it_reads_a_trail_in_the_order_of_its_index(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = await one.create(ExploreThenCommit(1), 100)
        async with transaction(one.pool) as db:
            # Whatever the planner knows of the tables by now, it would rather sort.
            await db.execute("SET LOCAL random_page_cost = 1e6")
            for sorted_first in (True, False):
                if not sorted_first:
                    await db.execute(sql.without_sorting)
                lines = await db.fetch(f"EXPLAIN {sql.tells_to_export}", one.id)
                assert any("Sort" in line[0] for line in lines) == sorted_first

    on(dsn, test)


@pytest.mark.slow
def test_a_long_trail_needs_little_memory(dsn: str, tmp_path: Path) -> None:
    async def test(one: OneCampaign) -> None:
        one.id = short = await one.create(ExploreThenCommit(1), 100)
        await one.tell(await one.ask(1), {0: 1})
        one.id = await one.create(ExploreThenCommit(50_000), 10**6)
        # Written as they would be, and not told: that takes longer than all else here.
        await one.pool.execute(
            "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, slots, chain)"
            " VALUES ($1, 2, now(), 'ask', 't', 0, '{[0, 100000)}', sha256(''))",
            one.id,
        )
        await one.pool.execute(
            "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, lease, told,"
            " units, counted, late, duplicate, chain)"
            " SELECT $1, n + 3, now(), 'tell', 't', 0, 2, t.slots, t.units, 1000, 0, 0, sha256('')"
            " FROM generate_series(0, 99) AS n, LATERAL (SELECT array_agg(s) AS slots,"
            " array_agg(s * 7) AS units FROM generate_series(n * 1000, n * 1000 + 999) AS s) AS t",
            one.id,
        )
        child = [sys.executable, "-m", "tests.service.trail.exporting_child"]
        told = [*child, dsn, str(short), str(one.id), str(tmp_path)]
        done = subprocess.run(told, capture_output=True, text=True, check=True, timeout=120)
        as_csv, as_parquet, held = map(int, done.stdout.split())
        assert max(as_csv, as_parquet) < LITTLE < held

    on(dsn, test)
    assert (tmp_path / "long.csv").read_bytes().count(b"\n") == 100_001
