"""The store of finished work: a Parquet file per task, and records of what failed or takes long."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments.cells import Cell, Shard
from affinity_bandits.experiments.files import files_at
from affinity_bandits.experiments.outcomes import Kept, result_of, to_bytes
from affinity_bandits.experiments.snapshot import RUNS, Snapshot, checksum
from affinity_bandits.simulation import Result

ASIDE = "aside"
FAILURES = "failures"
SLOW = "slow"
_RECORD = re.compile(r"([0-9a-f]{32})-(\d{9})-")


class SlowShard(NamedTuple):
    """A shard that takes long.

    Attributes:
        shard: its name.
        policy: of its cell.
        since: when it began, in seconds since 1970.
        before: replicates of its task that were finished before it, and are not reported yet.
        limit: the seconds that it was allowed, if its process ended for that reason.
    """

    shard: str
    policy: str
    since: float
    before: int
    limit: float | None


class Store:
    """Finished work in a directory or an object store.

    Args:
        root: a directory, or a URI such as s3://bucket/folder.
    """

    def __init__(self, root: str | Path) -> None:
        # A worker may have another working directory than the driver.
        self.root = str(root) if "://" in str(root) else str(Path(root).absolute())
        self.files = files_at(str(root))
        self._latest: Snapshot | None = None

    def write(self, finished: Sequence[tuple[Shard, Result]]) -> None:
        """Write the outcomes of some shards to one file, atomically."""
        content = to_bytes(finished)
        self.files.write(f"{RUNS}/{checksum(content)}.parquet", content)

    def snapshot(self, checked: bool = True) -> Snapshot:
        """Return what is finished now; see `Snapshot`."""
        return Snapshot(self.files, checked)

    def move_aside(self, names: Iterable[str]) -> None:
        """Move damaged files to where they do not count."""
        for name in names:
            self.files.move(name, f"{ASIDE}/{name}")

    def read(self, cell: Cell, replicates: int) -> Result:
        """Return the first replicates of a cell; raise InvalidInput unless all are in the store."""
        found = self._current().finished(cell.identity)
        there = np.arange(0) if found is None else found.replicates
        if found is None or not np.array_equal(there[:replicates], np.arange(replicates)):
            raise InvalidInput(
                "replicates", f"finished for cell {cell.identity}", f"{len(there)} are"
            )
        return result_of(cell, found, replicates)

    def kept(self) -> Iterator[Kept]:
        """Yield every cell that has finished runs, as it was saved with them.

        The code that was run may be missing. Damaged files are skipped.
        """
        return self._current().kept()

    def result(self, kept: Kept, replicates: int | None = None) -> Result:
        """Return the finished replicates of a cell, at most so many; its code may be missing.

        Raises:
            InvalidInput: the store has none, or a file is damaged.
        """
        found = self._current().finished(kept.identity)
        if found is None:
            raise InvalidInput("kept", "a cell of this store", kept.identity)
        return result_of(kept, found, len(found.replicates) if replicates is None else replicates)

    def content_hash(self) -> str:
        """Return a hash of all outcomes, the same however they are cut into files."""
        return self.snapshot().content_hash()

    def record_failure(self, shard: Shard, error: str) -> None:
        data = {"shard": shard.name, "cell": json.loads(shard.planned.text), "error": error}
        name = f"{FAILURES}/{shard.name.replace('/', '-')}.json"
        self.files.write(name, json.dumps(data, indent=1).encode())

    def forget_records(self, chosen: Callable[[str, int], bool]) -> None:
        """Delete what is known of shards that are about to be run again.

        Args:
            chosen: called with a shard's cell and first replicate; whether to delete its records.
        """
        for folder in (FAILURES, SLOW):
            for name in self.files.names(folder):
                found = _RECORD.match(name)
                if found is None or chosen(found[1], int(found[2])):
                    self.files.remove(f"{folder}/{name}")

    def failures(self) -> list[dict[str, Any]]:
        """Return the records of shards that failed."""
        return [
            json.loads(self.files.read(f"{FAILURES}/{name}")) for name in self.files.names(FAILURES)
        ]

    def note_slow(self, shard: Shard, since: float, before: int, limit: float | None) -> None:
        """Note that a shard takes long, for whoever shows progress.

        Args:
            shard: the shard.
            since: when it began, in seconds since 1970.
            before: replicates of its task that were finished before it.
            limit: the seconds that it was allowed, if its process ends now.
        """
        label = str(shard.planned.cell().policy)
        note = SlowShard(shard.name, label, since, before, limit)
        self.files.write(_place_of_note(shard), json.dumps(note._asdict()).encode())

    def slow(self) -> list[SlowShard]:
        """Return the shards that take long."""
        found = []
        for name in self.files.names(SLOW):
            with contextlib.suppress(FileNotFoundError):  # it has just been finished
                found.append(SlowShard(**json.loads(self.files.read(f"{SLOW}/{name}"))))
        return found

    def forget_slow(self, shards: Iterable[Shard]) -> None:
        """Delete the notes on shards that take long."""
        for shard in shards:
            self.files.remove(_place_of_note(shard))

    def _current(self) -> Snapshot:
        """Return the last snapshot, or another one if there are other files now."""
        if self._latest is None or self._latest.listed != self.files.sizes(RUNS):
            self._latest = self.snapshot()
        return self._latest


def _place_of_note(shard: Shard) -> str:
    return f"{SLOW}/{shard.name.replace('/', '-')}.json"
