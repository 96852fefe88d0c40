"""Logs of runs as CSV and Parquet files: columns of numbers, one table below the other."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from affinity_bandits.errors import InvalidInput
from affinity_bandits.extras import need

ROWS_AT_ONCE = 65_536
"""Rows that are turned into text together."""
ROWS_OF_A_GROUP = 1_000_000
"""Of a Parquet file, likewise: whoever reads it may take one at a time."""


Columns = Mapping[str, npt.NDArray[Any]]


def write_tables(path: str | os.PathLike[str], tables: Iterable[Columns]) -> int:
    """Write tables of the same columns into one file and return how many rows there are.

    See `write_logs`, which says what is refused.
    """
    target = require_log_file("path", path)
    temporary = target.with_name(f".tmp-{uuid.uuid4().hex}")
    write = _write_csv if target.suffix.lower() == ".csv" else _write_parquet
    try:
        rows = write(temporary, _alike(tables))
        if rows == 0:
            raise InvalidInput("logs", "at least one log", [])
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return rows


def require_log_file(parameter: str, path: object) -> Path:
    """Return where a log is to be written, after checking that it can be a log's place."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(parameter, "a file that ends in .csv or .parquet", path)
    target = Path(os.fsdecode(path))
    if target.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidInput(parameter, "a file that ends in .csv or .parquet", str(target))
    if target.suffix.lower() == ".parquet":
        need("experiments", "pyarrow")
    if not target.parent.is_dir():
        raise InvalidInput(parameter, "in a directory", str(target))
    if target.is_dir():
        raise InvalidInput(parameter, "a file, not a directory", str(target))
    return target


def arrow_table(columns: Columns) -> Any:
    """Return columns as a table of pyarrow."""
    need("experiments", "pyarrow")
    import pyarrow

    return pyarrow.table(dict(columns))


def _alike(tables: Iterable[Columns]) -> Iterator[Columns]:
    """Yield tables, after checking that they have the columns of the first."""
    names: list[str] | None = None
    for table in tables:
        found = list(table)
        if names is not None and found != names:
            raise InvalidInput("logs", f"of the same columns ({', '.join(names)})", found)
        names = found
        yield table


def _rows(table: Columns) -> int:
    return len(next(iter(table.values())))


def _write_csv(path: Path, tables: Iterable[Columns]) -> int:
    """Write UTF-8 with commas, a line of names first; numbers are read back to the bit."""
    rows = 0
    with path.open("x", encoding="utf-8", newline="\n") as file:
        for table in tables:
            if rows == 0:
                file.write(",".join(table) + "\n")
            for start in range(0, _rows(table), ROWS_AT_ONCE):
                texts = [_texts(array[start : start + ROWS_AT_ONCE]) for array in table.values()]
                file.writelines(",".join(cells) + "\n" for cells in zip(*texts, strict=True))
            rows += _rows(table)
    return rows


def _texts(values: npt.NDArray[Any]) -> Iterable[str]:
    """Return values as they stand in a CSV file."""
    if values.dtype == np.bool_:
        return ["yes" if value else "no" for value in values.tolist()]
    return map(repr, values.tolist())


def _write_parquet(path: Path, tables: Iterable[Columns]) -> int:
    from pyarrow import parquet

    rows = 0
    writer = None
    try:
        for table in tables:
            made = arrow_table(table)
            if writer is None:
                writer = parquet.ParquetWriter(path, made.schema, compression="zstd")
            writer.write_table(made, row_group_size=ROWS_OF_A_GROUP)
            rows += _rows(table)
    finally:
        if writer is not None:
            writer.close()
    return rows
