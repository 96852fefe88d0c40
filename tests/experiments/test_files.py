"""Files are whole or absent, whichever call of a write fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import Store, Sweep, files, run_cells
from affinity_bandits.experiments.files import Files, LocalFiles
from tests.experiments.driver import SMALL

CALLS = [(Path, "mkdir"), (Path, "open"), (os, "fsync"), (Path, "replace"), (Path, "unlink")]
CALLS += [(os, "open")]  # of the directory, to sync it


def test_only_finished_files_are_listed(tmp_path: Path) -> None:
    there = files.files_at(str(tmp_path))
    assert there.sizes("none") == {}
    for name, content in (("a/2", b"22"), ("a/1", b"1"), ("a/inner/3", b"333")):
        there.write(name, content)
    (tmp_path / "a" / f"{files.TEMPORARY}x").write_bytes(b"half")
    assert there.sizes("a") == {"1": 1, "2": 2}
    assert there.names("a") == ["1", "2"]


@pytest.mark.parametrize("kind", [Files, LocalFiles])
def test_many_files_are_read_in_order_without_those_that_are_gone(
    tmp_path: Path, kind: type[Files]
) -> None:
    there = kind(fs.LocalFileSystem(), str(tmp_path))
    names = [f"a/{i}" for i in range(40)]
    for name in names[::2]:
        there.write(name, name.encode())
    found = list(there.read_each(names))
    assert found == [None if i % 2 else f"a/{i}".encode() for i in range(40)]


def test_a_file_is_moved_and_removed_once(tmp_path: Path) -> None:
    there = files.files_at(str(tmp_path))
    there.write("a/1", b"1")
    for _ in range(2):  # as by two drivers
        there.move("a/1", "b/a/1")
    assert there.read("b/a/1") == b"1"
    for _ in range(2):
        there.remove("b/a/1")
    assert there.names("b/a") == []


class FailingCalls:
    """Let one filesystem call of `LocalFiles.write` fail, or all from that one on."""

    def __init__(self, at: int, lasting: bool, patch: pytest.MonkeyPatch) -> None:
        self.at = at
        self.lasting = lasting
        self.calls = 0
        self.failed = ""
        self.inside = False
        real = LocalFiles.write

        def write(files: LocalFiles, name: str, content: bytes) -> None:
            self.inside = True
            try:
                real(files, name, content)
            finally:
                self.inside = False

        patch.setattr(LocalFiles, "write", write)
        for owner, name in CALLS:
            patch.setattr(owner, name, self._may_fail(getattr(owner, name), name))

    def _may_fail(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.calls += self.inside
            if self.inside and (self.calls == self.at or (self.lasting and self.calls > self.at)):
                self.failed = self.failed or name
                raise OSError(errno.ENOSPC, f"injected into {name}")
            return real(*given, **named)

        return call


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
def test_any_call_of_a_write_may_fail(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], lasting: bool
) -> None:
    whole = undisturbed(SMALL)
    failed = set()
    for at in range(1, 100):
        store = Store(tmp_path / str(at))
        with pytest.MonkeyPatch.context() as patch:
            faults = FailingCalls(at, lasting, patch)
            summary = run_cells(SMALL, store)
        store.content_hash()  # nothing is torn
        there = store.snapshot()
        missing = 4 - sum(there.count(cell.identity, 2) for cell in SMALL.planned())
        assert summary.failed > 0 or missing == 0
        assert run_cells(SMALL, store).failed == 0
        assert store.content_hash() == whole
        if not faults.failed:
            break
        failed.add(faults.failed)
    assert failed == {name for _, name in CALLS}


def test_a_write_that_is_not_atomic_leaves_a_torn_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control."""

    def write(files: LocalFiles, name: str, content: bytes) -> None:
        path = Path(files.root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(LocalFiles, "write", write)
    assert run_cells(SMALL, Store(tmp_path)).failed == 2
    with pytest.raises(InvalidInput, match="undamaged"):
        Store(tmp_path).content_hash()
