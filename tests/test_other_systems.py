"""What Windows and macOS lack is not needed: each of it is taken away here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import executors, files
from affinity_bandits.experiments.executors import ProcessExecutor
from affinity_bandits_client import NotSupported, journal
from tests.support.environments import ROOT

WINDOWS = SimpleNamespace(platform="win32")


@pytest.mark.slow
@pytest.mark.long
def test_what_is_meant_for_all_systems_runs_without_names_of_posix() -> None:
    """The script begins with a negative control: the names are hidden indeed."""
    modules, functions = "fcntl grp resource termios uvloop", "signal.pthread_sigmask os.pread"
    environment = os.environ | {
        "HIDDEN_PACKAGES": modules,
        "HIDDEN_NAMES": functions,
        "PYTHONPATH": str(ROOT / "tests" / "support" / "hiding"),
    }
    script = (
        "import os, runpy, signal; from importlib.util import find_spec; "
        f"assert not any(map(find_spec, {modules.split()})); "
        "assert not hasattr(signal, 'pthread_sigmask') and not hasattr(os, 'pread'); "
        "runpy.run_path('checks/scripts/other_systems.py', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 9


def refuse_folders(path: object, *_: object, **__: object) -> int:
    """`os.open` of Windows, for a folder."""
    raise PermissionError(13, "Permission denied", path)


def test_a_store_writes_where_folders_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = files.files_at(str(tmp_path / "store"))
    monkeypatch.setattr(files, "sys", WINDOWS)
    monkeypatch.setattr("os.open", refuse_folders)
    there.write("a/b", b"c")
    assert there.read("a/b") == b"c"
    monkeypatch.setattr(files, "sys", sys)
    with pytest.raises(PermissionError):
        there.write("a/d", b"e")


def test_a_journal_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "sys", WINDOWS)
    with pytest.raises(NotSupported, match="a journal needs the file locks of a POSIX system"):
        journal.Journal(tmp_path / "j", "campaign")
    assert list(tmp_path.iterdir()) == []


def test_workers_are_as_many_as_can_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "MOST_WORKERS", 60)
    monkeypatch.setattr("os.cpu_count", lambda: 128)
    assert ProcessExecutor().workers == 60
    with pytest.raises(InvalidInput, match="workers must be"):
        ProcessExecutor(61)
