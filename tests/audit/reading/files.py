"""Files for the tests of what reads logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as arrow
from pyarrow import parquet

from affinity_bandits.audit.reading import LogReader, read_log

SETTINGS: dict[str, Any] = {"lowest": 1, "highest": 5, "initial": {"own": 3, "other": 2}}
GOOD = "time,group,score\n1,own,5\n2,other,3\n3,own,4\n"


def written(folder: Path, content: str | bytes, name: str = "log.csv") -> Path:
    """A file with that content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_parquet(folder: Path, columns: dict[str, Any], **options: Any) -> Path:
    """A Parquet file with those columns."""
    path = folder / "log.parquet"
    parquet.write_table(arrow.table(columns), path, **options)
    return path


def opened(path: Any, **changes: Any) -> LogReader:
    """What reads a file."""
    return read_log(path, **{**SETTINGS, **changes})


def consumed(path: Any, **changes: Any) -> LogReader:
    """The same, when all of it was read."""
    reader = opened(path, **changes)
    for _ in reader:
        pass
    return reader
