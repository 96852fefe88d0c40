"""The door to an audit: what is unclear, one answer after another, and the scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from affinity_bandits.audit import Answers, open_log
from affinity_bandits.audit.read import BadLog
from affinity_bandits.audit.tables import read_table
from affinity_bandits.base.errors import InvalidInput


def test_what_is_unclear_is_answered_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("who,kind,mark\nc1,north,2\nc2,south,5\n", encoding="utf-8")
    look = open_log(path)
    assert look.unclear == {"group": ["who", "kind", "mark"]}
    with pytest.raises(InvalidInput, match="columns must be given for group"):
        look.read()
    with pytest.raises(InvalidInput, match="column must be one of the columns who, kind, mark"):
        look.answer("group", "day")
    look = look.answer("group", "KIND")
    assert (look.unclear, look.columns["group"], look.usual_scale) == ({}, "kind", "1..5")
    with pytest.raises(InvalidInput, match=r"scale must be given, for example '1..5'"):
        look.read()
    look = look.answer("scale", "1..6")
    assert (look.ends, look.scale, look.usual_favor) == ((1.0, 6.0), (1.0, 6.0), "0.5")
    assert look.answer("best", "lowest").scale == (6.0, 1.0)
    assert look.matters is None
    assert look.answer("matters", "0.25").matters == 0.25
    assert look.read().log.groups == ("north", "south")
    with pytest.raises(BadLog, match="is not between 1 and 4"):
        look.answer("scale", "1..4").read()


def test_a_table_that_was_read_is_opened_as_its_file(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text("candidate,group,score by Ann,score by Ben\nc1,North,4,3\n", encoding="utf-8")
    said = Answers(columns={"score": "score by Ann"}, scale="1..5")
    look = open_log(read_table(wide), said)
    assert look.columns == open_log(wide, said).columns
    assert open_log(wide, Answers(columns={"score": "no"}), drop_missing=True).unclear
    with pytest.raises(InvalidInput, match="score must be one of the columns"):
        open_log(wide, Answers(columns={"score": "no"}))
