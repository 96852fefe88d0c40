"""Logs that are right are read, however they are written, and all of them alike."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pytest

from affinity_bandits.audit import decision_log, summary_of_log
from affinity_bandits.audit.reading import LogReader, csv_files, parquet_files, row_ids
from affinity_bandits.audit.reading.row_ids import digests
from tests.audit.reading.files import GOOD, as_parquet, consumed, opened, written
from tests.audit.test_one_pass import assert_same

DAY = dt.datetime(2025, 3, 31)


def columns_in(reader: LogReader) -> list[Any]:
    """All rows, as lists."""
    parts = [[None if column is None else column.tolist() for column in part] for part in reader]
    return [
        None if column[0] is None else [item for part in column for item in part]
        for column in zip(*parts, strict=True)
    ]


WANTED = [[0, 1, 0], [1.0, 0.5, 0.75], [True, True, True], None, None, None]


@pytest.mark.parametrize(
    ("content", "changes"),
    [
        (GOOD, {}),
        (GOOD.replace(",", ";"), {}),
        (GOOD.replace(",", "\t"), {}),
        (GOOD.replace(",", "|"), {"delimiter": "|"}),
        (GOOD.replace("\n", "\r\n"), {}),
        (GOOD.replace("\n", "\r"), {}),
        (b"\xef\xbb\xbf" + GOOD.encode(), {}),
        (GOOD.rstrip(), {}),
        (GOOD + "\n\n", {}),
        (GOOD.replace("other", '"other"').replace("time", '"time"'), {}),
        (GOOD.replace("score", "Score").replace("group", "GROUP"), {}),
        (GOOD.replace("score", "points"), {"score": "points"}),
        (GOOD.replace("5", " 5 ").replace("4", "4.0").replace("3\n", "3e0\n"), {}),
        (GOOD.replace("\n1,", "\n0.5,"), {}),
        (GOOD.replace("\n1,", "\n2025-01-01,").replace("\n2,", "\n2025-01-02,"), {"rest": "3"}),
        ("note,time,group,score\n\xe4\xf6,1,own,5\n".encode("latin-1"), {"rest": "2"}),
        ('time,group,score,note\n1,own,5,"a ""b"", c"\n2,other,3,"x\ny"\n3,own,4,5" pipe\n', {}),
    ],
)
def test_csv_files_of_all_kinds_are_the_same(
    tmp_path: Path, content: str | bytes, changes: dict[str, Any]
) -> None:
    rest = changes.pop("rest", None)
    if rest == "3":
        content = str(content).replace("\n3,", "\n2025-01-03,")
    elif rest == "2":
        content = bytes(content) + b"a,2,other,3\nb,3,own,4\n"
    assert columns_in(opened(written(tmp_path, content), **changes)) == WANTED


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"score": np.array([5, 3, 4], np.int8)},
        {"score": np.array([5, 3, 4], np.float32)},
        {"score": np.array([5, 3, 4], np.float16)},
        {"score": [Decimal("5.0"), Decimal("3.0"), Decimal("4.0")]},
        {"group": arrow.array(["own", "other", "own"]).dictionary_encode()},
        {"group": arrow.array(["own", "other", "own"], arrow.large_string())},
        pytest.param(
            {"group": arrow.array(["own", "other", "own"], arrow.string_view())},
            marks=pytest.mark.skipif(
                int(arrow.__version__.partition(".")[0]) < 19, reason="pyarrow cannot write it"
            ),
        ),
        {"time": [1.5, 2.5, 3.5]},
        {"time": np.array([1, 2, 2**64 - 1], np.uint64)},
        {"time": ["2025-01-01T10:00Z", "2025-01-01T12:00+01:00", "2025-01-01T11:00:00.1Z"]},
        {"time": [DAY.date(), DAY.date() + dt.timedelta(1), DAY.date() + dt.timedelta(2)]},
        *({"time": arrow.array([DAY] * 3, arrow.timestamp(u))} for u in ("s", "ms", "us", "ns")),
        {"time": arrow.array([DAY] * 3, arrow.timestamp("us", tz="Europe/Berlin"))},
        {"time": arrow.array([DAY.date()] * 3, arrow.date64())},
        {"id": ["c", "a", "b"]},
        {"id": [3, 1, 2]},
        {"unused": [[1], [2], [3]]},
    ],
)
def test_parquet_files_of_all_types_are_the_same(tmp_path: Path, changes: dict[str, Any]) -> None:
    columns = {"time": [1, 2, 3], "group": ["own", "other", "own"], "score": [5, 3, 4], **changes}
    wanted = list(WANTED)
    if changes.get("time") is not None and str(arrow.array(columns["time"])[0]) == str(
        arrow.array(columns["time"])[2]
    ):
        wanted[2] = [True, False, False]  # one moment
    assert columns_in(opened(as_parquet(tmp_path, columns))) == wanted


def test_whole_numbers_are_groups_too(tmp_path: Path) -> None:
    path = as_parquet(tmp_path, {"group": [7, 8, 7], "score": [5, 3, 4], "time": [1, 2, 3]})
    assert columns_in(opened(path, initial={7: 1, 8: 2})) == WANTED


def test_whole_scores_on_a_short_scale_have_known_nodes(tmp_path: Path) -> None:
    columns = {"time": [1, 2, 3], "group": ["own", "other", "own"], "score": [5, 3, 4]}
    path = as_parquet(tmp_path, columns)
    assert opened(path).summary().table.nodes.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert opened(path, highest=30).nodes is None
    assert opened(path, lowest=0.5).nodes is None
    assert opened(as_parquet(tmp_path, {**columns, "score": [5.0, 3.0, 4.0]})).nodes is None


@pytest.mark.parametrize(
    ("yes", "no"), [("yes", "no"), ("Y", "N"), ("TRUE", "false"), ("1", "0"), (" Yes", "no ")]
)
def test_yes_and_no_in_plain_spellings(tmp_path: Path, yes: str, no: str) -> None:
    text = f"time,group,score,hired\n1,own,5,{yes}\n2,other,3,{no}\n"
    assert columns_in(opened(written(tmp_path, text)))[3] == [True, False]


def test_seats_make_shares(tmp_path: Path) -> None:
    head = "time,group,score,panel_own,panel_other,drawn_from_own,drawn_from_other\n"
    path = written(tmp_path, head + "1,own,5,1,3,5,5\n2,other,3,1,3,3,1\n")
    found = columns_in(opened(path))
    assert found[4:] == [[0.25, 0.75], [0.5, 0.25]]
    named = {"panel": {"own": "panel_own", "other": "panel_other"}, "drawn_from": "drawn"}
    path = written(
        tmp_path,
        head.replace("drawn_from_own", "drawn") + "1,own,5,1,3,0.5,5\n2,other,3,1,3,0.3,1\n",
    )
    assert columns_in(opened(path, **named))[4:] == [[0.25, 0.75], [0.5, 0.3]]


def test_rows_are_sorted_if_it_is_asked_for(tmp_path: Path) -> None:
    text = "time,group,score\n3,own,4\n1,own,5\n2,other,3\n2,own,2\n"
    found = columns_in(opened(written(tmp_path, text), sort=True))
    assert found[:3] == [[0, 1, 0, 0], [1.0, 0.5, 0.25, 0.75], [True, True, False, True]]


def test_names_that_never_occur_are_a_warning(tmp_path: Path) -> None:
    reader = consumed(written(tmp_path, GOOD), initial={"own": 1, "other": 1, "third": 4})
    assert reader.warnings == ["group 'third' is in the initial committee and in no row"]


def test_rows_without_an_id_may_be_alike(tmp_path: Path) -> None:
    consumed(written(tmp_path, GOOD + "3,own,4\n3,own,4\n"))


def test_more_ids_than_are_kept_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_ids, "MOST_ROWS", 2)
    text = "id,time,group,score\n{},1,own,5\n2,2,other,3\n3,3,own,5\n"
    assert consumed(written(tmp_path, text.format(1))).warnings == []  # they rise
    assert "not checked" in consumed(written(tmp_path, text.format(9))).warnings[0]


def test_texts_have_digests_of_their_own() -> None:
    texts = [f"{number:x}" for number in range(100_000)] + ["", "a", "aa", "\xe4"]
    found = digests(arrow.array(["before", *texts])[1:])
    assert len(set(found.tolist())) == len(set(texts)) == len(texts) - len({"a", "aa"})


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_has_the_summary_of_the_log_in_it(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK", 10_000)
    monkeypatch.setattr(parquet_files, "ROWS_AT_ONCE", 300)
    rng = np.random.default_rng(3)
    rows = 3_000
    names = np.array(["own", "other"])[rng.integers(0, 2, rows)]
    columns = {
        "date": np.datetime64("2025-01-01") + np.sort(rng.integers(0, 900, rows)),
        "source": names,
        "stars": rng.choice([1.0, 2.5, 5.0], rows),
        "hired": np.where(rng.random(rows) < 0.5, "yes", "no"),
        "panel": rng.integers(0, 6, rows) / 5,
    }
    if kind == "parquet":
        path = as_parquet(tmp_path, columns)
    else:
        lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        path = written(tmp_path, "\n".join([",".join(columns), *lines]))
    log = decision_log(
        names,
        columns["stars"],
        initial={"own": 3, "other": 2},
        lowest=1,
        highest=5,
        moment=columns["date"].astype(np.int64),
        chosen=columns["hired"] == "yes",
        panel=columns["panel"],
    )
    reader = opened(path)
    assert len(list(reader)) > 2
    assert_same(reader.summary(), summary_of_log(log))
