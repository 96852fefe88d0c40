"""Negative controls: with a guard taken out, the checker that passes the package must fail."""

from __future__ import annotations

import random
import time
from pathlib import Path
from unittest import mock

import pyarrow

from affinity_bandits.experiments import (
    Store,
    executors,
    run_cells,
    work,
)
from affinity_bandits.experiments.store import Piece, _checksum
from affinity_bandits.experiments.tables import from_bytes
from soak.cases import CASES, reference
from soak.checker import Reference, Verdict, check, handed, shard_files
from soak.damage import misnamed, misplaced
from soak.driver import GRACE, Driver
from soak.faults import FailingCalls
from soak.guards import HALF_WRITTEN
from soak.kills import kill_workers
from soak.rows import Row


def checksums_not_checked(scratch: Path) -> Row:
    """Read a file with a flipped bit through a store that trusts every file."""
    row = Row("control: checksums not checked")
    root = scratch / "control-checksums"
    run_cells(CASES["tiny"]().cells, Store(root))
    _flip_a_number(root, reference("tiny"))
    with mock.patch.object(Store, "_content", _trusting):
        verdict = check(root, reference("tiny"))
    row.faults = 1
    return _caught(row, verdict, verdict.as_good > 0)


def labels_not_checked(scratch: Path) -> Row:
    """Read undamaged files under other shards' names through a store that checks only checksums."""
    row = Row("control: labels not checked")
    root = scratch / "control-labels"
    sweep = CASES["tiny"]().cells
    run_cells(sweep, Store(root))
    chance = random.Random(0)
    for move in (misplaced, misnamed):
        move(root, chance.choice(shard_files(root)), chance)
        row.faults += 1

    def checksum_only(store: Store, _: str, piece: Piece) -> bytes | None:
        content = store.files.read(piece.name)
        return content if _checksum(content) == piece.checksum else None

    with mock.patch.object(Store, "_content", checksum_only):
        summary = run_cells(sweep, Store(root))
        verdict = check(root, reference("tiny"))
    return _caught(row, verdict, not summary.aside and verdict.damaged == 2)


def written_straight(scratch: Path) -> Row:
    """Kill a driver in the middle of a write that has no temporary name; trust every name."""
    row = Row("control: no temporary name")
    root = scratch / "control-straight"
    driver = Driver("tiny", "serial", root, scratch, "--control", "straight-writes")
    until = time.monotonic() + 60
    while not (root / HALF_WRITTEN).exists() and time.monotonic() < until:
        time.sleep(0.02)
    row.kills = int(driver.kill())
    driver.stop(GRACE)

    def by_name(store: Store, identity: str) -> tuple[list[Piece], list[str]]:
        return store._named(identity), []

    with (
        mock.patch.object(Store, "pieces", by_name),
        mock.patch.object(Store, "_content", _trusting),
    ):
        run_cells(CASES["tiny"]().cells, Store(root))
        verdict = check(root, reference("tiny"))
    _caught(row, verdict, row.kills == 1 and verdict.damaged == 1)
    # The same torn file, met by the store as it is: moved aside, and made again.
    summary = run_cells(CASES["tiny"]().cells, Store(root))
    row.expect(len(summary.aside) == 1, f"the torn file was not moved aside: {summary}")
    row.expect(check(root, reference("tiny")).good, "the torn file was not repaired")
    return row


def work_not_queued_again(executor: str, scratch: Path) -> Row:
    """Kill workers of an executor that does not queue their work again."""
    row = Row(f"control: no requeue, {executor}")
    control = {"processes": "no-requeue", "ray": "no-retries"}[executor]
    root = scratch / f"control-{control}"
    driver = Driver("long", executor, root, scratch, "--control", control)
    try:
        row.kills = kill_workers(driver, root, 2, random.Random(0))
        answer = driver.answer()
        row.expect(answer["failed"] == 0, f"the control reports what it lost: {answer}")
    except RuntimeError as error:
        row.violations.append(str(error))
    finally:
        driver.stop(GRACE)
    verdict = check(root, reference("long"))
    return _caught(row, verdict, row.kills > 0 and verdict.lost > 0)


def failures_taken_for_done(scratch: Path) -> Row:
    """Let a write fail, and report it as done."""
    row = Row("control: failed write taken for done")
    root = scratch / "control-done"

    def rosy(task: work.Task, where: str) -> list[work.Report]:
        return [report._replace(error=None) for report in work.run_task(task, where)]

    with mock.patch.object(executors, "run_task", rosy), FailingCalls(4, lasting=False).injected():
        summary = run_cells(CASES["small"]().cells, Store(root))
    row.faults = 1
    verdict = check(root, reference("small"))
    return _caught(row, verdict, summary.failed == 0 and verdict.lost > 0)


def _caught(row: Row, verdict: Verdict, as_meant: bool) -> Row:
    """Record that the checker must have found the fault that was planted."""
    row.shards = verdict.shards
    found = f"lost {verdict.lost}, damaged {verdict.damaged}, read as good {verdict.as_good}"
    row.note = f"caught: {found}"
    row.expect(not verdict.good and as_meant, f"not caught: {verdict}")
    return row


def _trusting(store: Store, _: str, piece: Piece) -> bytes | None:
    return store.files.read(piece.name)


def _flip_a_number(root: Path, truth: Reference) -> None:
    """Flip the first bit of a file that makes it another valid file with other numbers."""
    path = shard_files(root)[0]
    identity = "".join(path.relative_to(root).parts[:2])
    content = path.read_bytes()
    for at in range(8 * len(content)):
        changed = bytearray(content)
        changed[at // 8] ^= 1 << at % 8
        try:
            rows = list(handed(from_bytes(bytes(changed))))
        except (pyarrow.ArrowException, OSError, ValueError, KeyError):
            continue
        if any(truth.rows.get((identity, number)) != value for number, value in rows):
            path.write_bytes(changed)
            return
    raise RuntimeError("no bit of the file changes a number")
