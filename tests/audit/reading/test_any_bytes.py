"""Whatever bytes a file has: a sound log comes out, or one line of what is wrong."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from affinity_bandits.audit import Rows, summary_of
from affinity_bandits.errors import InvalidInput
from tests.audit.reading.files import GOOD, SETTINGS, as_parquet, opened, written

WIDE = (
    "id,time,group,score,chosen,panel_own,panel_other,note\n"
    '1,2025-03-30T10:00Z,own,5,yes,1,2,"a, ""b"""\n'
    "2,2025-03-30T10:00Z,other,3.5,no,0,3,c\n"
    "3,2025-03-31T11:30Z,own,1,no,2,1,\n"
)
FUZZ = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SIGNS = b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"\xc3", b"-", b"e", b";", b"\t", b"%", b"'"
WORDS = (
    b"own",
    b"Own ",
    b"2025-03-31",
    b"",
    b" ",
    b"\xef\xbb\xbf",
    b'""',
    b"9" * 30,
    b"nan",
    b"1e400",
)
PIECES = st.sampled_from(SIGNS + WORDS)


def sound_or_said(path: Path) -> bool:
    """Return whether a file has a sound log; if not, check that what is wrong is said."""
    parts: list[Rows] = []
    try:
        parts.extend(opened(path))
    except InvalidInput as error:
        said = str(error)
    else:
        said = ""
    if said:
        assert "\n" not in said
        assert "Traceback" not in said
        assert len(said) < 600
        return False
    for part in parts:
        assert set(part.group.tolist()) <= {0, 1}
        for column in (part.score, part.panel, part.drawn_from):
            assert column is None or ((column >= 0) & (column <= 1)).all()
    rows = sum(len(part.group) for part in parts)
    assert summary_of(parts, SETTINGS["initial"]).rows == rows > 1
    return True


@pytest.mark.slow
@FUZZ
@given(st.binary(max_size=400))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    sound_or_said(written(tmp_path, content))


@pytest.mark.slow
@FUZZ
@given(st.binary(max_size=200))
def test_any_bytes_after_a_header(tmp_path: Path, content: bytes) -> None:
    sound_or_said(written(tmp_path, b"time,group,score\n" + content))


@pytest.mark.slow
@FUZZ
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_header_and_cell(tmp_path: Path, name: str, cell: str) -> None:
    text = f"{name},time,group,score\n{cell},1,own,5\n{cell},2,other,4\n"
    sound_or_said(written(tmp_path, text.encode(errors="surrogatepass")))


@pytest.mark.slow
@settings(FUZZ, max_examples=150)
@given(
    st.sampled_from([GOOD.encode(), WIDE.encode(), WIDE.replace("\n", "\r\n").encode()]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), PIECES), max_size=4),
)
def test_a_good_file_with_a_few_changes(
    tmp_path: Path, content: bytes, changes: list[tuple[float, int, bytes]]
) -> None:
    for part, removed, piece in changes:
        at = int(part * len(content))
        content = content[:at] + piece + content[at + removed :]
    path = written(tmp_path, content)
    if sound_or_said(path):
        parts = list(opened(path))
        read = [(g, s) for part in parts for g, s in zip(part.group, part.score, strict=True)]
        assert read == slowly(content)


def slowly(content: bytes) -> list[tuple[int, float]]:
    """The groups and scores of a file, read by another reader: no row is lost."""
    text = content.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    header, *rows = (row for row in csv.reader(io.StringIO(text, newline="")) if row)
    names = [name.strip().lower() for name in header]
    group, score = names.index("group"), names.index("score")
    return [(["own", "other"].index(row[group]), (float(row[score]) - 1) / 4) for row in rows]


def test_files_that_nobody_changed_are_sound(tmp_path: Path) -> None:
    for content in (GOOD, WIDE):
        assert sound_or_said(written(tmp_path, content))


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_a_parquet_file_with_a_few_wrong_bytes(tmp_path: Path, compression: str) -> None:
    rng = np.random.default_rng(1)
    columns = {
        "time": np.arange(300),
        "group": np.array(["own", "other"])[rng.integers(0, 2, 300)],
        "score": rng.integers(1, 6, 300),
    }
    good = as_parquet(tmp_path, columns, compression=compression).read_bytes()
    picks = random.Random(7)
    sound = 0
    for _ in range(120):
        content = bytearray(good)
        for _ in range(picks.randint(1, 4)):
            content[picks.randrange(4, len(content))] = picks.randrange(256)
        sound += sound_or_said(written(tmp_path, bytes(content), "changed.parquet"))
    assert 0 < sound < 120
