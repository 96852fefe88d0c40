"""An export has every answer of a trail, in its order, and sums to what verify recomputes."""

from __future__ import annotations

import re
import tracemalloc
from collections import Counter, defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from affinity_bandits.base import tables
from affinity_bandits.base.errors import NotSupported
from affinity_bandits.base.tables import TableFile
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core.judging import JudgeCounts
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.store.connection import sql, transaction
from affinity_bandits_service.trail.export import export
from tests.support.one_campaign import LEASE_SECONDS, ONE, OneCampaign

from .exported import Row, a_busy_campaign, change, create, written
from .test_verify import PANEL, name

NAMES = ("referrals", "open call", "agency", "fair", "web")
LITTLE = 12 * 2**20  # bytes; 50,000 rows that are held do not fit
ENDINGS = pytest.mark.parametrize("ending", ["csv", "parquet"])


@pytest.mark.slow
async def test_rows_are_the_answers_of_the_trail_and_sum_to_what_was_counted(
    one: OneCampaign, tmp_path: Path
) -> None:
    await a_busy_campaign(one, NAMES)
    closed = await one.pool.fetch(
        "SELECT number, unnest(arms), unnest(sums) FROM affinity.rounds"
        " WHERE campaign = $1 AND closed_at IS NOT NULL",
        one.id,
    )
    counted = {(number, NAMES[arm]): Decimal(total) / ONE for number, arm, total in closed}
    rounds = {number for number, _ in counted}
    assert len(rounds) > 2
    query = (
        "SELECT number, counted, late, duplicate FROM affinity.events"
        " WHERE campaign = $1 AND kind = 'tell' ORDER BY number"
    )
    tells = [tuple(row) for row in await one.pool.fetch(query, one.id)]
    for ending, yes in (("csv", "yes"), ("parquet", True)):
        (tmp_path / ending).mkdir()
        rows = await written(one, tmp_path / ending / f"t.{ending}")
        kinds = Counter((row["outcome"], row["total"] == yes) for row in rows)
        # Counted and late, of answers and of totals, and duplicates that came with new answers.
        assert len(kinds) == 5
        assert min(kinds.values()) > 10
        assert all((row["counted"] == yes) == (row["outcome"] == "counted") for row in rows)
        assert_in_order(rows, tells)
        sums: dict[tuple[int, str], Decimal] = defaultdict(Decimal)
        for row in rows:
            if row["counted"] == yes and int(row["round"]) in rounds:
                sums[int(row["round"]), row["group"]] += Decimal(row["sum"])
        assert sums == counted


def assert_in_order(rows: list[Row], tells: list[tuple[int, ...]]) -> None:
    """Every answer is a row, but for tells of duplicates alone; they come as the events do."""
    tells = [one for one in tells if one[1] + one[2] > 0]
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


async def test_a_late_answer_is_of_its_own_round_and_group_and_not_counted(
    one: OneCampaign, tmp_path: Path
) -> None:
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


@ENDINGS
async def test_a_total_is_one_row_a_score_with_its_exact_sum(
    one: OneCampaign, tmp_path: Path, ending: str
) -> None:
    one.id = await one.create(ExploreThenCommit(3), 100)
    lease = await one.ask(6)
    await one.tell(lease, {(0, 0.333333333): 3})
    (row,) = await written(one, tmp_path / f"t.{ending}")
    found = (row["group"], str(row["slot"] or ""), str(row["answers"]), row["total"])
    assert found == ("a", "", "3", "yes" if ending == "csv" else True)
    assert Decimal(row["score"]) == Decimal("0.333333333")
    assert Decimal(row["sum"]) == Decimal("0.999999999")
    one.wait(LEASE_SECONDS)
    again = await one.ask(6)  # those that no total stands for
    assert [slot for slot, _ in again.slots] == [1, 3, 5]
    (tmp_path / f"t.{ending}").unlink()
    await one.tell(again, {(1, 0.5): 2, (1, 1.0): 1})  # one row for each score
    rows = await written(one, tmp_path / f"t.{ending}")
    found = [(row["group"], int(row["answers"]), Decimal(row["score"])) for row in rows[1:]]
    assert found == [("b", 2, Decimal("0.5")), ("b", 1, 1)]


@ENDINGS
async def test_who_judged_each_round_and_who_rated(
    one: OneCampaign, tmp_path: Path, ending: str
) -> None:
    one.id = await one.create(PANEL, 1000, committee=(5, 3))
    for number, judges in enumerate([JudgeCounts((2, 2), 3), JudgeCounts((0, 1), 0)]):
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


async def test_values_have_types_and_what_nobody_told_is_empty(
    one: OneCampaign, tmp_path: Path
) -> None:
    one.id = await one.create(ExploreThenCommit(1), 100, lowest=-1, highest=1)
    assert await written(one, tmp_path / "t.csv") == []
    (tmp_path / "t.csv").unlink()
    assert await written(one, tmp_path / "t.parquet") == []
    (tmp_path / "t.parquet").unlink()
    await one.tell(await one.ask(1), {0: -0.5})
    (row,) = await written(one, tmp_path / "t.csv")
    assert row["score"] == "-0.5"
    empty = [column for column, value in row.items() if value == ""]
    assert empty == [
        *("rater", "rater group", "outsiders", "a judges", "b judges"),
        *("a initial members", "b initial members"),
    ]
    (tmp_path / "t.csv").unlink()
    (row,) = await written(one, tmp_path / "t.parquet")
    assert row["time"] == datetime(2030, 1, 1, tzinfo=UTC)
    assert (row["score"], row["counted"], row["total"]) == (Decimal("-0.5"), True, False)
    assert (row["rater"], row["a judges"]) == (None, None)


HOSTILE = ("=1+1", "'=1+1", '+"a",b', "-2;=cmd|' /C calc'!A0", "@sum(a)", "ü, \uff1d1|@x")


async def test_names_that_a_spreadsheet_would_compute_are_harmless_in_csv(
    one: OneCampaign, tmp_path: Path
) -> None:
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


def given_back(text: str) -> str:
    return re.sub("(^|[,;|\t\r\n])'", r"\1", text)


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
async def test_a_trail_that_contradicts_itself_is_not_exported(
    one: OneCampaign, tmp_path: Path, statement: str, said: str
) -> None:
    one.id = await one.create(ExploreThenCommit(2), 100)
    await one.tell(await one.ask(4), {0: 0, 1: 1, 2: 1})
    await change(one, statement)
    with pytest.raises(NotSupported, match=f"event 3 contradicts .*{said}"):
        await export(one.pool, one.id, TableFile("out", tmp_path / "t.csv"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("query", ["stored_events", "events_to_export", "events_to_archive"])
async def test_a_page_reads_its_own_part_of_the_trail(one: OneCampaign, query: str) -> None:
    """Whatever the planner knows of the tables: a thousand events, and a page of the last few."""
    one.id = await one.create(ExploreThenCommit(1000), 10_000)
    await one.pool.execute(
        "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, chain)"
        " SELECT $1, n, now(), 'stop', 't', 0, '' FROM generate_series(2, 1000) AS n",
        one.id,
    )
    text = getattr(sql, query)
    for cost in (1e-3, 1e6):
        async with transaction(one.pool) as db:
            await db.execute(f"SET LOCAL random_page_cost = {cost}; SET LOCAL enable_seqscan = off")
            plan = await db.fetch(f"EXPLAIN (ANALYZE, TIMING off) {text}", one.id, 990, 20)
        read = [int(rows) for line in plan for rows in re.findall(r"actual rows=(\d+)", line[0])]
        assert 10 <= max(read) <= 20, plan


@pytest.mark.slow
async def test_a_long_trail_needs_little_memory(
    one: OneCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.id = await one.create(ExploreThenCommit(50_000), 10**6)
    # Written as they would be, and not told: that takes longer than all else here.
    await one.pool.execute(
        "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, slots, chain)"
        " SELECT $1, 2 * n + 2, now(), 'ask', 't', 0,"
        " int8multirange(int8range(n * 1000, n * 1000 + 1000)), sha256('')"
        " FROM generate_series(0, 49) AS n",
        one.id,
    )
    await one.pool.execute(
        "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, lease, told,"
        " units, counted, late, duplicate, chain)"
        " SELECT $1, 2 * n + 3, now(), 'tell', 't', 0, 2 * n + 2, t.slots, t.units,"
        " 1000, 0, 0, sha256('') FROM generate_series(0, 49) AS n,"
        " LATERAL (SELECT array_agg(s) AS slots,"
        " array_agg(s * 7) AS units FROM generate_series(n * 1000, n * 1000 + 999) AS s) AS t",
        one.id,
    )
    grown = {}
    tracemalloc.start()
    for file, cells in (("t.csv", 20_000), ("t.parquet", 20_000), ("held.csv", 10**9)):
        monkeypatch.setattr(tables, "CELLS_AT_ONCE", cells)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        assert await export(one.pool, one.id, TableFile("out", tmp_path / file)) == 50_000
        grown[file] = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert max(grown["t.csv"], grown["t.parquet"]) < LITTLE < grown["held.csv"], grown
