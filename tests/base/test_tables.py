"""Tables as files: what users typed is text in a spreadsheet, and files appear when whole."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.base.tables import TableFile, harmless


def given_back(text: str) -> str:
    return re.sub("(^|[,;|\t\r\n])'", r"\1", text)


@pytest.mark.slow
@given(st.text("=+-@'\"a ,;|\t\n\uff1d", max_size=8))
def test_no_text_is_risky_once_it_is_harmless_and_none_is_lost(text: str) -> None:
    made = harmless(text)
    for cell in re.split("[,;|\t\r\n]", made):
        assert not re.match('[\\s"]*[=+\\-@\uff1d]', cell)
    assert given_back(made) == text


def test_a_table_is_closed_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def replace_closed(self: Path, target: Path) -> Path:
        opened = [os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
        if str(self) in opened:
            raise PermissionError(32, "The file is used by another process", str(self))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replace_closed)
    for name in ("t.csv", "t.parquet"):
        with TableFile("out", tmp_path / name).open({"a": int}) as table:
            table.add([1])
        assert (tmp_path / name).stat().st_size > 0
    with (tmp_path / "open").open("w"), pytest.raises(PermissionError):
        (tmp_path / "open").replace(tmp_path / "other")
