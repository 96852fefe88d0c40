"""Ways to get a CSV file wrong, and what is said: column, rule, line and value, on one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from affinity_bandits.audit.reading import log_reader
from affinity_bandits.errors import InvalidInput
from tests.audit.reading.files import GOOD, consumed, opened, written

HEAD = "time,group,score\n"
MORE = "time,group,score,chosen\n"
SHARES = "time,group,score,panel\n"
SEATS = "time,group,score,panel_own,panel_other\n"
IDS = "id,time,group,score\n"
TIMES = "2025-03-30,own,5\n2025-03-31,other,3\n"
NAMES = {"own": 1, "other": 1}

FAULTS: dict[str, tuple[str | bytes, dict[str, Any], str]] = {
    "empty file": ("", {}, r"^file log.csv must be a table with a header, got 'an empty file'"),
    "header only": (HEAD, {}, r"^file .* must be a table of at least one row, got 'no rows'"),
    "empty first line": ("\n" + GOOD, {}, r"header in its first line, got 'an empty first line'"),
    "UTF-16": (GOOD.encode("utf-16"), {}, r"got 'UTF-16: save it as UTF-8'"),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), {}, r"got 'NUL bytes, as in UTF-16"),
    "latin-1 in a cell": (
        (HEAD + "1,own,5\n2,ötr,3\n").encode("latin-1"),
        {},
        r"^line 3 must be UTF-8 text, got b'2,\\xf6tr,3\\n'$",
    ),
    "latin-1 in the header": (
        "zeit,größe\n1,2\n".encode("latin-1"),
        {},
        r"must be a CSV file \(UTF-8\) with a header in its first line, got b'zeit,gr\\xf6",
    ),
    "NUL bytes in a cell": (HEAD + "1,own,5\n2,o\0,3\n", {}, r"^group in line 3 must be one of"),
    "NUL bytes in a score": (HEAD + "1,own,5\n2,own,3\0\n", {}, r"^score in line 3 must be a numb"),
    "binary file": (bytes(range(256)), {}, r"NUL bytes"),
    "a spreadsheet": (b"PK\x03\x04rest", {}, r"got 'an Excel or ZIP file: save the sheet as CSV'"),
    "an old spreadsheet": (b"\xd0\xcf\x11\xe0rest", {}, r"got 'an Excel file: save the sheet"),
    "compressed": (b"\x1f\x8brest", {}, r"got 'compressed: unpack it first'"),
    "too few cells": (HEAD + "1,own,5\n2,other\n", {}, r"^line 3 must be 3 cells, .* '2: 2,other'"),
    "too many cells": (HEAD + "1,own,5,9\n", {}, r"^line 2 must be 3 cells, as the header has, go"),
    "an unclosed quote": (
        'time,group,score,note\n1,own,5,a\n2,other,4,"b\n3,own,5,c\n4,own,5,d\n',
        {},
        r"^line 3 must be closed by a quote, got 'a quote that is open'$",
    ),
    "an unclosed quote in the middle": (
        HEAD + '1,own,5\n2,"other,4\n3,own,5\n',
        {},
        r"^line 3 must be closed by a quote",
    ),
    "no column for groups": (
        "time,who,score\n1,own,5\n",
        {},
        r"^group must be one of the columns time, who, score, got None$",
    ),
    "no column for scores": (
        "time,group,points\n1,own,5\n",
        {},
        r"^score must be one of the columns time, group, points, got None$",
    ),
    "no column for time": (
        "group,score\nown,5\n",
        {},
        r"^time must be one of the columns group, score, or said to be the order of the rows",
    ),
    "a column that is not there": (
        GOOD,
        {"group": "team"},
        r"^group must be one of .*, got 'team'",
    ),
    "another delimiter": (
        GOOD.replace(",", "|"),
        {},
        r"^group must be one of the columns time\|group\|score, got None$",
    ),
    "two names that are obvious": (
        "time,group,score,rating\n1,own,5,5\n",
        {},
        r"^score must be said, since it may be score, rating, got None$",
    ),
    "a column twice": (
        "time,group,score,score\n1,own,5,5\n",
        {},
        r"^column score must be in the file once, got 'twice'$",
    ),
    "a named column twice": (
        "time,team,team,score\n1,own,own,5\n",
        {"group": "team"},
        r"^column team must be in the file once",
    ),
    "a time that falls": (
        HEAD + "1,own,5\n3,other,3\n2,own,4\n",
        {},
        r"^time in line 4 must be not before that of the row above it .*, got '2'$",
    ),
    "a time, though rows are in order": (
        GOOD,
        {"in_order": True, "time": "time"},
        r"^time must be left out if rows are in order, got 'time'$",
    ),
    "rows to be sorted by nothing": (GOOD, {"in_order": True, "sort": True}, r"^sort must be left"),
    "an unknown group": (
        HEAD + "1,own,5\n2,third,3\n",
        {},
        r"^group in line 3 must be one of other, own, got 'third'",
    ),
    "a group in another letter case": (
        HEAD + "1,own,5\n2,Other,3\n",
        {},
        r"^group in line 3 must be one of other, own, got 'Other' \(did you mean 'other'\?\)$",
    ),
    "a group with a space at its end": (
        HEAD + "1,own,5\n2,other ,3\n",
        {},
        r"^group in line 3 must be one of other, own, got 'other ' \(did you mean 'other'\?\)$",
    ),
    "one group only": (
        HEAD + "1,own,5\n2,own,3\n",
        {},
        r"^column group must be of at least two groups, .*, got 'own in all rows'$",
    ),
    "a score above the scale": (
        HEAD + "1,own,5\n2,other,6\n",
        {},
        r"^score in line 3 must be a number from 1 to 5, got '6'$",
    ),
    "a score below the scale": (HEAD + "1,own,0.9\n", {}, r"^score in line 2 .* got '0.9'$"),
    "a scale that no score fits": (
        GOOD,
        {"lowest": 10, "highest": 20},
        r"^score in line 2 must be a number from 10 to 20, got '5'$",
    ),
    "text for a score": (HEAD + "1,own,5\n2,own,good\n", {}, r"^score in line 3 .* got 'good'$"),
    "nan": (HEAD + "1,own,nan\n", {}, r"^score in line 2 must be a number from 1 to 5, got 'nan'$"),
    "inf": (HEAD + "1,own,inf\n", {}, r"^score in line 2 must be a number from 1 to 5, got 'inf'$"),
    "a decimal comma": (
        "time;group;score\n1;own;3,5\n",
        {},
        r"^score in line 2 must be a number from 1 to 5, with a point, not a comma, got '3,5'$",
    ),
    "thousands": (
        HEAD + '1,own,"1,000,000"\n',
        {"highest": 10**7},
        r"^score in line 2 must be .*, without separators, got '1,000,000'$",
    ),
    "a percent sign": (
        HEAD + "1,own,85%\n",
        {"highest": 100},
        r"^score in line 2 must be a number from 1 to 100, without a percent sign, got '85%'$",
    ),
    "an empty time": (
        HEAD + "1,own,5\n,other,3\n",
        {},
        r"^time in line 3 must be given, got None$",
    ),
    "an empty group": (HEAD + "1,,5\n", {}, r"^group in line 2 must be given, got None$"),
    "an empty score": (HEAD + "1,own,\n", {}, r"^score in line 2 must be given, got None$"),
    "a score of spaces": (HEAD + "1,own,  \n", {}, r"^score in line 2 must be given, got ' '$"),
    "an empty chosen": (MORE + "1,own,5,\n", {}, r"^chosen in line 2 must be given, got None$"),
    "an empty panel": (SHARES + "1,own,5,\n", {}, r"^panel in line 2 must be given, got None$"),
    "an empty seat": (
        SEATS + "1,own,5,1,\n",
        {},
        r"^panel_other in line 2 must be given, got None$",
    ),
    "an empty id": (IDS + "1,1,own,5\n,2,own,5\n", {}, r"^id in line 3 must be given, got None$"),
    "chosen is a third thing": (
        MORE + "1,own,5,yes\n2,other,3,perhaps\n",
        {},
        r"^chosen in line 3 must be yes or no \(or true or false, 1 or 0\), got 'perhaps'$",
    ),
    "a panel's share above 1": (
        SHARES + "1,own,5,60\n",
        {},
        r"^panel in line 2 must be a number from 0 to 1, got '60'$",
    ),
    "a negative share": (SHARES + "1,own,5,-0.1\n", {}, r"^panel in line 2 .* got '-0.1'$"),
    "negative seats": (
        SEATS + "1,own,5,3,-1\n",
        {},
        r"^panel_other in line 2 must be a number from 0 to 1e\+06, got '-1'$",
    ),
    "half a seat": (
        SEATS + "1,own,5,3,2\n2,own,5,1.5,2\n",
        {},
        r"^panel_own in line 3 must be a whole number of seats, got '1.5'$",
    ),
    "a panel of nobody": (
        SEATS + "1,own,5,3,2\n2,own,5,0,0\n",
        {},
        r"^panel_own in line 3 must be of a panel with at least one seat, got 0$",
    ),
    "a share and seats": (
        "time,group,score,panel,panel_own,panel_other\n1,own,5,0.5,1,1\n",
        {},
        r"^panel must be a share or seats, not both: say which of panel, panel_own, panel_other",
    ),
    "seats of one group": (
        SEATS + "1,own,5,3,2\n",
        {"panel": {"own": "panel_own"}},
        r"^panel\['other'\] must be one of the columns time, group, .* got None$",
    ),
    "seats of a group that is not there": (
        SEATS + "1,own,5,3,2\n",
        {"panel": {"own": "panel_own", "other": "panel_other", "third": "score"}},
        r"^panel must be a column for each of own, other, got 'third'$",
    ),
    "drawn from, without panels": (
        "time,group,score,drawn_from\n1,own,5,0.5\n",
        {},
        r"^drawn_from must be left out unless panels are given, got 'drawn_from'$",
    ),
    "drawn from more than all": (
        "time,group,score,panel,drawn_from\n1,own,5,0.5,1.5\n",
        {},
        r"^drawn_from in line 2 must be a number from 0 to 1, got '1.5'$",
    ),
    "an id twice": (
        IDS + "7,1,own,5\n8,2,other,5\n7,3,own,5\n",
        {},
        r"^id in line 4 must be another one in every row, got 'that of line 2'$",
    ),
    "a text id twice": (
        IDS + "a,1,own,5\nb,2,other,5\nb,3,own,5\n",
        {},
        r"^id in line 4 must be another one in every row, got 'that of line 3'$",
    ),
    "dates, then a number": (
        HEAD + TIMES + "7,own,4\n",
        {},
        r"^time in line 4 must be an ISO date, as in the first row, got '7'$",
    ),
    "numbers, then a date": (
        HEAD + "1,own,5\n" + TIMES,
        {},
        r"^time in line 3 must be a number, as in the first row, got '2025-03-30'$",
    ),
    "a time zone in some rows": (
        HEAD + "2025-03-30T10:00Z,own,5\n2025-03-30T11:00,other,5\n",
        {},
        r"^time in line 3 must be an ISO timestamp with a time zone, as in the first row, got '20",
    ),
    "no time zone in some rows": (
        HEAD + "2025-03-30T10:00,own,5\n2025-03-30T11:00+02:00,other,5\n",
        {},
        r"^time in line 3 must be an ISO timestamp without a time zone, as in the first row",
    ),
    "the day first": (
        HEAD + "03/04/2025,own,5\n",
        {},
        r"^time in line 2 must be an ISO date, the year first .*, got '03/04/2025'$",
    ),
    "the day first, later": (
        HEAD + TIMES + "01.04.2025,own,5\n",
        {},
        r"^time in line 4 must be an ISO date, the year first .*, got '01.04.2025'$",
    ),
    "a day that there is not": (
        HEAD + "2025-02-28,own,5\n2025-02-30,other,5\n",
        {},
        r"^time in line 3 must be an ISO date that there is, got '2025-02-30'$",
    ),
    "a month by name": (
        HEAD + "3 March,own,5\n",
        {},
        r"^time in line 2 must be a number, or an ISO",
    ),
    "an infinite time": (
        HEAD + "1,own,5\n1e999,own,5\n",
        {},
        r"^time in line 3 must be a number, or",
    ),
    "lowest is highest": (GOOD, {"lowest": 5}, r"^highest must be a finite number above 5, got 5$"),
    "lowest above highest": (GOOD, {"lowest": 7}, r"^highest must be a finite number above 7"),
    "no scale": (GOOD, {"lowest": None}, r"^lowest must be a finite number, got None$"),
    "no committee": (GOOD, {"initial": None}, r"^initial must be given: how many of each group"),
    "an empty committee": (
        GOOD,
        {"initial": dict.fromkeys(NAMES, 0)},
        r"^initial must be a committee of at least one member, got",
    ),
    "nobody at all": (GOOD, {"initial": {}}, r"^initial must be a table of 2 to 1,000 groups"),
    "a negative member": (
        GOOD,
        {"initial": {"own": -1, "other": 3}},
        r"^initial\['own'\] must be a whole number from 0 to .*, got -1$",
    ),
    "half a member": (
        GOOD,
        {"initial": {"own": 1.5, "other": 3}},
        r"^initial\['own'\] must be a whole number from 0 to .*, got 1.5$",
    ),
    "a committee of one group": (
        GOOD,
        {"initial": {"own": 1}},
        r"^initial must be a table of 2 to",
    ),
    "too many groups": (
        GOOD,
        {"initial": {f"g{number}": 1 for number in range(1_001)}},
        r"^initial must be a table of 2 to 1,000 groups and their numbers, got",
    ),
    "groups that differ in letter case": (
        GOOD,
        {"initial": {"own": 1, "other": 1, "Own ": 1}},
        r"^initial must be of names that differ in more than letter case and spaces, got \['own', ",
    ),
    "a delimiter of two letters": (GOOD, {"delimiter": "::"}, r"^delimiter must be one character"),
    "a row without an end": (
        HEAD + "1,own,5\n2," + "x" * (5 << 20) + ",3\n",
        {},
        r"^(file .* must be rows of at most 4,194,304 bytes|group in line 3 must be one of)",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_said(tmp_path: Path, name: str) -> None:
    content, changes, message = FAULTS[name]
    with pytest.raises(InvalidInput, match=message) as caught:
        consumed(written(tmp_path, content), **changes)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_there_are_many_ways() -> None:
    assert len(FAULTS) >= 60


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.csv", r"^file must be one that can be read, got '.*No such file or directory'$"),
        (".", r"^file must be a CSV or Parquet file, got '.*: a directory'$"),
        ("a\0b", r"^file must be one that can be read, got"),
        ("log.csv/more", r"^file must be one that can be read, got '.*Not a directory'$"),
    ],
)
def test_what_is_no_file(tmp_path: Path, name: str, message: str) -> None:
    written(tmp_path, GOOD)
    with pytest.raises(InvalidInput, match=message):
        opened(f"{tmp_path}/{name}")


def test_what_is_no_path() -> None:
    with pytest.raises(InvalidInput, match=r"^source must be the path of a file, or a Query"):
        opened(7)


def test_a_device_is_no_file() -> None:
    with pytest.raises(InvalidInput, match=r"^file must be a CSV or Parquet file, got '.*no file'"):
        opened("/dev/zero")


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    # Line 1 is the header, 2 is blank, 3 to 5 are one row, 6 is wrong.
    text = 'time,group,score,note\n\n1,own,5,"a\nb\nc"\n2,own,bad,d\n'
    with pytest.raises(InvalidInput, match=r"^score in line 6 "):
        consumed(written(tmp_path, text))
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["time,group,score", "", "1,own,5", "", "", "2,own,bad"])
        with pytest.raises(InvalidInput, match=r"^score in line 6 "):
            consumed(written(tmp_path, text))


@pytest.mark.slow
def test_a_fault_far_down_the_file_is_found_in_its_line(tmp_path: Path) -> None:
    rows = 400_000  # more than one block
    lines = [f"{row},{'own' if row % 3 else 'other'},{1 + row % 5}" for row in range(rows)]
    lines[350_000] = "350000,own,six"
    with pytest.raises(InvalidInput, match=r"^score in line 350,002 .* got 'six'$"):
        consumed(written(tmp_path, "time,group,score\n" + "\n".join(lines)))
    lines[350_000] = "349998,own,5"
    with pytest.raises(InvalidInput, match=r"^time in line 350,002 must be not before"):
        consumed(written(tmp_path, "time,group,score\n" + "\n".join(lines)))
    lines[350_000] = "350000,own"
    with pytest.raises(InvalidInput, match=r"^line 350,002 must be 3 cells"):
        consumed(written(tmp_path, "time,group,score\n" + "\n".join(lines)))


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    reader = opened(path)
    rows = iter(reader)
    next(rows)
    path.write_text(GOOD + "4,own,5\n")
    with pytest.raises(InvalidInput, match=r"left as it is while it is read, got 'a change'$"):
        list(rows)


def test_more_rows_are_not_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_reader, "MOST_SORTED", 2)
    with pytest.raises(InvalidInput, match=r"^sort must be left out of a log of more than 2 rows"):
        consumed(written(tmp_path, GOOD), sort=True)
