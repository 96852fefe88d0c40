"""Sweeps on full disks and with failing write calls."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from affinity_bandits.experiments import Store, run_cells
from affinity_bandits.experiments.files import LocalFiles
from soak.cases import CASES, reference
from soak.checker import check
from soak.driver import GRACE, Driver
from soak.rows import Row

CALLS = {"mkdir", "open file", "write", "flush", "fsync", "replace", "unlink", "open directory"}
"""What a write is made of; all of them must have been met, or the injector has lost its grip."""
MOST_CALLS = 500


class FailingCalls:
    """Make one filesystem call of `LocalFiles.write` fail with EIO, or all from one on.

    Args:
        at: the number of the call, counted from 1 over all writes.
        lasting: whether those after it fail too, as on a disk that has died.
    """

    def __init__(self, at: int, lasting: bool) -> None:
        self.at = at
        self.lasting = lasting
        self.calls = 0
        self.met = ""
        self.inside = False

    def fails(self, name: str) -> bool:
        """Count a call and return whether it has to fail."""
        if not self.inside:
            return False
        self.calls += 1
        if self.calls == self.at:
            self.met = name
        return self.calls == self.at or (self.lasting and self.calls > self.at)

    def raises(self, name: str) -> None:
        """Count a call, and raise if it is the one to fail."""
        if self.fails(name):
            raise OSError(errno.EIO, f"injected into {name}")

    @contextlib.contextmanager
    def injected(self) -> Iterator[None]:
        """Make the calls fail inside the block."""
        real_write, real_open = LocalFiles.write, io.open

        def write(files: LocalFiles, name: str, content: bytes) -> None:
            self.inside = True
            try:
                real_write(files, name, content)
            finally:
                self.inside = False

        def open_file(*given: Any, **named: Any) -> Any:
            self.raises("open file")
            file = real_open(*given, **named)
            return _FailingFile(file, self) if self.inside else file

        with contextlib.ExitStack() as stack:
            for name in ("mkdir", "fsync", "replace", "unlink"):
                stack.enter_context(mock.patch.object(os, name, self._wrapped(name, name)))
            directory = self._wrapped("open", "open directory")
            stack.enter_context(mock.patch.object(os, "open", directory))
            stack.enter_context(mock.patch.object(io, "open", open_file))
            stack.enter_context(mock.patch.object(LocalFiles, "write", write))
            yield

    def _wrapped(self, function: str, name: str) -> Callable[..., Any]:
        real = getattr(os, function)

        def call(*given: Any, **named: Any) -> Any:
            self.raises(name)
            return real(*given, **named)

        return call


class _FailingFile:
    """An open file whose failing write has written one half."""

    def __init__(self, file: Any, faults: FailingCalls) -> None:
        self.file = file
        self.faults = faults

    def __enter__(self) -> _FailingFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, content: bytes) -> int:
        if self.faults.fails("write"):
            self.file.write(content[: len(content) // 2])
            raise OSError(errno.EIO, "injected into write")
        return int(self.file.write(content))

    def flush(self) -> None:
        self.faults.raises("flush")
        self.file.flush()

    def fileno(self) -> int:
        return int(self.file.fileno())


def every_write_call(lasting: bool, scratch: Path) -> Row:
    """Fail the first call of a run, then the second of another, until a run has no more calls."""
    kind = "and all after it" if lasting else "alone"
    row = Row(f"write call fails, {kind}")
    case = CASES["small"]()
    truth = reference("small")
    met: set[str] = set()
    for at in range(1, MOST_CALLS):
        root = scratch / f"call-{lasting}-{at}"
        faults = FailingCalls(at, lasting)
        with faults.injected():
            summary = run_cells(case.cells, Store(root))
        after = check(root, truth)
        row.expect(after.untorn, f"torn at call {at}, {faults.met}: {after}")
        row.expect(
            summary.failed > 0 or after.lost == 0,
            f"call {at}, {faults.met}: {after.lost} replicates lost, and nobody was told",
        )
        if not faults.met:
            row.expect(after.good, f"a run without faults is wrong: {after}")
            break
        met.add(faults.met)
        row.faults += 1
        row.restarts += 1
        again = run_cells(case.cells, Store(root))
        row.expect(again.failed == 0, f"the run after call {at} failed: {again}")
        row.add(check(root, truth))
    else:
        row.violations.append(f"a run of {MOST_CALLS} write calls or more")
    row.expect(met == CALLS, f"calls met: {sorted(met)}, not {sorted(CALLS)}")
    row.note = f"{len(met)} kinds of call"
    return row


def full_disk(executor: str, scratch: Path) -> Row:
    """Fill a small disk with a sweep, make it larger, and run again."""
    row = Row(f"full disk, {executor}")
    place = scratch / f"disk-{executor}"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(place)]
    made = subprocess.run(mount, capture_output=True, check=False, timeout=30)
    if made.returncode:
        # Not a pass of this test: another way for writes to fail, and the table says so.
        row.note = "no right to mount: files limited to 2,000 bytes instead"
        _fill_and_clear(row, executor, place / "store", scratch, ("--largest-file", "2000"))
        return row
    try:
        row.note = "a tmpfs of 48 KiB, then 16 MiB"
        _fill_and_clear(row, executor, place / "store", scratch, (), place)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, timeout=30)
    return row


def limited_files(executor: str, scratch: Path) -> Row:
    """Limit how large a file may become, run, and run again without the limit."""
    row = Row(f"file size limit, {executor}")
    row.note = "2,000 bytes"
    store = scratch / f"limited-{executor}"
    _fill_and_clear(row, executor, store, scratch, ("--largest-file", "2000"))
    return row


def _fill_and_clear(
    row: Row,
    executor: str,
    store: Path,
    scratch: Path,
    limits: tuple[str, ...],
    grown: Path | None = None,
) -> None:
    """Run within limits, check that failures were told and nothing is torn; run without them."""
    truth = reference("tiny")
    try:
        first = _answer(Driver("tiny", executor, store, scratch, *limits))
        after = check(store, truth)
        row.faults = first["failed"]
        row.expect(first["failed"] > 0, f"nothing failed: {first}")
        row.expect(after.lost > 0, "the disk was not full")
        row.expect(after.untorn, f"torn: {after}")
        if grown is not None:
            options = ["mount", "-o", "remount,size=16m", str(grown)]
            subprocess.run(options, check=True, timeout=30)
        second = _answer(Driver("tiny", executor, store, scratch))
        row.restarts += 1
        row.expect(second["failed"] == 0, f"failed with room: {second}")
        row.expect(second["run"] == after.lost, f"ran {second['run']}, not {after.lost}")
    except RuntimeError as error:
        row.violations.append(str(error))
    row.add(check(store, truth))


def _answer(driver: Driver) -> dict[str, Any]:
    try:
        return driver.answer()
    finally:
        driver.stop(GRACE)
