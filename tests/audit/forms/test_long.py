"""The usual form of a log: with people beside it, and without judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.base.errors import InvalidInput
from tests.audit.logs import read_log
from tests.audit.test_read import PLAIN, check, written


def test_people_give_judges_their_groups(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("Name;Came by\nANN;North\nJürgen;south\n", encoding="cp1252")
    without = PLAIN.replace("judge group", "remark")
    check(read_log(written(tmp_path, without), scale=(1, 5), people=people))
    people.write_text("name,group\nAnn,North\nAnn,South\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"people.csv: judge has two groups \(Ann\)"):
        read_log(written(tmp_path, without), scale=(1, 5), people=people)
    people.write_text("name,group\nAnn,North\n", encoding="utf-8")
    reading = read_log(written(tmp_path, without), scale=(1, 5), people=people)
    assert "1 judge not compared: not in people.csv, such as Jürgen" in " ".join(reading.notes)
    assert reading.log.judge_group.tolist() == [0, -1, 0, -1]


def test_a_simulated_log_has_no_judges(tmp_path: Path) -> None:
    text = "replicate,time,group,score,share,joined\n0,1,0,1.0,0.9,yes\n0,2,1,0.25,0.1,no\n"
    log = read_log(written(tmp_path, text), scale=(0, 1)).log
    assert (log.judge_group == -1).all()
    assert log.hired is not None
    assert np.flatnonzero(log.hired).tolist() == [0]
