"""Workbooks that ask for more memory or time than anybody has are refused in words."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from affinity_bandits.audit.tables import is_workbook, read_table
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.workers import BoundedWorkers
from tests.cli.test_simulate import in_a_process
from tests.support.workbooks import HEAD, OVERLAPPING, WITHOUT_PLACES, merged, workbook

FAR = {
    "upper case": 'r="XFD1048576"',
    "lower case": 'r="xfd1048576"',
    "both cases": 'r="xFd1048576"',
    "apostrophes": "r='XFD1048576'",
    "spaces": 'r = "XFD1048576"',
    "a tab": '\tr="XFD1048576"',
    "a line": '\nr="XFD1048576"',
    "zeros": 'r="XFD0001048576"',
    "another attribute": 's="0>" r="XFD1048576"',
}


@pytest.mark.slow
@pytest.mark.parametrize("how", FAR)
def test_a_far_cell_is_seen_before_its_room_is_allocated(how: str) -> None:
    """In a process of its own, which the reader would end if the check missed the cell."""
    book = workbook(f'{HEAD}<row r="1048576"><c {FAR[how]}><v>1</v></c></row>')
    with pytest.raises(InvalidInput, match="at most 20,000,000 cells"):
        BoundedWorkers(1).run(_read, book)


def _read(content: bytes) -> int:
    return len(read_table(Path("log.xlsx"), content=content))


def test_an_empty_cell_may_be_far_away() -> None:
    book = workbook(f'{HEAD}<row r="9"><c r="A9"><v>1</v></c><c r="XFD9" s="1"/></row>')
    assert _read(book) == 1


@pytest.mark.parametrize("repeated", [' r="A1"', " r=", " r", ' r="A', ' r="A1"/', "0", " "])
def test_places_without_an_end_are_looked_through_once(repeated: str) -> None:
    """A megabyte of them takes seconds, and would take most of an hour if each were looked for."""
    began = time.process_time()
    with pytest.raises(InvalidInput, match="a table that can be read"):
        _read(workbook(f'{HEAD}<row r="2"><c r="A2{repeated * ((1 << 20) // len(repeated))}'))
    assert time.process_time() - began < 20.0


def test_merged_cells_that_overlap_are_refused_at_once() -> None:
    began = time.process_time()
    with pytest.raises(InvalidInput, match=r"without merged cells that overlap.*200,000"):
        _read(OVERLAPPING)
    assert time.process_time() - began < 20.0  # reading on takes many minutes


def test_merged_cells_with_swapped_corners_cover_nothing() -> None:
    """Neither do they make room for others: half of these overlap, and half would weigh less."""
    began = time.process_time()
    assert _read(merged(3000, ["B1:A3000"] * 200_000)) == 2999
    hidden = merged(3000, ["A1:XFD1048576", "A3000:XFD1"] * 100_000)
    with pytest.raises(InvalidInput, match=r"without merged cells that overlap.*100,000"):
        _read(hidden)
    assert time.process_time() - began < 20.0


def test_merged_cells_that_cover_the_whole_sheet_are_read() -> None:
    """As many as there can be: each cell is in one range, and one range is outside."""
    book = merged(400, [f"A{n}:B{n + 1}" for n in range(3, 400, 2)] + ["D1:XFD1048576"])
    table = read_table(Path("log.xlsx"), content=book)
    assert table.values("group")[1] == [2.0, *(float(n) for n in range(3, 401, 2))]
    codes, values = table.values("1")
    assert [values[code] for code in codes[:4]] == [2.0, 3.0, 3.0, 5.0]


@pytest.mark.slow
def test_the_command_line_survives_what_ends_the_reader(tmp_path: Path) -> None:
    """A string of 32 MB in 100 cells takes 3.2 GB; the reader aborts in its bounded process."""
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(2, 102))
    text = [b"<si><t>", *[b"a" * (1 << 20)] * 32, b"</t></si>"]
    bombs = {"places.xlsx": WITHOUT_PLACES, "strings.xlsx": workbook(HEAD + cells, "", text)}
    for name, content in bombs.items():
        (tmp_path / name).write_bytes(content)
        done = in_a_process("audit", tmp_path / name, "--scale", "1..5")
        words = "a table that can be audited with 2,048 MB of memory, got 'a larger or damaged one'"
        assert done.stderr == f"affinity: file must be {words}\n", name
        assert (done.returncode, done.stdout) == (2, "")


def test_only_workbooks_take_a_process(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("group,score\na,1\n", encoding="utf-8")
    (tmp_path / "b.xlsx").write_bytes(merged(3, []))
    names = ("a.csv", "b.xlsx", "there is none.xlsx")
    assert [is_workbook(tmp_path / name) for name in names] == [False, True, False]
