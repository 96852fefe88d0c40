"""A first run says that it compiles, and only a first run does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from affinity_bandits.base.progress import with_delay
from affinity_bandits.experiments import RayExecutor
from tests.cli.test_audit import log as log  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow
COMPILES = re.compile(r"; compiling once for this machine, \d+ s$", re.MULTILINE)
SWEEP = """
replicates = 4
[axes]
policy = ["exp3"]
[fixed]
"bandit.true_means" = [0.4, 0.6]
horizon = 50
"""
COMMANDS = {
    "simulate": ("--means", "0.4,0.6", "--policy", "exp3", "--horizon", "50"),
    "sweep": ("run", "s.toml", "--workers", "1", "--store", "STORE"),
    "sweep in processes": ("run", "s.toml", "--workers", "2", "--store", "STORE"),
    "plan": (
        *("--groups", "2", "--budget", "300", "--difference", "0.5", "--scale", "1..5", "--again"),
        *("--initial-lead", "2", "--judges", "committee", "--favor-gap", "same"),
    ),
    "audit": ("LOG", "--scale", "1..5"),
    "show": ("--out", "page.html", "--horizon", "1e4"),
}
QUICKLY = (
    "import sys; from affinity_bandits.base import progress; "
    "progress.SOON = progress.EVERY = 0.02; "
    "from affinity_bandits.cli import main; main()"
)
"""The command, which looks at what it does every 20 ms instead of every ten seconds."""


def said(folder: Path, log: Path, name: str, number: int) -> str:
    places = {"LOG": str(log), "STORE": f"{number}.store"}
    words = [places.get(word, word) for word in COMMANDS[name]]
    done = subprocess.run(
        [sys.executable, "-c", QUICKLY, name.split(maxsplit=1)[0], *words],
        cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.long
@pytest.mark.nightly_but("simulate", "processes", "audit")
@pytest.mark.parametrize("name", COMMANDS)
def test_only_a_first_run_says_that_it_compiles(name: str, log: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SWEEP, encoding="utf-8")
    first = said(tmp_path, log, name, 1)
    assert COMPILES.search(first), first
    again = said(tmp_path, log, name, 2)
    assert re.search(r", \d+ s$", again, re.MULTILINE)  # it was looked at
    assert "compiling" not in again


def test_starting_ray_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    fake = SimpleNamespace(
        init=lambda *_, **__: said.append(with_delay("0 of 4 replicates")),
        shutdown=lambda: said.append(with_delay("0 of 4 replicates")),
        is_initialized=lambda: False,
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr("affinity_bandits.experiments.ray_executor.need", lambda *_: None)
    with RayExecutor(workers=1)._connected():
        pass
    assert said == ["0 of 4 replicates; starting Ray", "0 of 4 replicates"]
