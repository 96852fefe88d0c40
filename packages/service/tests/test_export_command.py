"""`affinity serve export`: what it prints, what it refuses, and what it leaves behind."""

from __future__ import annotations

import asyncio
import os
import pty
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import pytest

from affinity_bandits.base import errors
from affinity_bandits.cli import main
from affinity_bandits.policies import ExploreThenCommit
from tests.support.one_campaign import opened

Run = Callable[..., tuple[int, str, str]]
OTHER = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def run(
    dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    monkeypatch.setenv("AFFINITY_DSN", dsn)
    monkeypatch.chdir(tmp_path)

    def one(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["affinity", "serve", "export", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return one


@pytest.fixture(scope="module")
def campaign(dsn: str) -> str:
    """The id of one with three answers."""

    async def made() -> UUID:
        async with opened(dsn) as one:
            one.id = await one.create(ExploreThenCommit(2), 100)
            await one.tell(await one.ask(4), {0: 0, 1: 1, 2: 0.5})
            return one.id

    return str(asyncio.run(made()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "T.CSV"])
def test_it_says_what_it_wrote(run: Run, campaign: str, name: str) -> None:
    assert run(campaign, "--out", name) == (0, f"table: {name} (3 rows)\n", "")
    assert os.listdir() == [name]


def test_a_file_that_is_there_is_replaced_only_by_force(run: Run, campaign: str) -> None:
    Path("t.csv").write_text("mine")
    status, out, err = run(campaign, "--out", "t.csv")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "--force" in err
    assert Path("t.csv").read_text() == "mine"
    assert run(campaign, "--out", "t.csv", "--force")[0] == 0
    assert Path("t.csv").read_text().count("\n") == 4


@pytest.mark.parametrize(
    ("of", "name", "said"),
    [
        ("x", "t.csv", "CAMPAIGN must be a campaign's id"),
        (OTHER, "t.csv", f"there is no campaign {OTHER}"),
        (None, "t.xlsx", "out must be a file that ends in .csv or .parquet, got 't.xlsx'"),
        (None, "t", "ends in .csv or .parquet"),
        (None, "nowhere/t.csv", "out must be in a directory"),
        (None, "d.csv", "out must be a file, not a directory"),
        (None, f"{'n' * 252}.csv", "File name too long"),
    ],
)
def test_a_mistake_ends_in_one_line_and_leaves_nothing(
    run: Run, campaign: str, of: str | None, name: str, said: str
) -> None:
    Path("d.csv").mkdir()
    status, out, err = run(of or campaign, "--out", name, "--force")
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert os.listdir() == ["d.csv"]


def test_parquet_without_pyarrow_names_the_extra_and_csv_needs_nothing(
    run: Run, campaign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = errors.find_spec
    monkeypatch.setattr(
        errors, "find_spec", lambda name: None if name == "pyarrow" else found(name)
    )
    said = 'affinity: pyarrow is not installed; install it with: pip install ".[experiments]"'
    assert run(campaign, "--out", "t.parquet") == (
        2,
        "",
        f"{said} in a checkout of affinity-bandits\n",
    )
    with patch.dict(sys.modules, {"pyarrow": None}):
        assert run(campaign, "--out", "t.csv")[0] == 0


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_disk_that_is_full_is_not_taken_for_a_database_that_is_away(
    run: Run, campaign: str, name: str
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        found = run(campaign, "--out", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    said = "affinity: out must be a file that can be written, got"
    assert found == (2, "", f"{said} '{name}: File too large'\n")
    assert os.listdir() == []


def test_how_far_it_is_is_shown_on_a_terminal_alone(run: Run, campaign: str) -> None:
    ours, theirs = pty.openpty()
    with open(theirs, "w", encoding="utf-8") as terminal, patch.object(sys, "stderr", terminal):
        assert run(campaign, "--out", "t.csv")[0] == 0
    shown = ""
    with suppress(OSError):  # the end of what a closed terminal has shown
        while True:
            shown += os.read(ours, 1000).decode()
    os.close(ours)
    assert "3 of 3 events" in shown
    assert run(campaign, "--out", "u.csv")[2] == ""
