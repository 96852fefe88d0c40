"""Remarks on a file: all problems at once, with their rows, and briefly."""

from __future__ import annotations

from pathlib import Path

import pytest

from affinity_bandits.audit.columns import choose_columns
from affinity_bandits.audit.read import BadLog, read_scores
from affinity_bandits.audit.remarks import PROBLEM, Remark
from affinity_bandits.audit.tables import read_table
from tests.audit.logs import read_log
from tests.audit.test_read import PLAIN, written


def test_a_person_of_many_groups_is_told_briefly(tmp_path: Path) -> None:
    days = "".join(f"c{n},a,Ann,day {n},3\n" for n in range(90))
    with pytest.raises(BadLog) as caught:
        read_log(
            written(tmp_path, f"candidate,group,judge,judge group,score\n{days}"), scale=(1, 5)
        )
    common, twice = caught.value.problems
    assert "have no name in common" in common
    assert twice.endswith("judge has two groups (Ann: day 0 and day 1 and 88 more)")


def test_all_problems_are_told_at_once_with_their_rows(tmp_path: Path) -> None:
    wrong = [
        "c1,North,Ann,North,9,2026-02-01,too,many",
        *(f"c{n},South,Ann,North,good,2026-02-03" for n in range(10, 17)),
        "c2,North,Ann,South,7,2026-02-30",
        "c9,North,Ann,North,n/a,2026-02-01",
    ]
    content = (PLAIN + "\n".join(wrong)).encode()
    table = read_table(Path("elsewhere/log.csv"), content=content)
    with pytest.raises(BadLog) as caught:
        read_scores(table, choose_columns(table.names, {})[0], scale=(1, 5))
    found = {one.what: one for one in caught.value.remarks}
    unread = "score cannot be read as a score; write a number, or leave the cell empty"
    assert found[unread] == Remark(
        unread,
        count=7,
        rows=(7, 8, 9, 10, 11),
        examples=("'good'",),
    )
    assert found["no score"] == Remark("no score", "skipped", 1, rows=(15,))
    assert [one.rows for one in caught.value.remarks if one.done == PROBLEM] == [
        (6,), (7, 8, 9, 10, 11), (14,), (14,), (4, 5, 14), (2, 4, 7, 8, 9)
    ]  # fmt: skip
    assert len(caught.value.problems) == 6
    (tmp_path / "log.csv").write_bytes(content)
    again = read_table(tmp_path / "log.csv")
    assert again.remarks == table.remarks
    assert again.preview(9) == table.preview(9)
