"""Tables as people keep them: CSV, spreadsheets and Parquet, read once."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import sys
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from affinity_bandits.audit.columns import count_roles
from affinity_bandits.audit.log import UNKNOWN, Coded, Flags
from affinity_bandits.audit.remarks import Remark, remark_rows
from affinity_bandits.base.errors import InvalidInput, need, shown

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
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
"""In a workbook with a password: the name of the part that holds the workbook."""
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods")
"""Endings of workbooks; tables of text are read even if they have one."""
MOST_COLUMNS = 16_384
MOST_CELLS = 20_000_000
"""Cells up to the last one of a sheet; the library that reads workbooks holds them all."""
MOST_UNPACKED = 1 << 30
"""Bytes of a workbook after unpacking."""
CELL = re.compile(
    rb"""[ \t\r\n]r[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z]{1,3})0*([0-9]{1,7})["'][^<>]*+((?<!/)>)?"""
)
"""The place of a cell in the XML of a sheet, and the end of its tag unless the cell is empty.

Tags without an end match, too, so that no text is looked through twice."""
WHOLE = re.compile(r"\s+")


@dataclass(frozen=True)
class Table:
    """A table whose columns are read on demand, each as numbers of its distinct values.

    Attributes:
        source: its name for readers, such as the name of the file.
        names: of the columns; a header that is there twice becomes "score" and "score (2)".
        load: returns the column at an index: for each row the index of its value, -1 if it has
            none, and the values as they are in the file.
        rows: the number that the file itself gives each row; None if they count from 1.
        remarks: what was found in it, and what was done about it.
        sheets: the names of all sheets of the workbook.
        roles: the column of each role, if the form of the file says so; empty for none.
        left_out: rows that are no scores, and why.
    """

    source: str
    names: list[str]
    load: Callable[[int], tuple[npt.NDArray[np.int32], Sequence[Any]]]
    rows: npt.NDArray[np.int64] | None = None
    remarks: tuple[Remark, ...] = ()
    sheets: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[tuple[str, Flags], ...] = ()

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

    def __len__(self) -> int:
        return len(self.load(0)[0]) if self.rows is None else len(self.rows)

    def preview(self, rows: int) -> list[tuple[int, list[str]]]:
        """Return the first rows as text, each with its number in the file."""
        columns = []
        for index in range(len(self.names)):
            codes, found = self.load(index)
            cells = (found[code] if code >= 0 else None for code in codes[:rows].tolist())
            columns.append(["" if is_empty(cell) else label(cell) for cell in cells])
        return [
            (self.row_number(number), list(cells))
            for number, cells in enumerate(zip(*columns, strict=True))
        ]

    def sample(self, name: str) -> str:
        """Return some values of a column, for somebody who chooses among columns."""
        found = self.values(name)[1][:20]
        values = list(dict.fromkeys(label(value) for value in found if value is not None))
        return ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")


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


def read_table(
    path: Path | str,
    sheet: str | None = None,
    wanted: Collection[str] = (),
    *,
    content: bytes | None = None,
) -> Table:
    """Read a CSV file, a spreadsheet or a Parquet file; its content decides which.

    Args:
        path: of the file.
        sheet: of a workbook; the one that looks most like a log if left out.
        wanted: names of columns that the header has for certain.
        content: of the file; the path is then only its name.

    Raises:
        InvalidInput: the file is missing, empty, too large or something else.
    """
    path = Path(path)

    def open_file() -> IO[bytes]:
        return path.open("rb") if content is None else io.BytesIO(content)

    try:
        with open_file() as file:
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
            return _read_workbook(path.name, open_file, sheet, wanted)
        if first.startswith(b"PAR1"):
            return _read_parquet(path if content is None else path.name, content)
        return _read_csv(path.name, open_file, first, wanted)
    except (InvalidInput, KeyboardInterrupt):
        raise
    except BaseException as error:  # readers of files raise undocumented kinds, even panics
        reason = str(error).strip().split("\n")[0][:100] or type(error).__name__
        raise InvalidInput(f"file {path.name}", "a table that can be read", reason) from None


def read_pipe(path: Path) -> bytes | None:
    """Return what comes through a pipe, or "-" for the standard input; None if it is no pipe.

    A pipe can be read only once, and `read_table` opens files twice.
    """
    if str(path) == "-":
        return sys.stdin.buffer.read()
    return path.read_bytes() if path.is_fifo() else None


def is_workbook(path: Path, content: bytes | None = None) -> bool:
    """Return whether a file is a workbook, which needs a library that allocates as files demand."""
    if content is not None:
        return content.startswith(SPREADSHEETS)
    try:
        with path.open("rb") as file:
            return file.read(16).startswith(SPREADSHEETS)
    except (OSError, ValueError):  # `read_table` says why
        return False


def _use_cp1252(error: UnicodeError) -> tuple[str, int]:
    """Decode invalid UTF-8 as the usual encoding of Windows."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("affinity-cp1252", _use_cp1252)


def _read_csv(
    name: str, open_file: Callable[[], IO[bytes]], first: bytes, wanted: Collection[str]
) -> Table:
    wide = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if wide else "utf-8-sig"
    with io.TextIOWrapper(open_file(), encoding, errors="affinity-cp1252", newline="") as file:
        start = file.read(SAMPLE) + file.readline()
        if "\0" in start:
            raise InvalidInput(f"file {name}", "a table of text", "a binary file")
        if start.lstrip().startswith("<"):
            rule = "a table; open it with a spreadsheet program and save it as .xlsx or .csv"
            raise InvalidInput(f"file {name}", rule, "a web page or XML")
        delimiter, begin = _find_delimiter(start, wanted)
        records = csv.reader(chain(io.StringIO(start, newline=""), file), delimiter=delimiter)
        try:
            table = _collect(name, _number_lines(records), begin, wanted)
        except csv.Error as error:
            place = f"line {records.line_num:,} of {name}"
            raise InvalidInput(place, "a row of a CSV file", str(error)) from None
    if name.lower().endswith(WORKBOOKS) and (len(table.names) < 2 or not len(table)):
        raise InvalidInput(f"file {name}", "a workbook or a table", "a text")
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


def _read_workbook(
    name: str, open_file: Callable[[], IO[bytes]], sheet: str | None, wanted: Collection[str]
) -> Table:
    need("audit", "python_calamine")
    from python_calamine import CalamineWorkbook, PasswordError

    with open_file() as file:
        if zipfile.is_zipfile(file):
            _check_workbook(name, file)
        file.seek(0)
        try:
            book = CalamineWorkbook.from_filelike(file)
        except Exception as error:
            file.seek(0)
            if isinstance(error, PasswordError) or ENCRYPTED in file.read():
                rule = "a workbook without a password; remove the password and try again"
                raise InvalidInput(f"file {name}", rule, "a workbook with a password") from None
            raise
    if sheet is not None and sheet not in book.sheet_names:
        raise InvalidInput("sheet", f"one of {', '.join(book.sheet_names)}", sheet)
    best: tuple[tuple[int, int], str, Any] | None = None
    for one in [sheet] if sheet is not None else book.sheet_names:
        opened = book.get_sheet_by_name(one)
        opening = islice(_list_cells(opened), HEADER_WITHIN)
        roles = max((count_roles(row, wanted) for row in opening), default=0)
        if best is None or (roles, opened.height) > best[0]:
            best = (roles, opened.height), one, opened
    if best is None:
        raise InvalidInput(f"file {name}", "a workbook with a sheet", "no sheets")
    several = len(book.sheet_names) > 1
    source = f"{name}, sheet {best[1]}" if several else name
    table = _collect(source, enumerate(_list_cells(best[2]), 1), 0, wanted)
    return replace(table, sheets=(best[1], *(one for one in book.sheet_names if one != best[1])))


def _check_workbook(name: str, file: IO[bytes]) -> None:
    """Refuse a workbook that would fill the memory: unpack it without keeping anything.

    Raises:
        InvalidInput: it is too large once unpacked, or a cell is too far from the first.
    """
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > MOST_UNPACKED:
            rule = f"at most {MOST_UNPACKED >> 20:,} MB after unpacking"
            raise InvalidInput(f"file {name}", rule, f"{unpacked >> 20:,} MB")
        for member in archive.namelist():
            rows, columns, end = 0, 0, b""
            with archive.open(member) as part:  # fails if there is more than the directory says
                while chunk := part.read(1 << 20):
                    found = [one for one in CELL.findall(end + chunk) if one[2]]
                    rows = max(rows, *map(int, {row for _, row, _ in found}), 0)
                    columns = max(columns, *map(_column_number, {one for one, _, _ in found}), 0)
                    end = chunk[-200:]  # a cell may begin in one chunk and end in the next
            if rows * columns > MOST_CELLS:
                rule = (
                    f"at most {MOST_CELLS:,} cells up to the last one of each sheet; delete what"
                    " is far from the table, or save the sheet as .csv"
                )
                raise InvalidInput(f"file {name}", rule, f"{rows:,} rows and {columns:,} columns")


def _column_number(letters: bytes) -> int:
    """Return 1 for A or a, 27 for AA."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _list_cells(sheet: Any) -> Iterator[list[Any]]:
    """Yield the rows of a sheet from the first; merged cells all have the value of the first."""
    if sheet.start is None:
        return
    margin = [""] * sheet.start[1]
    merged = _list_merged(sheet)
    current: list[tuple[int, int, int, Any]] = []
    for number, cells in enumerate(sheet.iter_rows()):
        row = margin + cells if number >= sheet.start[0] else []
        while merged and merged[-1][0][0] <= number:
            (_, left), (bottom, right) = merged.pop()
            current.append((bottom, left, right, row[left] if left < len(row) else ""))
        current = [one for one in current if one[0] >= number]
        for _, left, right, value in current:
            row[left : right + 1] = [value] * len(row[left : right + 1])
        yield row


def _list_merged(sheet: Any) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the ranges of merged cells from the last to the first, each within the sheet.

    Raises:
        InvalidInput: they cover more cells than there are.
    """
    height, width = sheet.start[0] + sheet.height, sheet.start[1] + sheet.width
    found, covered = [], 0
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        # A range whose corners are swapped covers nothing, and must not count as less than that.
        if top <= bottom and left <= right and top < height and left < width:
            last = min(bottom, height - 1), min(right, width - 1)
            found.append(((top, left), last))
            covered += (last[0] - top + 1) * (last[1] - left + 1)
    if covered > height * width:
        rule = "without merged cells that overlap; save the sheet as .csv"
        raise InvalidInput(f"sheet {sheet.name}", rule, f"{len(found):,} merged ranges")
    return sorted(found, reverse=True)


def _read_parquet(path: Path | str, content: bytes | None) -> Table:
    """Read one column at a time, so that a long table needs little memory."""
    need("audit", "pyarrow")
    import pyarrow
    from pyarrow import compute, parquet, types

    name = Path(path).name
    source = path if content is None else pyarrow.BufferReader(content)
    schema = parquet.read_schema(source)
    names = list(schema.names)
    texts = [name for name in names if str(schema.field(name).type) in ("string", "large_string")]

    def load(index: int) -> tuple[npt.NDArray[np.int32], Sequence[Any]]:
        wanted = [names[index]]
        column = parquet.read_table(
            source, columns=wanted, read_dictionary=texts, use_threads=False, pre_buffer=False
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

    return Table(name, names, load)


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
    if len(header) > MOST_COLUMNS:
        rule = f"a table of at most {MOST_COLUMNS:,} columns"
        raise InvalidInput(f"file {source}", rule, f"{len(header):,} columns")
    names = _name_columns(header)
    codes = [array("i") for _ in names]
    numbers: list[dict[Any, int]] = [{} for _ in names]
    lines = array("q")
    ragged, repeated = [], []
    for number, record in chain(opening[place + 1 :], stream):
        if all(map(is_empty, record)):
            continue
        if record == header:
            repeated.append(number)
            continue
        if not all(map(is_empty, record[len(names) :])):
            ragged.append(number)
            continue
        lines.append(number)
        for index in range(len(names)):
            cell = record[index] if index < len(record) else ""
            cell = str(cell) if isinstance(cell, bool) else cell  # True would be found as 1
            seen = numbers[index]
            codes[index].append(seen.setdefault(cell, len(seen)))
    remarks = []
    if ragged:
        what = f"more cells than the header, which has {len(names)} (a separator inside a cell?)"
        remarks.append(remark_rows(what, ragged))
    elif not lines:
        remarks.append(Remark(f"no rows below the header ({', '.join(map(shown, names[:8]))})"))
    if place:
        what = f"above the header, which is row {opening[place][0]:,}"
        remarks.append(remark_rows(what, [number for number, _ in opening[:place]], "skipped"))
    if repeated:
        remarks.append(remark_rows("the header again", repeated, "skipped"))

    columns = [
        (np.frombuffer(places, dtype=np.int32), list(values))
        for places, values in zip(codes, numbers, strict=True)
    ]
    rows = np.frombuffer(lines, dtype=np.int64)
    return Table(source, names, columns.__getitem__, rows, tuple(remarks))


def _name_columns(header: Sequence[Any]) -> list[str]:
    """Return the names of the columns; the second of the same name gets a number."""
    found = ["" if is_empty(cell) else label(cell) for cell in header]
    while found and not found[-1]:
        found.pop()
    seen: Counter[str] = Counter()
    names = []
    for name in found:
        seen[name] += 1
        names.append(f"{name} ({seen[name]})" if name and seen[name] > 1 else name)
    return names
