"""Tables as CSV and Parquet files, written a row at a time."""

from __future__ import annotations

import csv
import io
import os
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from affinity_bandits.errors import InvalidInput
from affinity_bandits.extras import need
from affinity_bandits.service.core.scores import units_to_text

CELLS_AT_ONCE = 50_000
"""Cells of a Parquet file that are kept until they are written together."""
CHARACTERS_AT_ONCE = 2**16
"""Of a CSV file, likewise."""
_RISKY = re.compile("(^|[,;|\t\r\n])(?=[\\s\"]*['=+\\-@\uff1d\uff0b\uff0d\uff20])")
"""Before what a spreadsheet may take for a formula, be it that it cuts cells at another sign, and
before an apostrophe, so that one can tell those that were put there."""

Kind = Literal["number", "time", "score", "yes or no", "text"]


class Column(NamedTuple):
    """A column: scores are given in units, and any value may be None."""

    name: str
    kind: Kind


class Table(Protocol):
    """A table that is being written."""

    def add(self, row: Sequence[Any]) -> None:
        """Add a row: a value for each column."""

    def finish(self) -> None:
        """Write what is left of it; the file stays open."""

    def abandon(self) -> None:
        """Let go of a table that cannot be finished."""


class NewFile(io.FileIO):
    """A file that writes whatever it is given, or says in words of the user's why it cannot.

    Not with an `OSError`: in the midst of reading from a database, that would be the database's.
    """

    def __init__(self, path: Path, shown: Path) -> None:
        with _unless_it_cannot(shown):
            super().__init__(path, "xb")
        self._shown = shown

    def write(self, data: Any) -> int:
        """Write all of some bytes."""
        left = memoryview(data)
        with _unless_it_cannot(self._shown):
            while left:
                left = left[super().write(left) or 0 :]
        return len(data)

    def move_to(self, path: Path) -> None:
        """Make sure of what was written, and give the file its final name."""
        with _unless_it_cannot(self._shown):
            os.fsync(self.fileno())
            os.replace(self.name, path)


class CsvTable:
    """A table as CSV: UTF-8, commas, a line of names first.

    Args:
        file: to write to.
        columns: of the table.
    """

    def __init__(self, file: NewFile, columns: Sequence[Column]) -> None:
        self._file = file
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text, lineterminator="\n")
        self._forms = [_FORMS[column.kind] for column in columns]
        self._writer.writerow([harmless(column.name) for column in columns])

    def add(self, row: Sequence[Any]) -> None:
        """Add a row: a value for each column."""
        forms = zip(self._forms, row, strict=True)
        self._writer.writerow(
            [value if value is None or form is None else form(value) for form, value in forms]
        )
        if self._text.tell() >= CHARACTERS_AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Write what is left of it; the file stays open."""
        self._file.write(self._text.getvalue().encode())
        self._text.seek(0)
        self._text.truncate()

    def abandon(self) -> None:
        """Let go of a table that cannot be finished."""


class ParquetTable:
    """A table as Parquet: names and texts as they are, scores as exact decimals.

    Args:
        file: to write to.
        columns: of the table.
    """

    def __init__(self, file: NewFile, columns: Sequence[Column]) -> None:
        import pyarrow as arrow
        from pyarrow import parquet

        types = {
            "number": arrow.int64(),
            "time": arrow.timestamp("us", tz="UTC"),
            "score": arrow.decimal128(19, 9),  # whatever eight bytes of units can be
            "yes or no": arrow.bool_(),
            "text": arrow.string(),
        }
        self._arrow = arrow
        self._schema = arrow.schema([(column.name, types[column.kind]) for column in columns])
        self._scores = [column.kind == "score" for column in columns]
        self._rows: list[Sequence[Any]] = []
        self._most = max(1, CELLS_AT_ONCE // len(columns))
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")

    def add(self, row: Sequence[Any]) -> None:
        """Add a row: a value for each column."""
        self._rows.append(row)
        if len(self._rows) == self._most:
            self._write()

    def finish(self) -> None:
        """Write what is left of it; the file stays open."""
        if self._rows:
            self._write()
        self._writer.close()

    def abandon(self) -> None:
        """Let go of a table that cannot be finished."""
        self._rows.clear()
        with suppress(Exception):
            self._writer.close()
        self._writer.is_open = False  # else it tries again when it is collected

    def _write(self) -> None:
        arrays = [
            self._arrow.array([_decimal(value) for value in values] if score else values, type_)
            for values, score, type_ in zip(
                zip(*self._rows, strict=True), self._scores, self._schema.types, strict=True
            )
        ]
        self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))
        self._rows.clear()


KINDS: dict[str, type[CsvTable] | type[ParquetTable]] = {
    ".csv": CsvTable,
    ".parquet": ParquetTable,
}


class Target:
    """A file that is to be written; checked when made, before anything is read.

    Args:
        path: ends in .csv or .parquet.
        force: whether one that is there may be replaced.

    Raises:
        InvalidInput: it has another ending, or is there, or its directory is not.
        MissingExtra: it is a Parquet file, and pyarrow is not installed.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        self._force = force
        ending = path.suffix.lower()
        if ending not in KINDS:
            raise InvalidInput("out", "a file that ends in .csv or .parquet", str(path))
        self._kind = KINDS[ending]
        if self._kind is ParquetTable:
            need("experiments", "pyarrow")
        if not path.parent.is_dir():
            raise InvalidInput("out", "in a directory", str(path))
        self._check_free()

    def _check_free(self) -> None:
        if self.path.is_dir() or (self.path.exists() and not self._force):
            rule = "a new file, or one to be replaced, with --force"
            raise InvalidInput("out", rule, str(self.path))

    @contextmanager
    def written(self, columns: Sequence[Column]) -> Iterator[Table]:
        """Yield a table; the file is there once it ends, with all of it, and else as it was."""
        temporary = self.path.with_name(f".tmp-{uuid.uuid4().hex}")
        try:
            with NewFile(temporary, self.path) as file:
                table = self._kind(file, columns)
                try:
                    yield table
                    table.finish()
                    self._check_free()
                    file.move_to(self.path)
                except BaseException:
                    table.abandon()
                    raise
        finally:
            temporary.unlink(missing_ok=True)


@lru_cache(maxsize=4096)  # few names in many rows
def harmless(text: str) -> str:
    """Return a text with an apostrophe before whatever a spreadsheet might compute.

    Taking off the apostrophe at the beginning, and after each sign that cells may be cut at, gives
    the text back.

    >>> harmless("=1+1"), harmless("a;=1+1"), harmless("'a"), harmless("a = b")
    ("'=1+1", "a;'=1+1", "''a", 'a = b')
    """
    return _RISKY.sub(r"\1'", text)


@contextmanager
def _unless_it_cannot(path: Path) -> Iterator[None]:
    """Say that a file cannot be written, and why, where the system says no."""
    try:
        yield
    except OSError as error:
        found = f"{path}: {error.strerror or error}"
        raise InvalidInput("out", "a file that can be written", found) from error


@lru_cache(maxsize=1)  # all answers of a tell have one
def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _decimal(units: int | None) -> Decimal | None:
    return None if units is None else Decimal(units).scaleb(-9)


_FORMS: dict[Kind, Callable[[Any], str] | None] = {
    "number": None,
    "time": _time,
    "score": units_to_text,
    "yes or no": lambda value: "yes" if value else "no",
    "text": harmless,
}
