"""Logs in CSV files: commas, semicolons or tabs, UTF-8, a line of names first.

The file is read by a fast reader that says little of what is wrong. If it stops, the file is read
again by a slow one, up to the line that is wrong.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from typing import Any

from affinity_bandits.audit.reading.files import Watched, first_line, unless_damaged
from affinity_bandits.audit.reading.places import named
from affinity_bandits.errors import InvalidInput

BLOCK = 1 << 22
"""Bytes that are read at once; no row may be longer."""
DELIMITERS = ",;\t"
BOM = b"\xef\xbb\xbf"


class CsvFile:
    """A CSV file.

    Args:
        file: that is there.
        delimiter: between cells; the one of comma, semicolon and tab that the header has most of,
            unless it is given.

    Raises:
        InvalidInput: its header cannot be read.
    """

    text = True
    is_file = True

    def __init__(self, file: Watched, delimiter: str | None = None) -> None:
        self._file = file
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise InvalidInput("delimiter", "one character, such as a comma", delimiter)
        self.names, self._delimiter = self._header(delimiter)

    def _header(self, delimiter: str | None) -> tuple[list[str], str]:
        """Return the names of the columns, and what is between cells."""
        start = self._file.beginning(BLOCK).removeprefix(BOM)
        rule = "a CSV file (UTF-8) with a header in its first line"
        about = f"file {self._file.name}"
        line = start.split(b"\n", 1)[0].split(b"\r", 1)[0]
        if b"\0" in line:
            raise InvalidInput(about, rule, "NUL bytes, as in UTF-16 or in a binary file")
        try:
            line.decode()
            text = start.decode(errors="replace")
        except UnicodeDecodeError:
            raise InvalidInput(about, rule, line[:60]) from None
        if not line.strip():
            raise InvalidInput(about, rule, "an empty first line")
        if delimiter is None:
            delimiter = max(DELIMITERS, key=_unquoted(line.decode()).count)
        try:
            names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error as error:
            raise InvalidInput(about, rule, str(error)) from None
        return names, delimiter

    def kind(self, column: str) -> Any:
        """Return None: all cells are text."""
        return None

    def batches(self, columns: list[str], few: Collection[str] = ()) -> Iterator[list[Any]]:
        """Yield some columns of some rows at a time, as arrow's arrays of text."""
        import pyarrow as arrow
        from pyarrow import csv as reader

        # By number: names may come twice, or be whatever bytes.
        wanted = [str(self.names.index(column)) for column in columns]
        text = arrow.string()
        kinds = [arrow.dictionary(arrow.int32(), text) if name in few else text for name in columns]
        quotes = _Quotes(self._file)
        rows = 0
        with quotes, unless_damaged(self._damaged):
            opened = reader.open_csv(
                arrow.PythonFile(quotes, mode="r"),
                read_options=reader.ReadOptions(
                    column_names=[str(number) for number in range(len(self.names))],
                    skip_rows_after_names=1,
                    block_size=BLOCK,
                ),
                parse_options=reader.ParseOptions(
                    delimiter=self._delimiter, newlines_in_values=True
                ),
                convert_options=reader.ConvertOptions(
                    column_types=dict(zip(wanted, kinds, strict=True)),
                    include_columns=wanted,
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
            while True:
                try:
                    batch = opened.read_next_batch()
                except StopIteration:
                    break
                rows += len(batch)
                if len(batch):
                    yield batch.columns
        self._file.unchanged()
        if quotes.odd:
            fault = self._slowly()
            if fault is not None:
                raise fault
        if rows == 0:
            raise InvalidInput(f"file {self._file.name}", "a table of at least one row", "no rows")

    def where(self, row: int) -> str:
        """Return where a row is, by its number from 0, in words.

        Lines may be empty, and cells may have several of them.
        """
        try:
            line = self._simple_line(row) if self._is_simple() else self._line(row)
        except (OSError, csv.Error):  # a cell that is too long for this reader, say
            line = None
        return f"line {row + 2 if line is None else line:,}"

    def _is_simple(self) -> bool:
        """Return whether every line is a row, but for those that are empty."""
        with self._file.path.open("rb") as file:
            while block := file.read(BLOCK):
                if b'"' in block or block.count(b"\r") != block.count(b"\r\n"):
                    return False
        return True

    def _simple_line(self, row: int) -> int | None:
        """Return the line of a row where every line is a row."""
        with self._file.path.open("rb") as file:
            seen = -2  # the header is the first
            for line, text in enumerate(file, start=1):
                seen += text not in (b"\n", b"\r\n")
                if seen == row:
                    return line
        return None

    def _line(self, row: int) -> int | None:
        """Return the line that a row begins with."""
        with self._file.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            records = csv.reader(file, delimiter=self._delimiter)
            line, seen = 1, -2
            for record in records:
                seen += bool(record)
                if seen == row:
                    return line
                line = records.line_num + 1
        return None

    def _damaged(self, error: Exception) -> InvalidInput:
        """Return what is wrong with a file that the fast reader stopped at."""
        self._file.unchanged()
        fault = self._slowly()
        if fault is not None:
            return fault
        if "straddling" in str(error):
            rule = f"rows of at most {BLOCK:,} bytes; is a quote not closed?"
            return InvalidInput(f"file {self._file.name}", rule, "a longer one")
        rule = "a CSV file that can be read"
        return InvalidInput(f"file {self._file.name}", rule, first_line(error))

    def _slowly(self) -> InvalidInput | None:
        """Return what is wrong with the first line that is: its letters, cells or quotes."""
        line = 1
        try:
            with self._file.path.open("rb") as file:
                for number, raw in enumerate(file, start=1):
                    try:
                        raw.decode()
                    except UnicodeDecodeError as error:
                        at = max(0, error.start - 10)
                        part = raw[at : error.end + 10]
                        return InvalidInput(f"line {number:,}", "UTF-8 text", part)
            with self._file.path.open(encoding="utf-8-sig", newline="") as text:
                records = csv.reader(text, delimiter=self._delimiter, strict=True)
                for record in records:
                    if record and len(record) != len(self.names):
                        rule = f"{len(self.names):,} cells, as the header has"
                        found = f"{len(record):,}: {named(self._delimiter.join(record))}"
                        return InvalidInput(f"line {line:,}", rule, found)
                    line = records.line_num + 1
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                return InvalidInput(f"line {line:,}", "closed by a quote", "a quote that is open")
        except OSError:
            pass
        return None


class _Quotes(io.RawIOBase):
    """A file that counts the quotes in it: if they are odd, one of them may not be closed."""

    def __init__(self, file: Watched) -> None:
        super().__init__()
        self._file = file.path.open("rb", buffering=0)
        self.odd = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        found = self._file.read(size)
        self.odd ^= bool(found.count(b'"') % 2)
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _unquoted(line: str) -> str:
    """Return what of a line is outside quotes."""
    return "".join(line.split('"')[::2])
