"""Tables as people keep them: CSV, spreadsheets, Parquet and PostgreSQL, read once."""

from __future__ import annotations

import asyncio
import codecs
import csv
import io
import math
import re
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from affinity_bandits.audit.columns import count_roles
from affinity_bandits.audit.log import UNKNOWN, Coded
from affinity_bandits.errors import InvalidInput, need, shown

DELIMITERS = ",;\t|"
SAMPLE = 1 << 16
"""Characters that the delimiter and the header are guessed from."""
HEADER_WITHIN = 30
"""Rows that titles may take up before the header."""
OTHER_FILES = {
    b"\x1f\x8b": "a compressed file; unpack it first",
    b"\x28\xb5\x2f\xfd": "a compressed file; unpack it first",
    b"%PDF": "a PDF; export the table as .csv or .xlsx",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"SQLite format": "a database; export the table as .csv",
}
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
WHOLE = re.compile(r"\s+")


@dataclass(frozen=True)
class Table:
    """A table whose columns are read on demand, each as numbers of its distinct values.

    Attributes:
        source: its name for readers, such as the name of the file.
        names: of the columns.
        load: returns the values of the column at an index, as they are in the file.
        rows: the number that the file itself gives each row; None if they count from 1.
        notes: changes made to read it.
        problems: the reasons why it is unreadable.
    """

    source: str
    names: list[str]
    load: Callable[[int], tuple[npt.NDArray[np.int32], Sequence[Any]]]
    rows: npt.NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def values(self, name: str) -> tuple[npt.NDArray[np.int32], list[Any]]:
        """Return a column: for each row the number of its value, and the distinct values."""
        codes, found = self.load(self.names.index(name))
        return codes, [None if is_empty(value) else value for value in found]

    def labels(self, name: str) -> Coded:
        """Return a column of labels, stripped of spaces; `UNKNOWN` for empty cells."""
        codes, found = self.values(name)
        numbers: dict[str, int] = {}
        place = np.full(len(found) + 1, UNKNOWN, dtype=np.int32)  # the last: rows without a value
        for number, value in enumerate(found):
            if value is not None:
                place[number] = numbers.setdefault(label(value), len(numbers))
        return Coded(place[codes], list(numbers))

    def row_number(self, row: int) -> int:
        """Return the number of a row in the file."""
        return row + 1 if self.rows is None else int(self.rows[row])


def is_empty(value: Any) -> bool:
    """Return whether a cell is empty."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def label(value: Any) -> str:
    """Return a cell as a label: whole numbers as digits alone, dates as 2026-11-18."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date):
        return value.isoformat()[:10]
    return WHOLE.sub(" ", str(value)).strip()


def read_table(path: Path, sheet: str | None = None, wanted: Collection[str] = ()) -> Table:
    """Read a CSV file, a spreadsheet or a Parquet file; the content decides which it is.

    Args:
        path: of the file.
        sheet: of a workbook; the one that looks most like a log if left out.
        wanted: names of columns that the header has for certain.

    Raises:
        InvalidInput: the file is missing, empty or something else.
    """
    try:
        with path.open("rb") as file:
            first = file.read(16)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput("log", "a file that can be read", f"{path}: {reason}") from None
    if not first.strip():
        raise InvalidInput(f"file {path.name}", "a table with a header", "an empty file")
    for magic, words in OTHER_FILES.items():
        if first.startswith(magic):
            raise InvalidInput(f"file {path.name}", "a .csv, .xlsx or .parquet file", words)
    is_book = first.startswith(SPREADSHEETS)
    if sheet is not None and not is_book:
        raise InvalidInput("sheet", "left out unless the file is a workbook", sheet)
    try:
        if is_book:
            return _read_workbook(path, sheet, wanted)
        if first.startswith(b"PAR1"):
            return _read_parquet(path)
        return _read_csv(path, first, wanted)
    except InvalidInput:
        raise
    except Exception as error:  # readers of files raise exceptions of undocumented kinds
        reason = str(error).strip().split("\n")[0][:100] or type(error).__name__
        raise InvalidInput(f"file {path.name}", "a table that can be read", reason) from None


def _use_cp1252(error: UnicodeError) -> tuple[str, int]:
    """Decode invalid UTF-8 as the usual encoding of Windows."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("affinity-cp1252", _use_cp1252)


def _read_csv(path: Path, first: bytes, wanted: Collection[str]) -> Table:
    wide = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if wide else "utf-8-sig"
    with path.open(encoding=encoding, errors="affinity-cp1252", newline="") as file:
        start = file.read(SAMPLE) + file.readline()
        if "\0" in start:
            raise InvalidInput(f"file {path.name}", "a table of text", "a binary file")
        delimiter, begin = _find_delimiter(start, wanted)
        records = csv.reader(chain(io.StringIO(start, newline=""), file), delimiter=delimiter)
        try:
            table = _collect(path.name, _number_lines(records), begin, wanted)
        except csv.Error as error:
            place = f"line {records.line_num:,} of {path.name}"
            raise InvalidInput(place, "a row of a CSV file", str(error)) from None
    return table


def _number_lines(records: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the number of its first line."""
    line = 1
    for record in records:
        yield line, record
        if records.line_num - line > 1000:
            raise csv.Error(f"a quotation that begins in line {line:,} has no end")
        line = records.line_num + 1


def _find_delimiter(start: str, wanted: Collection[str]) -> tuple[str, int]:
    """Return the delimiter of cells, and how many records come before the table."""
    said = re.match(r"sep=(.)\r?\n", start)
    if said is not None:  # Excel's own first line
        return said[1], 1
    votes = {}
    for delimiter in DELIMITERS:
        records = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)
        rows = list(islice(records, 50))
        roles = max((count_roles(row, wanted) for row in rows[:HEADER_WITHIN]), default=0)
        width, times = Counter(map(len, rows)).most_common(1)[0]
        votes[delimiter] = (roles, times * (width - 1))
    return max(votes, key=lambda one: votes[one]), 0


def _read_workbook(path: Path, sheet: str | None, wanted: Collection[str]) -> Table:
    need("audit", "python_calamine")
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(path)
    if sheet is not None and sheet not in book.sheet_names:
        raise InvalidInput("sheet", f"one of {', '.join(book.sheet_names)}", sheet)
    found: list[tuple[int, int, str, list[list[Any]]]] = []
    for name in [sheet] if sheet is not None else book.sheet_names:
        opened = book.get_sheet_by_name(name)
        rows = opened.to_python(skip_empty_area=False)
        for (top, left), (bottom, right) in opened.merged_cell_ranges or ():
            for row in rows[top : bottom + 1]:
                row[left : right + 1] = [rows[top][left]] * len(row[left : right + 1])
        roles = max((count_roles(row, wanted) for row in rows[:HEADER_WITHIN]), default=0)
        found.append((roles, len(rows), name, rows))
    _, _, name, rows = max(found, key=lambda one: one[:2])
    source = f"{path.name}, sheet {name}" if len(book.sheet_names) > 1 else path.name
    return _collect(source, enumerate(rows, 1), 0, wanted)


def _read_parquet(path: Path) -> Table:
    """Read one column at a time, so that a long table needs little memory."""
    need("audit", "pyarrow")
    import pyarrow
    from pyarrow import compute, parquet, types

    schema = parquet.read_schema(path)
    names = list(schema.names)
    texts = [name for name in names if str(schema.field(name).type) in ("string", "large_string")]

    def load(index: int) -> tuple[npt.NDArray[np.int32], Sequence[Any]]:
        wanted = [names[index]]
        column = parquet.read_table(
            path, columns=wanted, read_dictionary=texts, use_threads=False, pre_buffer=False
        ).column(0)
        if types.is_nested(column.type):
            raise InvalidInput(names[index], "a column of plain values", str(column.type))
        if types.is_decimal(column.type):
            column = compute.cast(column, pyarrow.float64())
        if not types.is_dictionary(column.type):
            column = column.dictionary_encode()
        joined = column.combine_chunks()
        if isinstance(joined, pyarrow.ChunkedArray):
            joined = joined.unify_dictionaries().combine_chunks()
        codes = joined.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
        return codes.astype(np.int32, copy=False), joined.dictionary.to_pylist()

    return Table(path.name, names, load)


def read_query(dsn: str, query: str) -> Table:
    """Read the result of a PostgreSQL query, in a read-only transaction."""
    need("audit", "asyncpg")
    import asyncpg

    found: list[Any] = []

    async def talk() -> None:
        try:
            db = await asyncpg.connect(dsn, timeout=20.0)
        except Exception as error:  # its message may hold the password
            reason = type(error).__name__
            raise InvalidInput("dsn", "that of a database that can be reached", reason) from None
        try:
            async with db.transaction(readonly=True):
                found.extend(await db.fetch(query))
        finally:
            await db.close(timeout=20.0)

    def work() -> None:
        try:
            asyncio.run(talk())
        except (InvalidInput, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            failed.append(error)

    failed: list[Exception] = []
    thread = threading.Thread(target=work)  # a notebook has an event loop of its own already
    thread.start()
    thread.join()
    if failed and isinstance(failed[0], InvalidInput):
        raise failed[0]
    if failed or not found:
        reason = str(failed[0]).split("\n")[0] if failed else "no rows"
        raise InvalidInput("query", "a SELECT that returns rows", reason)
    names = list(found[0].keys())
    rows = chain([names], (list(row.values()) for row in found))
    return _collect("the query", enumerate(rows), 0, names)


def _collect(
    source: str, records: Iterable[tuple[int, list[Any]]], begin: int, wanted: Collection[str]
) -> Table:
    """Find the header and number the values of each column; skip empty rows."""
    stream = islice(iter(records), begin, None)
    opening = [(n, r) for n, r in islice(stream, HEADER_WITHIN) if not all(map(is_empty, r))]
    if not opening:
        raise InvalidInput(f"file {source}", "a table with a header", "no rows")
    scores = [count_roles(record, wanted) for _, record in opening]
    place = scores.index(max(scores))
    if max(scores) < 2:  # nothing is recognized: the first row as wide as the table
        width = max(len(record) for _, record in opening)
        place = next(i for i, (_, record) in enumerate(opening) if len(record) == width)
    header = opening[place][1]
    names = ["" if is_empty(cell) else label(cell) for cell in header]
    while names and not names[-1]:
        names.pop()
    codes = [array("i") for _ in names]
    numbers: list[dict[Any, int]] = [{} for _ in names]
    lines = array("q")
    ragged, repeated = [], 0
    for number, record in chain(opening[place + 1 :], stream):
        if all(map(is_empty, record)):
            continue
        if record == header:
            repeated += 1
            continue
        if not all(map(is_empty, record[len(names) :])):
            ragged.append(number)
        lines.append(number)
        for index in range(len(names)):
            cell = record[index] if index < len(record) else ""
            seen = numbers[index]
            codes[index].append(seen.setdefault(cell, len(seen)))
    problems = []
    if ragged:
        problems.append(
            f"{list_rows(ragged)}: more cells than the header, which has {len(names)} "
            "(a separator inside a cell?)"
        )
    if not lines:
        problems.append(f"no rows below the header ({', '.join(map(shown, names[:8]))})")
    notes = [f"the header is row {opening[place][0]}"] * (opening[place][0] > 1 + begin)
    notes += [f"{count_of(repeated, 'repeated header')} skipped"] * bool(repeated)

    def load(index: int) -> tuple[npt.NDArray[np.int32], Sequence[Any]]:
        return np.frombuffer(codes[index], dtype=np.int32), list(numbers[index])

    rows = np.frombuffer(lines, dtype=np.int64)
    return Table(source, names, load, rows, tuple(notes), tuple(problems))


def count_of(number: int, noun: str) -> str:
    """Return "1 row" or "1,200 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def list_rows(rows: Sequence[int], most: int = 5) -> str:
    """Return "row 3", or "rows 3, 5, 8 and 20 more"."""
    listed = ", ".join(f"{row:,}" for row in rows[:most])
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return f"row{'s' * (len(rows) > 1)} {listed}{more}"
