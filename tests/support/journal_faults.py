"""Histories of a journal on disks that fill up, in processes that are killed at any moment."""

from __future__ import annotations

import errno
import os
import random
import re
import stat
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits_client import journal as module
from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.journal import Answer, Batch, Journal, StreamFull

LARGEST = 4_000  # bytes of a journal here, so that it is shortened often
PLENTY = 10**9


class Killed(BaseException):
    """The process was killed. No handler for ordinary errors may see it."""


class Disk:
    """Stands for `os` in the journal's module: it counts changes, and fails or ends at some."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.free = PLENTY  # bytes
        self.failing = False  # whether any call may fail, as on a broken disk
        self.faults = 0
        self.left = -1  # changes until the process is killed; negative if it is not
        self.files: list[int] = []
        self.synced: dict[int, int] = {}  # bytes that a failure of the machine leaves, by inode
        self.replaced: bytes | None = None  # what such a failure brings back

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def _change(self, act: Callable[[], Any]) -> Any:
        """Do something, unless the process is killed before it, or it fails."""
        if self.left == 0:
            raise Killed
        self.left -= 1
        if self.failing and self.rng.random() < 0.1:
            self.faults += 1
            raise OSError(errno.EIO, "Input/output error")
        return act()

    def open(self, *given: Any) -> int:
        file: int = self._change(lambda: os.open(*given))
        self.files.append(file)
        return file

    def write(self, file: int, text: bytes) -> int:
        if self.left == 0:  # killed half-way
            os.write(file, text[: self.rng.randint(0, min(len(text), self.free))])
            raise Killed
        fitting = min(len(text), self.free)
        if fitting == 0:
            self.faults += 1
            raise OSError(errno.ENOSPC, "No space left on device")
        self.free -= fitting
        try:
            written: int = self._change(lambda: os.write(file, text[:fitting]))
        except OSError:
            os.write(file, text[: self.rng.randint(0, fitting)])
            raise
        return written

    def ftruncate(self, file: int, size: int) -> None:
        self._change(lambda: os.ftruncate(file, size))

    def fsync(self, file: int) -> None:
        self._change(lambda: None)
        found = os.fstat(file)
        if stat.S_ISDIR(found.st_mode):
            self.replaced = None
        else:
            self.synced[found.st_ino] = found.st_size

    def replace(self, old: Path, new: Path) -> None:
        before = new.read_bytes()[: self.synced.get(new.stat().st_ino, 0)]
        self._change(lambda: os.replace(old, new))
        self.replaced = before if self.replaced is None else self.replaced

    def unlink(self, path: Path) -> None:
        self._change(lambda: os.unlink(path))

    def end(self) -> None:
        """Close all files, as the end of a process does."""
        for file in self.files:
            with suppress(OSError):
                os.close(file)
        self.files.clear()


@dataclass
class Told:
    """What a stream was promised, to be compared with what its successor recovers."""

    waiting: dict[int, Answer] = field(default_factory=dict)  # accepted and not acknowledged
    perhaps: set[int] = field(default_factory=set)  # neither accepted nor refused for good
    ever: set[int] = field(default_factory=set)
    batches: dict[str, tuple[int, ...]] = field(default_factory=dict)  # slots, by key


class History:
    """The lives of one journal, each with a journal of this class.

    `run` returns what went seen, by kind.
    """

    def __init__(self, folder: Path, kind: type[Journal], seed: int) -> None:
        self.rng = random.Random(seed)
        self.path = folder / f"j{seed}"
        self.kind = kind
        self.told = Told()
        self.seen: Counter[str] = Counter()
        self.number = 0
        self.synced = False  # whether accepted answers are on the disk
        self.was_sound = True  # the disk, in the last life, which ended by itself
        self.junk: bytes | None = None  # the file, once other bytes were written into it

    def run(self, patch: pytest.MonkeyPatch) -> Counter[str]:
        for _ in range(self.rng.randint(1, 4)):
            self.disk = disk = Disk(self.rng)
            disk.failing = self.rng.random() < 0.2
            if self.rng.random() < 0.5:
                disk.left = self.rng.randint(0, 120)
            patch.setattr(module, "os", disk)
            try:
                self._live(self._opened())
            except Killed:
                self.seen["killed"] += 1
            except (StreamFull, InvalidInput):
                self.seen["not opened" if disk.faults else "refused on a sound disk"] += 1
            self.was_sound = disk.faults == 0 and disk.left != 0
            disk.end()
            if self._harm():
                break
        patch.undo()
        self._check_junk()
        return self.seen

    def _opened(self) -> Journal:
        """Open the journal, and compare what it recovers with what was promised."""
        self.synced = False
        sync = self.rng.choice(("kernel", "disk"))
        journal = self.kind(self.path, "c", sync, LARGEST)
        self.synced = sync == "disk"
        batch, unsent = journal.recovered()
        sent = list(batch.answers) if batch else []
        slots = [answer.slot for answer in (*sent, *unsent)]
        told = self.told
        self.seen["opened"] += 1
        self.seen["lost"] += len(told.waiting.keys() - set(slots))
        self.seen["twice"] += len(slots) - len(set(slots))
        self.seen["invented"] += len(set(slots) - told.ever)
        if batch and tuple(answer.slot for answer in sent) != told.batches.get(batch.key):
            self.seen["other answers under a key"] += 1
        if self.was_sound and set(slots) - told.waiting.keys() - told.perhaps:
            self.seen["acknowledged answers, with a sound disk"] += 1
        told.waiting = {answer.slot: answer for answer in (*sent, *unsent)}
        told.perhaps = set()
        return journal

    def _live(self, journal: Journal) -> None:
        rng, disk, told = self.rng, self.disk, self.told
        batch, unsent = journal.recovered()
        for _ in range(rng.randint(3, 80)):
            chance = rng.random()
            if chance < 0.04:
                disk.free = rng.choice((0, 20, 60, 300, 3_000, PLENTY))
            elif chance < 0.65:
                self.number += 1
                answer = Answer(self.number // 9, self.number, 0.5, rng.choice((None, "r1")))
                told.ever.add(answer.slot)
                told.perhaps.add(answer.slot)
                with suppress(StreamFull):
                    journal.append(answer)
                    told.perhaps.remove(answer.slot)
                    told.waiting[answer.slot] = answer
                    unsent.append(answer)
            elif batch is None and unsent:
                some = rng.randint(1, len(unsent))
                batch = Batch(f"k{rng.random()}", tuple(unsent[:some]))
                unsent = unsent[some:]
                told.batches[batch.key] = tuple(answer.slot for answer in batch.answers)
                journal.begin(batch)
            elif batch is not None:
                often = rng.choice((0.0, 0.0, 0.2, 1.0))
                kept = [answer for answer in batch.answers if rng.random() < often]
                for answer in batch.answers:
                    if answer not in kept:
                        del told.waiting[answer.slot]
                batch = None
                journal.settle(kept)
        if rng.random() < 0.3:
            journal.close()

    def _harm(self) -> bool:
        """Sometimes harm the file between two lives; return whether other bytes are in it now."""
        size = self.path.stat().st_size if self.path.exists() else 0
        chance = self.rng.random()
        if not size or chance > 0.3:
            return False
        if chance < 0.1:  # the machine fails: what is on the disk stays
            if self.synced:
                if self.disk.replaced is not None and self.rng.random() < 0.5:
                    self.path.write_bytes(self.disk.replaced)
                else:
                    least = self.disk.synced[self.path.stat().st_ino]
                    os.truncate(self.path, self.rng.randint(min(least, size), size))
                self.was_sound = False
            return False
        if chance < 0.2:  # a part of the file is lost
            os.truncate(self.path, self.rng.randint(0, size))
            self.told.waiting, self.was_sound = {}, False
            return False
        junk = self.rng.randbytes(self.rng.randint(1, 40)) + self.rng.choice((b"", b"\n"))
        at, over = self.rng.randint(0, size), self.rng.choice((0, len(junk)))
        text = self.path.read_bytes()
        self.junk = text[:at] + junk + text[at + over :]
        self.path.write_bytes(self.junk)
        return True

    def _check_junk(self) -> None:
        """A file with bytes of something else is read, or refused with its line, never changed."""
        if self.junk is None:
            return
        try:
            journal = Journal(self.path, "c")
        except InvalidInput as error:
            self.seen["refused"] += 1
            if re.search(r"line \d+", str(error)) is None:
                self.seen["refused without its line"] += 1
            if self.path.read_bytes() != self.junk:
                self.seen["changed although refused"] += 1
        else:
            self.seen["read with junk"] += 1
            journal.close()


def histories(folder: Path, kind: type[Journal], number: int, first: int = 0) -> Counter[str]:
    """Run histories of a journal with different seeds; return what they saw, by kind."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + number):
        with pytest.MonkeyPatch.context() as patch:
            seen += History(folder, kind, seed).run(patch)
        for path in folder.iterdir():
            path.unlink()
    return seen
