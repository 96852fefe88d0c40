"""Queries by name: `sql.ask` is the text below the line `-- name: ask` in one of the files."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

SQL = Path(__file__).parent / "sql"


def queries_in(file: Path) -> list[tuple[str, str]]:
    """Return the named queries of a file, each with its text."""
    _, *parts = re.split(r"^-- name: (\w+)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(name, text.strip()) for name, text in zip(parts[::2], parts[1::2], strict=True)]


sql = SimpleNamespace(**dict(chain.from_iterable(map(queries_in, SQL.glob("*.sql")))))
names = {text: name for name, text in vars(sql).items()}
"""The names of queries by their text."""
