"""Files that are read: there, of a known kind, and the same all the time."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from affinity_bandits.audit.reading.places import named
from affinity_bandits.errors import AffinityError, InvalidInput

_OTHERS = {
    b"PK\x03\x04": "an Excel or ZIP file: save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an Excel file: save the sheet as CSV",
    b"\x1f\x8b": "compressed: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed: unpack it first",
    b"\xff\xfe": "UTF-16: save it as UTF-8",
    b"\xfe\xff": "UTF-16: save it as UTF-8",
    b"ARROW1": "an Arrow file: save it as Parquet",
    b"SQLite format": "a database: export the table as CSV",
    b"%PDF": "a PDF",
}


class Source(Protocol):
    """Something that has rows.

    Attributes:
        names: of its columns, in their order.
        text: whether numbers are written as text.
        is_file: whether it costs little to look at it twice.
    """

    names: list[str]
    text: bool
    is_file: bool

    def batches(self, columns: list[str], few: Collection[str] = ()) -> Iterator[list[Any]]:
        """Yield some columns of some rows at a time, as arrow's arrays.

        Those that have few different texts may come as dictionaries.
        """

    def kind(self, column: str) -> Any:
        """Return the arrow type of a column; None if it is not known."""

    def where(self, row: int) -> str:
        """Return where a row is, by its number from 0, in words."""


class Watched:
    """A file whose size and time must not change while it is read.

    Args:
        path: of the file.

    Raises:
        InvalidInput: it is not there, or no file, or empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = named(path.name)
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
            reason = getattr(error, "strerror", None) or error
            raise InvalidInput("file", "one that can be read", f"{path}: {reason}") from None
        if not stat.S_ISREG(found.st_mode):
            what = "a directory" if stat.S_ISDIR(found.st_mode) else "no file"
            raise InvalidInput("file", "a CSV or Parquet file", f"{path}: {what}")
        if found.st_size == 0:
            raise InvalidInput(f"file {self.name}", "a table with a header", "an empty file")
        self._mark = _mark(found)

    def unchanged(self) -> None:
        """Raise if the file is not what it was when it was opened."""
        try:
            now = _mark(os.stat(self.path))
        except OSError:
            now = None
        if now != self._mark:
            raise InvalidInput(f"file {self.name}", "left as it is while it is read", "a change")

    def beginning(self, size: int) -> bytes:
        """Return its first bytes."""
        try:
            with self.path.open("rb") as file:
                return file.read(size)
        except OSError as error:
            found = f"{self.path}: {error.strerror}"
            raise InvalidInput("file", "one that can be read", found) from None

    def check_kind(self) -> bytes:
        """Return its first bytes, unless they are those of something else than a table."""
        first = self.beginning(16)
        for magic, words in _OTHERS.items():
            if first.startswith(magic):
                raise InvalidInput(f"file {self.name}", "a CSV (UTF-8) or Parquet file", words)
        return first


def _mark(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ino


@contextmanager
def unless_damaged(explain: Callable[[Exception], InvalidInput]) -> Iterator[None]:
    """Turn whatever a reader of files raises into words.

    Files are anything that anybody may have written: which exceptions their readers raise, and of
    which kinds, is nowhere written down.
    """
    try:
        yield
    except (AffinityError, StopIteration):
        raise
    except Exception as error:
        raise explain(error) from None


def first_line(error: Exception) -> str:
    """Return what a reader of files said, as far as it goes on one line."""
    return str(error).strip().split("\n")[0][:100] or type(error).__name__
