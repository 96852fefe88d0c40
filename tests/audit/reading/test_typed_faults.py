"""Ways to get a Parquet file or a query wrong, and what is said."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import pyarrow as arrow
import pytest

from affinity_bandits.audit.reading import Query, read_log
from affinity_bandits.errors import InvalidInput
from tests.audit.reading.files import SETTINGS, as_parquet, consumed, opened, written

GOOD: dict[str, Any] = {
    "time": [1, 2, 3],
    "group": ["own", "other", "own"],
    "score": [5, 3, 4],
}
LATER = dt.datetime(2025, 3, 31, 12)

FAULTS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no rows": (
        {
            "time": arrow.array([], arrow.int64()),
            "group": arrow.array([], arrow.string()),
            "score": arrow.array([], arrow.int64()),
        },
        {},
        r"^file log.parquet must be a table of at least one row, got 'no rows'$",
    ),
    "a missing column": (
        {"group": None},
        {},
        r"^group must be one of the columns time, score, got",
    ),
    "an unknown group": (
        {"group": ["own", "x", "own"]},
        {},
        r"^group in row 2 must be one of othe",
    ),
    "a group that is empty": (
        {"group": ["own", None, "own"]},
        {},
        r"^group in row 2 must be given",
    ),
    "a column of nothing": ({"score": [None] * 3}, {}, r"^score in row 1 must be given, got None$"),
    "a score that is empty": (
        {"score": [5, 3, None]},
        {},
        r"^score in row 3 must be given, got Non",
    ),
    "a score off the scale": ({"score": [5, 3, 6]}, {}, r"^score in row 3 must be .*, got 6$"),
    "nan": (
        {"score": [5, np.nan, 4]},
        {},
        r"^score in row 2 must be a number from 1 to 5, got nan$",
    ),
    "inf": (
        {"score": [5, 4, np.inf]},
        {},
        r"^score in row 3 must be a number from 1 to 5, got inf$",
    ),
    "a decimal off the scale": (
        {"score": [Decimal("5.1"), Decimal(3), Decimal(4)]},
        {},
        r"^score in row 1 must be a number from 1 to 5, got Decimal\('5.1'\)$",
    ),
    "text scores": (
        {"score": ["5", "3", "4"]},
        {},
        r"^score must be a column of numbers, got 'stri",
    ),
    "true for a score": ({"score": [True, True, False]}, {}, r"^score must be a column of numbers"),
    "groups in parts": (
        {"group": [0.5, 1.5, 2.5]},
        {},
        r"^group must be a column of texts or whole",
    ),
    "a nested score": (
        {"score": [[5], [3], [4]]},
        {},
        r"^score must be a column of plain values, got 'list<",
    ),
    "a struct of groups": (
        {"group": [{"a": 1}] * 3},
        {},
        r"^group must be a column of plain values, got 'struct<",
    ),
    "bytes of groups": (
        {"group": [b"own", b"other", b"own"]},
        {},
        r"^group must be a column of text",
    ),
    "a time that falls": ({"time": [1, 3, 2]}, {}, r"^time in row 3 must be not before .* got 2$"),
    "a timestamp that falls": (
        {"time": [LATER, LATER, LATER - dt.timedelta(seconds=1)]},
        {},
        r"^time in row 3 must be not before .* got datetime.datetime\(2025, 3, 31, 11, 59, 59\)$",
    ),
    "a time of day": (
        {"time": [dt.time(1), dt.time(2), dt.time(3)]},
        {},
        r"^time must be a number, or an ISO date or timestamp .*, got 'time64\[us\]'$",
    ),
    "a time that is nan": (
        {"time": [1.0, np.nan, 2.0]},
        {},
        r"^time in row 2 must be a number, or",
    ),
    "a text that is no time": (
        {"time": ["a", "b", "c"]},
        {},
        r"^time in row 1 must be a number, or",
    ),
    "chosen is 2": ({"chosen": [1, 0, 2]}, {}, r"^chosen in row 3 must be yes or no .*, got 2$"),
    "chosen is a number": (
        {"chosen": [1.0, 0.0, 1.0]},
        {},
        r"^chosen must be a column of texts or",
    ),
    "an id twice": (
        {"id": [4, 9, 4]},
        {},
        r"^id in row 3 must be another .*, got 'that of row 1'$",
    ),
    "one group only": ({"group": ["own"] * 3}, {}, r"^column group must be of at least two groups"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_with_a_parquet_file_is_said(tmp_path: Path, name: str) -> None:
    columns, changes, message = FAULTS[name]
    kept = {name: values for name, values in {**GOOD, **columns}.items() if values is not None}
    with pytest.raises(InvalidInput, match=message) as caught:
        consumed(as_parquet(tmp_path, kept), **changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cut", [5, 200, -1, -20])
def test_a_part_of_a_parquet_file_is_refused(tmp_path: Path, cut: int) -> None:
    content = as_parquet(tmp_path, GOOD).read_bytes()
    with pytest.raises(InvalidInput, match=r"^file cut.parquet must be a Parquet file that can be"):
        consumed(written(tmp_path, content[:cut], "cut.parquet"))


def test_another_file_under_that_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"^file log.parquet must be a Parquet file .* 'something"
    ):
        opened(written(tmp_path, "time,group,score\n1,own,5\n", "log.parquet"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_many_rows_of_one_group_are_refused_before_they_are_counted(
    tmp_path: Path, kind: str
) -> None:
    rows = 1_000_000
    if kind == "parquet":
        columns = {"group": ["own"] * rows, "score": np.ones(rows), "time": np.arange(rows)}
        path = as_parquet(tmp_path, columns)
    else:
        path = written(tmp_path, "time,group,score\n" + "1,own,5\n" * rows)
    reader = opened(path)
    start = time.process_time()
    with pytest.raises(InvalidInput, match=r"^column group must be of at least two groups"):
        next(iter(reader))
    assert time.process_time() - start < 1.0


ROWS = "SELECT * FROM (VALUES (1, 'own', 5.0), (2, 'other', 3), (3, 'own', 4)) t (time, groups, s)"
QUERIES: dict[str, tuple[str, str]] = {
    "nothing": (" ", r"^query must be a SELECT, got ' '$"),
    "no SQL": ("SELEC 1", r"^query must be one that the database accepts, got .*syntax error"),
    "no such table": (
        "SELECT * FROM nowhere",
        r"^query must be one that the database accepts, got",
    ),
    "no rows": (f"{ROWS} WHERE false", r"^query must be one that returns at least one row, got"),
    "a query that writes": (
        "WITH a AS (INSERT INTO audited VALUES (1, 'own', 5) RETURNING *) SELECT * FROM a",
        r"^query must be one that only reads, got 'cannot execute .* in a read-only trans",
    ),
    "a function that writes": (
        "SELECT nextval('audited_number') AS time, 'own' AS groups, 5 AS s",
        r"^query must be one that only reads, got 'cannot execute nextval\(\)",
    ),
    "no query at all": (
        "DROP TABLE audited",
        r"^query must be a SELECT, which returns columns, got",
    ),
    "two queries": (f"{ROWS}; {ROWS}", r"^query must be one that the database accepts, got"),
    "a parameter": (f"{ROWS} WHERE time < $1", r"^query must be without parameters such as \$1"),
    "a column twice": (
        "SELECT 1 AS time, 'own' AS groups, 5 AS s, 4 AS s",
        r"^column s must be in the file once, got 'twice'$",
    ),
    "no such column": (
        "SELECT 1 AS time, 5 AS s",
        r"^group must be one of the columns time, s, got",
    ),
    "a column of arrays": (
        "SELECT 1 AS time, ARRAY['own'] AS groups, 5 AS s",
        r"^groups must be a column of plain values, got",
    ),
    "an empty cell": (
        "SELECT 1 AS time, 'own' AS groups, NULL::int AS s",
        r"^s in row 1 must be given, got None$",
    ),
    "a score off the scale": (
        "SELECT 1 AS time, 'own' AS groups, 7.5 AS s",
        r"^s in row 1 must be a number from 1 to 5, got 7.5$",
    ),
    "nan": (
        "SELECT 1 AS time, 'own' AS groups, 'NaN'::numeric AS s",
        r"^s in row 1 must be a number",
    ),
    "it fails later": (
        "SELECT n AS time, 'own' AS groups, 5 / (40000 - n) AS s FROM generate_series(1, 50000) n",
        r"^(query must be one that the database accepts, got 'division by zero'|s in row)",
    ),
}
COLUMNS = {"group": "groups", "score": "s"}


@pytest.fixture
def audited(dsn: str) -> str:
    """A database with a table to write to."""

    async def make() -> None:
        db = await asyncpg.connect(dsn)
        await db.execute(
            "CREATE TABLE IF NOT EXISTS audited (time int, groups text, s int);"
            "CREATE SEQUENCE IF NOT EXISTS audited_number"
        )
        await db.close()

    asyncio.run(make())
    return dsn


@pytest.mark.parametrize("name", QUERIES)
def test_what_is_wrong_with_a_query_is_said(audited: str, name: str) -> None:
    select, message = QUERIES[name]
    with pytest.raises(InvalidInput, match=message) as caught:
        consumed(Query(audited, select), **COLUMNS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://127.0.0.1:1/nowhere",
        "postgresql://who:secret@127.0.0.1:1/x",
        "secret",
        "postgresql://[secret",
        "",
        "mysql://secret@host/db",
        "postgresql://who:secret/x@127.0.0.1/y",  # what follows the colon is taken for a port
        "postgresql://127.0.0.1/x?sslmode=secret",
    ],
)
def test_a_database_that_is_not_there_is_said_without_its_password(dsn: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"^dsn must be that of a database that can be reached"
    ) as c:
        read_log(Query(dsn, ROWS), **SETTINGS)
    assert "secret" not in str(c.value)


def test_rows_of_a_query_are_read(audited: str) -> None:
    reader = opened(Query(audited, ROWS), **COLUMNS)
    (rows,) = list(reader)
    assert rows.group.tolist() == [0, 1, 0]
    assert rows.score.tolist() == [1.0, 0.5, 0.75]


def test_all_types_of_a_query_are_read(audited: str) -> None:
    moments = ["n", "n::float8", "n::numeric", "date '2025-01-01' + n", "n::text"]
    moments += [
        f"{kind} '2025-01-01' + n * interval '1 s'" for kind in ("timestamp", "timestamptz")
    ]
    found = []
    for moment in moments:
        select = (
            f"SELECT {moment} AS time, (ARRAY['own', 'other'])[1 + n % 2]::varchar AS source,"
            " (1 + n % 5)::smallint AS stars, n % 3 = 0 AS hired FROM generate_series(0, 9) n"
        )
        reader = opened(Query(audited, select))
        (rows,) = list(reader)
        found.append(json.dumps([None if c is None else c.tolist() for c in rows]))
        assert reader.nodes is not None
    assert len(set(found)) == 1


@pytest.mark.slow
def test_a_query_is_read_in_a_notebook_too_and_may_be_left_in_the_middle(audited: str) -> None:
    select = "SELECT n AS time, 'own' AS groups, 5 AS s FROM generate_series(1, 100000) n"

    async def cell() -> None:
        rows = iter(opened(Query(audited, select), **COLUMNS))
        next(rows)
        rows.close()  # type: ignore[attr-defined]

    asyncio.run(cell())
