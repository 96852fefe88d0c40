"""A form of sheet is one class: what a planted one reads is what the same scores read as a log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from affinity_bandits.app import audit_steps
from affinity_bandits.audit import Answers, forms, open_log
from affinity_bandits.audit.tables import Table

LONG = """candidate,group,judge,score
c1,North,Ann,4
c1,North,Ben,3
c2,South,Ann,2
c2,South,Ben,
"""
WIDE = "candidate,group,score by Ann,score by Ben\nc1,North,4,3\nc2,South,2,\n"
BY = "score by "


class Wide:
    """One row per candidate, and a column of scores for each judge."""

    def fits(self, table: Table) -> bool:
        return sum(name.startswith(BY) for name in table.names) > 1

    def to_long(self, table: Table) -> Table:
        judges = [index for index, name in enumerate(table.names) if name.startswith(BY)]
        kept = [index for index in range(len(table.names)) if index not in judges]
        rows, times = len(table), len(judges)

        def load(index: int) -> tuple[npt.NDArray[np.int32], list[object]]:
            if index < len(kept):
                codes, values = table.load(kept[index])
                return np.repeat(codes, times), list(values)
            if index == len(kept):
                names = [table.names[judge].removeprefix(BY) for judge in judges]
                return np.tile(np.arange(times, dtype=np.int32), rows), list(names)
            cells = [table.load(judge) for judge in judges]
            scores = [None if codes[row] < 0 else values[codes[row]]
                      for row in range(rows) for codes, values in cells]  # fmt: skip
            present = [score for score in scores if score is not None]
            there = np.array([score is not None for score in scores])
            return np.where(there, np.cumsum(there) - 1, -1).astype(np.int32), present

        numbers = np.repeat([table.row_number(row) for row in range(rows)], times)
        names = [*(table.names[index] for index in kept), "judge", "score"]
        return replace(table, names=names, load=load, rows=numbers.astype(np.int64))


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    path.write_text(WIDE, encoding="utf-8")
    return path


def test_a_new_form_is_one_class_and_its_entry(
    wide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = tmp_path / "long.csv"
    usual.write_text(LONG, encoding="utf-8")
    expected = open_log(usual, Answers(scale="1..5")).read()
    unread = open_log(wide, Answers(scale="1..5"))
    assert unread.unclear["score"] == ["score by Ann", "score by Ben"]
    monkeypatch.setattr(forms, "FORMS", (Wide(), *forms.FORMS))
    look = open_log(wide, Answers(scale="1..5"))
    assert not look.unclear
    assert look.seen == (2.0, 4.0)
    log, same = look.read().log, expected.log
    assert log.score.tolist() == same.score.tolist() == [0.75, 0.5, 0.25]
    assert (log.groups, log.judges) == (same.groups, same.judges)
    assert log.judge.tolist() == same.judge.tolist()
    # Rows keep the number that the file gives them.
    assert look.read().notes == ("1 row skipped: no score (row 3)",)
    assert expected.notes == ("1 row skipped: no score (row 5)",)
    assert look.file.names == ["candidate", "group", "score by Ann", "score by Ben"]


def test_the_page_shows_the_first_rows_below_the_files_own_header(
    wide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "FORMS", (Wide(), *forms.FORMS))
    log = audit_steps.Upload(wide.name, wide.read_bytes())
    view = audit_steps.look(audit_steps.AuditForm(log=log))
    assert view.header == ["candidate", "group", "score by Ann", "score by Ben"]
    assert [len(cells) for _, cells in view.preview] == [4, 4]
    assert view.names == ["candidate", "group", "judge", "score"]


def test_an_empty_cell_of_a_parquet_file_is_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code is -1, which would read the last value of the column."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns: dict[str, list[object]] = {"candidate": ["c1", "c2"], "group": ["North", "South"]}
    columns |= {"score by Ann": [4, 2], "score by Ben": [3, None]}
    path = tmp_path / "wide.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    monkeypatch.setattr(forms, "FORMS", (Wide(), *forms.FORMS))
    assert open_log(path, Answers(scale="1..5")).read().log.score.tolist() == [0.75, 0.5, 0.25]
