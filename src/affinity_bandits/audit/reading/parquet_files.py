"""Logs in Parquet files, of which only the columns that are needed are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from affinity_bandits.audit.reading.files import Watched, first_line, unless_damaged
from affinity_bandits.errors import InvalidInput

ROWS_AT_ONCE = 1 << 18


class ParquetFile:
    """A Parquet file.

    Args:
        file: that is there.

    Raises:
        InvalidInput: it is damaged.
    """

    text = False
    is_file = True

    def __init__(self, file: Watched) -> None:
        from pyarrow import parquet

        self._file = file
        with unless_damaged(self._damaged):
            self._parquet = parquet.ParquetFile(file.path, pre_buffer=False)
            self._schema = self._parquet.schema_arrow
            self.names: list[str] = list(self._schema.names)
            self._rows = self._parquet.metadata.num_rows
        if self._rows == 0:
            raise InvalidInput(f"file {file.name}", "a table of at least one row", "no rows")

    def kind(self, column: str) -> Any:
        """Return the arrow type of a column."""
        return self._schema.field(column).type

    def where(self, row: int) -> str:
        """Return where a row is, by its number from 0, in words."""
        return f"row {row + 1:,}"

    def batches(self, columns: list[str], few: Collection[str] = ()) -> Iterator[list[Any]]:
        """Yield some columns of some rows at a time, as arrow's arrays."""
        from pyarrow import parquet

        for column in columns:
            if getattr(self.kind(column), "num_fields", 0):
                kind = str(self.kind(column))
                raise InvalidInput(column, "a column of plain values", kind)
        with unless_damaged(self._damaged):
            texts = [column for column in few if str(self.kind(column)) in _TEXTS]
            file = parquet.ParquetFile(
                self._file.path, read_dictionary=texts, pre_buffer=False, memory_map=False
            )
            rows = file.iter_batches(batch_size=ROWS_AT_ONCE, columns=columns)
        read = 0
        while True:
            with unless_damaged(self._damaged):
                batch = next(rows, None)
                if batch is None:
                    break
                arrays = [batch.column(batch.schema.get_field_index(name)) for name in columns]
                for array in arrays:
                    array.validate(full=True)
            read += len(batch)
            yield arrays
        self._file.unchanged()
        if read != self._rows:
            raise self._damaged(ValueError(f"{self._rows:,} rows announced, {read:,} found"))

    def _damaged(self, error: Exception) -> InvalidInput:
        self._file.unchanged()
        rule = "a Parquet file that can be read"
        return InvalidInput(f"file {self._file.name}", rule, first_line(error))


_TEXTS = ("string", "large_string")
