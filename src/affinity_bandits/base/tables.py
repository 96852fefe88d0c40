"""Write tables as CSV or Parquet files."""

from __future__ import annotations

import csv
import os
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

from affinity_bandits.base.errors import InvalidInput, need

CELLS_AT_ONCE = 20_000  # cells that are buffered before they are written together
ROWS_AT_ONCE = 65_536  # rows of a CSV file that are turned into text together
ROWS_PER_GROUP = 1_000_000  # the largest row group of a Parquet file
# Matches before text that a spreadsheet may read as a formula, whichever sign separates its cells,
# and before an apostrophe, so that inserted apostrophes can be told apart.
_RISKY = re.compile("(^|[,;|\t\r\n])(?=[\\s\"]*['=+\\-@\uff1d\uff0b\uff0d\uff20])")


class UserText(str):
    """The type of a column of text that users typed: formulas in it are disarmed in CSV files."""

    __slots__ = ()


Types = Mapping[str, type]
"""The type of each column: int, float, bool, str, `UserText`, Decimal or datetime."""


class TableFile:
    """A table to be written; checked when made, before anything is computed.

    Args:
        parameter: the name of the path in errors.
        path: a file that ends in .csv or .parquet.
        force: whether an existing file may be replaced.

    Raises:
        InvalidInput: the path has another ending, is a directory, is outside any directory, or
            exists and `force` is false.
        MissingExtra: a Parquet file needs pyarrow.
    """

    def __init__(self, parameter: str, path: object, *, force: bool = True) -> None:
        endings = "a file that ends in .csv or .parquet"
        if not isinstance(path, str | os.PathLike):
            raise InvalidInput(parameter, endings, path)
        self.path = Path(os.fsdecode(path))
        self._parameter = parameter
        self._force = force
        self._ending = self.path.suffix.lower()
        if self._ending not in (".csv", ".parquet"):
            raise InvalidInput(parameter, endings, str(self.path))
        if self._ending == ".parquet":
            need("experiments", "pyarrow")
        if not self.path.parent.is_dir():
            raise InvalidInput(parameter, "in a directory", str(self.path))
        self._check_free()

    def _check_free(self) -> None:
        if not self._force and self.path.exists():
            rule = "a new file, or one to be replaced, with --force"
            raise InvalidInput(self._parameter, rule, str(self.path))
        if self.path.is_dir():
            raise InvalidInput(self._parameter, "a file, not a directory", str(self.path))

    @contextmanager
    def open(self, columns: Types) -> Iterator[TableWriter]:
        """Yield a writer; the file appears when it is complete, and otherwise stays as it was.

        Failures to write raise `InvalidInput`: an `OSError` would be taken for one of the source of
        the rows.
        """
        temporary = self.path.with_name(f".tmp-{uuid.uuid4().hex}")
        kind = CsvWriter if self._ending == ".csv" else ParquetWriter
        with ExitStack() as stack:
            stack.callback(temporary.unlink, missing_ok=True)
            with self._explain_errors():
                file = temporary.open("xb")
            stack.callback(_ignore_errors, file.close)
            writer = kind(file, columns, self._explain_errors)
            stack.callback(_ignore_errors, writer.close)
            yield writer
            writer.flush()
            with self._explain_errors():
                writer.close()
                file.flush()
                os.fsync(file.fileno())
                file.close()  # Windows does not replace a file by an open one
            self._check_free()
            with self._explain_errors():
                temporary.replace(self.path)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            found = f"{self.path}: {error.strerror or error}"
            raise InvalidInput(self._parameter, "a file that can be written", found) from error


class TableWriter(ABC):
    """Writes rows to an open file in one format; any value may be None.

    Attributes:
        rows: how many were added.
    """

    def __init__(self, file: BinaryIO, columns: Types, explain_errors: Callable[[], Any]) -> None:
        self.rows = 0
        self._explain_errors = explain_errors
        self._buffer: list[Sequence[Any]] = []
        self._largest_buffer = max(1, CELLS_AT_ONCE // len(columns))
        self._begin(file, columns)

    def add(self, row: Sequence[Any]) -> None:
        """Add a row: a value for each column."""
        self._buffer.append(row)
        if len(self._buffer) == self._largest_buffer:
            self.flush()

    def add_columns(self, columns: Sequence[Any]) -> None:
        """Add rows, given as a list or a numpy array for each column."""
        with self._explain_errors():
            self._write(columns)
        self.rows += len(columns[0])

    def flush(self) -> None:
        if self._buffer:
            self.add_columns(list(zip(*self._buffer, strict=True)))
            self._buffer.clear()

    @abstractmethod
    def close(self) -> None:
        """Write the end of the format; the file stays open."""

    @abstractmethod
    def _begin(self, file: BinaryIO, columns: Types) -> None:
        """Write the beginning of the format."""

    @abstractmethod
    def _write(self, columns: Sequence[Any]) -> None:
        """Write rows."""


class CsvWriter(TableWriter):
    """CSV: UTF-8, commas, a line of names first; floats are read back to the bit."""

    def _begin(self, file: BinaryIO, columns: Types) -> None:
        self._text = TextIOWrapper(file, encoding="utf-8", newline="")
        self._formats = [_FORMATS.get(kind) for kind in columns.values()]
        self._csv = csv.writer(self._text, lineterminator="\n")
        self._csv.writerow(map(harmless, columns))

    def _write(self, columns: Sequence[Any]) -> None:
        for start in range(0, len(columns[0]), ROWS_AT_ONCE):
            parts = [values[start : start + ROWS_AT_ONCE] for values in columns]
            cells = map(_format_cells, parts, self._formats)
            self._csv.writerows(zip(*cells, strict=True))

    def close(self) -> None:
        self._text.detach()


class ParquetWriter(TableWriter):
    """Parquet: text as it is, decimals exact."""

    def _begin(self, file: BinaryIO, columns: Types) -> None:
        import pyarrow as arrow
        from pyarrow import parquet

        types = {
            int: arrow.int64(),
            float: arrow.float64(),
            bool: arrow.bool_(),
            str: arrow.string(),
            UserText: arrow.string(),
            Decimal: arrow.decimal128(19, 9),  # fits every 64-bit number of units of 1e-9
            datetime: arrow.timestamp("us", tz="UTC"),
        }
        self._arrow = arrow
        self._schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
        self._parquet = parquet.ParquetWriter(file, self._schema, compression="zstd")

    def _write(self, columns: Sequence[Any]) -> None:
        arrays = map(self._arrow.array, columns, self._schema.types)
        table = self._arrow.Table.from_arrays(list(arrays), schema=self._schema)
        self._parquet.write_table(table, row_group_size=ROWS_PER_GROUP)

    def close(self) -> None:
        try:
            self._parquet.close()
        finally:
            self._parquet.is_open = False  # else it tries again when it is collected


@lru_cache(maxsize=4096)  # few names in many rows
def harmless(text: str) -> str:
    """Return a text with an apostrophe before everything that a spreadsheet might compute.

    Removing the apostrophe at the beginning, and after each possible separator, restores the text.

    >>> harmless("=1+1"), harmless("a;=1+1"), harmless("'a"), harmless("a = b")
    ("'=1+1", "a;'=1+1", "''a", 'a = b')
    """
    return _RISKY.sub(r"\1'", text)


@lru_cache(maxsize=1)  # all answers of a tell have one
def _format_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _format_decimal(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _format_bool(value: bool) -> str:
    return "yes" if value else "no"


_FORMATS: dict[type, Callable[[Any], str]] = {
    bool: _format_bool,
    UserText: harmless,
    Decimal: _format_decimal,
    datetime: _format_time,
}


def _format_cells(values: Any, form: Callable[[Any], str] | None) -> Sequence[Any]:
    cells = values.tolist() if hasattr(values, "tolist") else values
    if form is None:
        return cells  # type: ignore[no-any-return]
    return [None if value is None else form(value) for value in cells]


def _ignore_errors(close: Callable[[], None]) -> None:
    """Close a file after a failure that was reported already."""
    with suppress(Exception):
        close()
