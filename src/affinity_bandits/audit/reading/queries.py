"""Logs that a PostgreSQL query returns, read through a cursor in a transaction that cannot write.

The database is talked to in a thread of its own, so that a notebook, which has an event loop
already, can do this as well, and rows are fetched while earlier ones are counted.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from affinity_bandits.audit.reading.files import first_line
from affinity_bandits.audit.reading.places import named
from affinity_bandits.errors import AffinityError, InvalidInput

ROWS_AT_ONCE = 1 << 14
CONNECT_SECONDS = 20.0
LEAVE_SECONDS = 5.0
_WHOLE = ("int2", "int4", "int8")
_NUMBERS = ("float4", "float8", "numeric")
_TEXTS = ("text", "varchar", "bpchar", "name", "uuid", "char")


class Query(NamedTuple):
    """A query, as the source of a log.

    Attributes:
        dsn: of the database, such as postgresql://host/database.
        select: the query.
    """

    dsn: str
    select: str


class QueryRows:
    """The rows that a query returns.

    Args:
        query: the query.

    Raises:
        InvalidInput: the database cannot be reached, or does not accept the query.
    """

    text = False
    is_file = False

    def __init__(self, query: Query) -> None:
        self._query = query
        self._kinds: dict[str, str] = {}
        self.names: list[str] = []
        for name, kind in next(_fetched(query, describe=True)):
            self.names.append(name)
            self._kinds[name] = kind

    def kind(self, column: str) -> Any:
        """Return the arrow type of a column; None if it has no such type."""
        import pyarrow as arrow

        kind = self._kinds[column]
        if kind in _WHOLE:
            return arrow.int64()
        if kind in _NUMBERS:
            return arrow.float64()
        if kind in _TEXTS:
            return arrow.string()
        others = {
            "bool": arrow.bool_(),
            "date": arrow.date32(),
            "timestamp": arrow.timestamp("us"),
            "timestamptz": arrow.timestamp("us", tz="UTC"),
        }
        return others.get(kind)

    def where(self, row: int) -> str:
        """Return where a row is, by its number from 0, in words."""
        return f"row {row + 1:,}"

    def batches(self, columns: list[str], few: Collection[str] = ()) -> Iterator[list[Any]]:
        """Yield some columns of some rows at a time, as arrow's arrays."""
        places = [self.names.index(column) for column in columns]
        kinds = [self.kind(column) for column in columns]
        for column, kind in zip(columns, kinds, strict=True):
            if kind is None:
                found = self._kinds[column]
                raise InvalidInput(column, "a column of plain values", found)
        empty = True
        for rows in _fetched(self._query):
            empty = False
            cells = list(zip(*rows, strict=True))
            yield [
                _array(column, cells[at], kind)
                for column, at, kind in zip(columns, places, kinds, strict=True)
            ]
        if empty:
            raise InvalidInput("query", "one that returns at least one row", "no rows")


def _array(column: str, cells: Any, kind: Any) -> Any:
    """Return a column as an arrow array."""
    import pyarrow as arrow
    from pyarrow import types

    try:
        if types.is_floating(kind):
            cells = [None if cell is None else float(cell) for cell in cells]
        elif types.is_string(kind):
            cells = [None if cell is None else _text(cell) for cell in cells]
        return arrow.array(cells, kind)
    except (arrow.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise InvalidInput(named(column), f"of the type {kind}", first_line(error)) from None


def _text(cell: Any) -> str:
    return cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)


def _fetched(query: Query, *, describe: bool = False) -> Iterator[Any]:
    """Yield some rows at a time; or, to describe them, the name and the kind of each column."""
    found: queue.Queue[Any] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def put(item: Any) -> bool:
        while not stopped.is_set():
            try:
                found.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            asyncio.run(_talk(query, describe, put))
            put(None)
        except AffinityError as error:
            put(error)
        except Exception as error:  # of whatever kind: it is told where it is waited for
            put(InvalidInput("query", "one that the database answers", first_line(error)))

    thread = threading.Thread(target=work, name="affinity-audit-query", daemon=True)
    thread.start()
    try:
        while (item := found.get()) is not None:
            if isinstance(item, AffinityError):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join(LEAVE_SECONDS)  # it may wait for a slow query that nobody waits for any more


async def _talk(query: Query, describe: bool, put: Any) -> None:
    """Send the query, and hand on what comes."""
    import asyncpg

    if not isinstance(query.select, str) or not query.select.strip():
        raise InvalidInput("query", "a SELECT", query.select)
    if not isinstance(query.dsn, str) or not query.dsn.strip():
        raise InvalidInput("dsn", "that of a database that can be reached", query.dsn)
    try:
        db = await asyncpg.connect(query.dsn, timeout=CONNECT_SECONDS)
    except Exception as error:  # of a name, a password, a network, a DSN: all kinds
        rule = "that of a database that can be reached"
        # What is said of a DSN that cannot be read may have a part of the password in it.
        told = isinstance(error, OSError | asyncpg.PostgresError)
        found = first_line(error) if told else "a DSN that cannot be read"
        raise InvalidInput("dsn", rule, found) from None
    try:
        async with db.transaction(readonly=True, isolation="repeatable_read"):
            statement = await db.prepare(query.select)
            about = statement.get_attributes()
            if not about:
                raise InvalidInput("query", "a SELECT, which returns columns", query.select)
            if statement.get_parameters():
                raise InvalidInput("query", "without parameters such as $1", query.select)
            if describe:
                put([(column.name, column.type.name) for column in about])
                return
            cursor = await statement.cursor()
            while rows := await cursor.fetch(ROWS_AT_ONCE):
                if not put(rows):
                    return
    except asyncpg.ReadOnlySQLTransactionError as error:
        raise InvalidInput("query", "one that only reads", first_line(error)) from None
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise InvalidInput("query", "one that the database accepts", first_line(error)) from None
    finally:
        await db.close(timeout=CONNECT_SECONDS)
