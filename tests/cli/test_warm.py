"""`affinity warm`: after it, and from a pack that it made, first commands compile nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import affinity_bandits.cli.warm
from affinity_bandits.cli.app import app
from affinity_bandits.cli.warm import EXAMPLE, FIRST, warm_up
from affinity_bandits.kernels.pack import VARIABLE, make_pack, pack_name, pack_processor
from checks.bench.startup import FIRST as STUDY
from checks.bench.startup import PLAN
from tests.kernels.test_pack import COUNTED
from tests.support.processes import run_python
from tests.support.quiet import without_heartbeat

DOCUMENTED = {
    "simulate": (*STUDY[:-2], "--save", "result.npz"),
    "show": ("show", "--out", "runs.html", "--horizon", "1e5"),
    "plan": (*PLAN, "--again"),
    "audit": (
        *("audit", "interviews.xlsx", "--people", "people.csv", "--scale", "1..5"),
        *("--json", "audit.json", "--report", "report.html"),
    ),
}
"""First commands as the documentation has them, and what they write."""


def compiled_and_found(
    folder: Path, name: str, shipped: Path, **variables: str
) -> tuple[int, object]:
    """How many functions a documented command compiles, and all that it prints and writes."""
    shutil.copytree(str(EXAMPLE), folder)
    done = run_python(
        *("-c", COUNTED.format(shipped=str(shipped)), *DOCUMENTED[name]),
        folder=folder,
        XDG_CACHE_HOME=str(folder / "plans"),
        **variables,
    )
    printed, _, compiled = done.stdout.rpartition("compiled ")
    written = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return int(compiled), (printed, without_heartbeat(done.stderr), written)


@pytest.mark.long
@pytest.mark.nightly_but("simulate", "audit")
@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_first_commands_compile_nothing_from_a_pack(tmp_path: Path, name: str) -> None:
    """They find the same to the byte as code that was compiled for this processor."""
    assert DOCUMENTED.keys() == FIRST.keys()
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "made")}
    assert warm_up({name: FIRST[name]}, pack_processor() | {VARIABLE: "", **cache}) == []
    make_pack(tmp_path / "made", tmp_path / "packs")
    new = {"NUMBA_CACHE_DIR": str(tmp_path / "new")}
    compiled, packed = compiled_and_found(tmp_path / "packed", name, tmp_path / "packs", **new)
    assert compiled == 0
    laid = [path.name for path in (tmp_path / "new").rglob("*.nbc")]
    assert laid  # it was not plain Python
    assert set(laid) <= {path.name for path in (tmp_path / "made").rglob("*.nbc")}
    assert packed == compiled_and_found(tmp_path / "usual", name, tmp_path / "none")[1]


@pytest.mark.long
def test_afterwards_first_commands_compile_nothing(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert compiled_and_found(tmp_path / "before", "audit", tmp_path / "none", **cache)[0] > 0
    shutil.rmtree(tmp_path / "cache")
    assert warm_up({"audit": FIRST["audit"]}, {VARIABLE: "", **cache}) == []
    assert compiled_and_found(tmp_path / "after", "audit", tmp_path / "none", **cache)[0] == 0


def test_it_says_what_it_did(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(affinity_bandits.cli.warm, "FIRST", {"policies": ("policies",)})
    done = CliRunner().invoke(app, ["warm"])
    assert (done.exit_code, done.stdout) == (0, "compiled: affinity policies\n")
    done = CliRunner().invoke(app, ["warm", "--pack", str(tmp_path / "new")])
    assert (done.exit_code, done.stdout) == (0, f"written: {tmp_path / 'new' / pack_name()}\n")


def test_a_command_that_fails_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert warm_up({"one": ("policies",), "two": ("simulate",)}, {}) == ["two"]
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["compiling for affinity one", "compiling for affinity two"]
    assert said[2].startswith("affinity: means must be given")


def test_a_pack_is_not_written_over(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["warm", "--pack", str(tmp_path)])
    assert "pack must be a new folder" in str(done.exception)


def test_a_command_that_fails_is_not_said_to_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    first = {"policies": ("policies",), "audit": ("audit", "lost.csv")}
    monkeypatch.setattr(affinity_bandits.cli.warm, "FIRST", first)
    done = CliRunner().invoke(app, ["warm"])
    assert (done.exit_code, done.stdout) == (1, "compiled: affinity policies\n")
    assert "lost.csv" in done.stderr
