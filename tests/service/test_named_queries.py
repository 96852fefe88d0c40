"""Every named query is used, and every one that is used is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from affinity_bandits import service
from affinity_bandits.service.store.connection import SQL, queries_in, sql

SOURCE = Path(service.__file__).parent


def used_in(text: str) -> set[str]:
    return set(re.findall(r"\bsql\.(\w+)", text))


def complaints(defined: list[str], used: set[str]) -> list[str]:
    twice = {name for name in defined if defined.count(name) > 1}
    return (
        [f"{name} stands twice" for name in sorted(twice)]
        + [f"{name} is used by nobody" for name in sorted(set(defined) - used)]
        + [f"there is no {name}" for name in sorted(used - set(defined))]
    )


def test_queries_and_their_uses_are_the_same() -> None:
    defined = [name for file in SQL.glob("*.sql") for name, _ in queries_in(file)]
    used = used_in("\n".join(file.read_text() for file in SOURCE.rglob("*.py")))
    assert "ask" in used  # the controls below are of the same kind
    assert not complaints(defined, used)


def test_each_kind_of_mistake_is_found(tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text("-- name: one\nSELECT 1;\n\n-- name: two\nSELECT 2;\n-- name: one\nSELECT 3;\n")
    found = queries_in(file)
    assert found == [("one", "SELECT 1;"), ("two", "SELECT 2;"), ("one", "SELECT 3;")]
    used = used_in("db.fetch(sql.one); db.fetch(sql.three, 1)")
    assert complaints([name for name, _ in found], used) == [
        *("one stands twice", "two is used by nobody", "there is no three"),
    ]
    with pytest.raises(AttributeError):
        _ = sql.three
