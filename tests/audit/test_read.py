"""Odd files are read right, damaged ones end in one list of problems."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from pyarrow import parquet

from affinity_bandits.audit.columns import choose_columns
from affinity_bandits.audit.read import BadLog, Reading
from affinity_bandits.audit.tables import read_table
from affinity_bandits.base.errors import AffinityError, InvalidInput
from tests.audit.logs import read_log

HEADER = "candidate,group,judge,judge group,score,date"
ROWS = (
    "c1,North,Ann,North,4.5,2026-02-01",
    "c1,North,Jürgen,South,3,2026-02-01",
    "c2,South,Ann,North,2,2026-02-03",
    "c2,South,Jürgen,South,4,2026-02-03",
)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
SCORES = [4.5, 3.0, 2.0, 4.0]
PLAIN = "\n".join([HEADER, *ROWS]) + "\n"


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "log.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def with_dates(first: str, second: str) -> str:
    return PLAIN.replace("2026-02-01", first).replace("2026-02-03", second)


def with_score(text: str) -> str:
    return PLAIN.replace("North,4.5,", f"North,{text},")


def with_hired(name: str, answer: str) -> str:
    return PLAIN.replace(",date", f",date,{name}").replace("-01\n", f"-01,{answer}\n")


def semicolons(text: str) -> str:
    return text.replace(",", ";").replace("4.5", "4,5")


READ: dict[str, tuple[str | bytes, str]] = {
    "plain": (PLAIN, ""),
    "byte order mark": (b"\xef\xbb\xbf" + PLAIN.encode(), ""),
    "Windows encoding": (PLAIN.encode("cp1252"), ""),
    "UTF-16": (PLAIN.encode("utf-16"), ""),
    "Windows line ends": (PLAIN.replace("\n", "\r\n"), ""),
    "old Mac line ends": (PLAIN.replace("\n", "\r"), ""),
    "semicolons, decimal comma": (semicolons(PLAIN), "comma (row 2), such as '4,5'"),
    "tabs": (PLAIN.replace(",", "\t"), ""),
    "bars": (PLAIN.replace(",", "|"), ""),
    "Excel's sep line": ("sep=;\n" + semicolons(PLAIN), "decimal comma"),
    "quoted decimal comma": (PLAIN.replace("4.5", '"4,5"'), "decimal comma"),
    "titles above": (f"Interviews 2026\n\nNorth and South,,\n{PLAIN}", "is row 4 (rows 1, 3)"),
    "empty rows": (PLAIN.replace("\nc2", "\n,,,,,\n\nc2", 1), ""),
    "spaces": (PLAIN.replace(",", " , ").replace("c1", "\N{NO-BREAK SPACE}c1"), ""),
    "other case": (PLAIN.replace("Ann,North", "ANN,north", 1), "such as Ann as ANN"),
    "header again": (PLAIN.replace("\nc2", f"\n{HEADER}\nc2", 1), "the header again (row 4)"),
    "empty column at the end": (PLAIN.replace("\n", ",\n"), ""),
    "total at the end": (PLAIN + "Mean,,,,3.4,\n", "1 row skipped: no group (row 6)"),
    "missing scores": (PLAIN + "c3,North,Ann,North,n/a,\nc3,North,Ann,North,,\n", "2 rows skipped"),
    "points of": (with_score("4.5/5"), ""),
    "stars in words": (with_score("4.5 stars"), ""),
    "German dates": (with_dates("01.02.2026", "03.02.2026"), "like 31.12.2026 (rows 2, 3"),
    "day or month": (with_dates("1/2/2026", "3/2/2026"), "give the date format 12/31/2026"),
    "American dates": (with_dates("02/01/2026", "02/23/2026"), "like 12/31/2026"),
    "times": (with_dates("2026-02-01 09:30", "2026-02-03T10:15:00"), ""),
    "names in German": (
        PLAIN.replace(HEADER, "Bewerber,Quelle,Gutachter,Gutachter Quelle,Punkte,Datum"), ""
    ),
    "other names": (
        PLAIN.replace(HEADER, "Applicant ID,Source,Interviewer,interviewer_source,Stars (1-5),Day"),
        "",
    ),
    "hired in French": (with_hired("embauché", "oui"), ""),
    "hired in PostgreSQL": (with_hired("hired", "t"), ""),
    "hired unclear": (with_hired("hired", "perhaps"), "than yes and no, such as perhaps: not used"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_an_odd_file_is_read_right(tmp_path: Path, name: str) -> None:
    content, note = READ[name]
    check(read_log(written(tmp_path, content), scale=(1, 5)), note)


@pytest.mark.parametrize("said", ["12/31/2026", "%m/%d/%Y"])
def test_a_date_format_is_given_by_an_example(tmp_path: Path, said: str) -> None:
    path = written(tmp_path, with_dates("1/2/2026", "3/2/2026"))
    reading = read_log(path, scale=(1, 5), date_format=said)
    assert reading.log.sessions == ("2026-01-02", "2026-03-02")


def check(reading: Reading, note: str = "") -> None:
    log = reading.log
    assert (1.0 + 4.0 * log.score).tolist() == SCORES
    assert log.groups == ("North", "South")
    assert [name.casefold() for name in log.judges] == ["ann", "jürgen"]
    assert log.judge_group.tolist() == [0, 1, 0, 1]
    assert log.group.tolist() == [0, 0, 1, 1]
    assert len(log.sessions) == 2
    assert note in " ".join(reading.notes)


BAD: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "empty": ("", ("an empty file",)),
    "a header only": (HEADER + "\n", ("no rows below the header",)),
    "binary": (b"\x00\x01\x02" * 99, ("a binary file",)),
    "compressed": (b"\x1f\x8b\x08rest of it", ("unpack it first",)),
    "a PDF": (b"%PDF-1.7", ("export the table",)),
    "no workbook": (b"PK\x03\x04rest of a zip file", ("that can be read",)),
    "broken Parquet": (b"PAR1rest of the file", ("that can be read",)),
    "bare decimal comma": (PLAIN.replace("4.5", "4,5"), ("row 2: more cells than the header",)),
    "scores outside": (PLAIN.replace(",4,", ",6,"), ("row 5: score is not between 1 and 5 ('6')",)),
    "words for scores": (
        with_score("good").replace(",2,", ",9,"),
        ("2 problems", "row 2: score cannot be read as a score; write a", "row 4: score is not"),
    ),
    "a thousand": (with_score('"1,234"'), ("row 2: decimals or thousands?",)),
    "two groups": (
        PLAIN.replace("c2,South", "c1,South", 1),
        ("rows 2, 3, 4: candidate has two groups (c1: North and South)",),
    ),
    "a judge of two groups": (
        PLAIN.replace("Ann,North,2", "Ann,South,2"), ("judge has two groups (Ann:",)
    ),
    "other names of groups": (
        PLAIN.replace("Ann,North", "Ann,N").replace("Jürgen,South", "Jürgen,S"),
        ("have no name in common",),
    ),
    "a wrong date": (with_dates("2026-02-31", "2026-02-03"), ("rows 2, 3: date is not a date",)),
    "no scores at all": (PLAIN.replace("score", "remark"), ("given for score",)),
    "two columns of scores": (PLAIN.replace("date", "rating"), ("given for score",)),
    "an open quotation": (PLAIN.replace("c1", '"c1', 1) + "x,\n" * 2000, ("has no end",)),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_file_ends_in_one_list_of_problems(tmp_path: Path, name: str) -> None:
    content, says = BAD[name]
    with pytest.raises(InvalidInput) as caught:
        read_log(written(tmp_path, content), scale=(1, 5))
    for part in says:
        assert part in str(caught.value)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), PLAIN.encode() + content)
    with suppress(AffinityError):
        read_log(path, scale=(1, 5))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (OLE + "EncryptedPackage".encode("utf-16-le"), "remove the password and try again"),
        (OLE, "a table that can be read"),
        (b"this is not a workbook\nreally", "a workbook or a table, got 'a text'"),
    ],
)
def test_no_workbook_that_can_be_read(content: bytes, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        read_table(Path("log.xlsx"), content=content)


def test_a_column_of_almost_as_many_groups_as_rows_is_remarked(tmp_path: Path) -> None:
    rows = "".join(f"c{n},{'ab'[n % 2]},3\n" for n in range(42))
    path = written(tmp_path, f"candidate,group,score\n{rows}")
    assert not any("groups" in note for note in read_log(path, scale=(1, 5)).notes)
    notes = read_log(path, scale=(1, 5), columns={"group": "candidate"}).notes
    assert any(note.startswith("column candidate has 42 groups, such as c0, c1") for note in notes)


def test_a_wrong_date_format_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BadLog, match="date is not a date like 12/31/2026"):
        read_log(written(tmp_path, PLAIN), scale=(1, 5), date_format="12/31/2026")


def test_a_workbook_with_merged_cells_dates_and_other_sheets(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["to do", "ask Ann"])
    sheet = book.create_sheet("Log")
    sheet.append(["Interviews"])
    sheet.append(HEADER.split(","))
    for row in ROWS:
        *cells, score, day = row.split(",")
        sheet.append([*cells, float(score), date.fromisoformat(day)])
    sheet["E3"] = "4,5"
    sheet["F4"] = "2026-02-01"
    sheet.merge_cells("A3:A4")
    book.save(tmp_path / "log.xlsx")
    check(read_log(tmp_path / "log.xlsx", scale=(1, 5)), "the header, which is row 2")
    with pytest.raises(InvalidInput, match="one of Sheet, Log"):
        read_log(tmp_path / "log.xlsx", scale=(1, 5), sheet="Logs")


@pytest.mark.parametrize(
    "encode", [pyarrow.array, lambda cells: pyarrow.array(cells).dictionary_encode()]
)
def test_a_parquet_file(tmp_path: Path, encode: Callable[[Any], Any]) -> None:
    columns = zip(*(row.split(",") for row in ROWS), strict=True)
    table = {
        name: encode(list(cells)) for name, cells in zip(HEADER.split(","), columns, strict=True)
    }
    table["score"] = pyarrow.array(SCORES)
    table["date"] = pyarrow.array([date.fromisoformat(row[-10:]) for row in ROWS])
    parquet.write_table(pyarrow.table(table), tmp_path / "log.parquet", row_group_size=3)
    check(read_log(tmp_path / "log.parquet", scale=(1, 5)))


def test_one_of_two_criteria_is_not_taken_for_the_score_unasked() -> None:
    names = ["candidate", "group", "judge", "score technical", "communication skills score"]
    chosen, unclear = choose_columns(names, {})
    assert "score" not in chosen
    assert unclear["score"] == ["score technical", "communication skills score"]
