"""What a store has at one moment: which replicates of which cells, and their outcomes."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator

import numpy as np

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments.files import Files
from affinity_bandits.experiments.outcomes import (
    Kept,
    Outcomes,
    OutcomesFile,
    Spans,
    joined_outcomes,
    pyarrow_modules,
    spans_in,
)

RUNS = "runs"
"""The folder of the files with outcomes."""
SMALL_FILE = 2**20
"""Bytes up to which reading a whole file is faster than reading parts of it."""
OPEN_BYTES = 256 * 2**20
"""Limit on the memory of the files whose outcomes are kept for the next cells."""
_NAME = re.compile(r"([0-9a-f]{32})\.parquet")


class Snapshot:
    """The finished runs of a store at one moment.

    Args:
        files: of the store.
        checked: whether to compare the checksums of all files. Otherwise, only the columns of large
            files that name their runs are read, and damage elsewhere is not seen.

    Attributes:
        damaged: the names of damaged and foreign files.
    """

    def __init__(self, files: Files, checked: bool = True) -> None:
        self._files = files
        self.listed = files.sizes(RUNS)
        self.damaged: list[str] = []
        self._open: OrderedDict[str, OutcomesFile] = OrderedDict()
        found = dict(self._all_spans(checked))
        self._names = list(found)
        spans = list(found.values())
        counts = [len(one.firsts) for one in spans]
        identities = np.concatenate([np.array([], dtype="S32"), *(one.identities for one in spans)])
        firsts = np.concatenate([np.arange(0), *(one.firsts for one in spans)])
        stops = np.concatenate([np.arange(0), *(one.stops for one in spans)])
        order = np.lexsort((firsts, identities))
        self._identities, self._firsts, self._stops = identities[order], firsts[order], stops[order]
        self._file = np.repeat(np.arange(len(counts)), counts)[order]
        self._span = np.concatenate([np.arange(0), *map(np.arange, counts)])[order]

    def identities(self) -> list[str]:
        """Return the cells that have finished runs, sorted."""
        return [one.decode() for one in np.unique(self._identities)]

    def gaps(self, identity: str, replicates: int) -> list[range]:
        """Return which of a cell's first replicates are missing."""
        gaps = []
        at = 0
        for place in self._places(identity):
            gaps.append(range(at, min(int(self._firsts[place]), replicates)))
            at = max(at, int(self._stops[place]))
        gaps.append(range(at, replicates))
        return [gap for gap in gaps if gap]

    def count(self, identity: str, replicates: int) -> int:
        """Return how many of a cell's first replicates there are."""
        return replicates - sum(len(gap) for gap in self.gaps(identity, replicates))

    def finished(self, identity: str) -> Outcomes | None:
        """Return all finished replicates of a cell.

        Raises:
            InvalidInput: a file of the store is damaged, whose cells are unknown.
        """
        for name in self.damaged:
            raise _damaged(name)
        parts = [
            self._file_of(self._names[self._file[place]]).outcomes(self._span[place])
            for place in self._places(identity)
        ]
        return joined_outcomes(parts) if parts else None

    def kept(self) -> Iterator[Kept]:
        """Yield every cell that has finished runs, as it was saved with them.

        The code that was run may be missing. Damaged files are skipped.
        """
        for identity in self.identities():
            place = self._places(identity)[0]
            found = self._file_of(self._names[self._file[place]]).outcomes(self._span[place])
            yield Kept(identity, found.text)

    def content_hash(self) -> str:
        """Return a hash of all outcomes, the same however they are cut into files."""
        state = hashlib.sha256()
        for name in self.damaged:
            raise _damaged(name)
        for identity in self.identities():
            found = self.finished(identity)
            if found is not None:
                state.update(identity.encode())
                for array in found[:5]:
                    state.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return state.hexdigest()

    def _places(self, identity: str) -> range:
        key = identity.encode()
        start = np.searchsorted(self._identities, key, "left")
        return range(int(start), int(np.searchsorted(self._identities, key, "right")))

    def _all_spans(self, checked: bool) -> Iterator[tuple[str, Spans]]:
        """Yield each undamaged file of outcomes, and which replicates it has."""
        arrow, _ = pyarrow_modules()
        names = [f"{RUNS}/{name}" for name in self.listed]
        whole = [
            name
            for name, size in zip(names, self.listed.values(), strict=True)
            if checked or size <= SMALL_FILE
        ]
        for name, content in zip(whole, self._files.read_each(whole), strict=True):
            if content is None:  # another process has moved it aside
                continue
            if checksum(content) == _claimed_checksum(name):
                spans = _spans_or_none(arrow.BufferReader(content))
                if spans is not None:
                    yield name, spans
                    continue
            self.damaged.append(name)
        for name in sorted({*names} - {*whole}):
            try:
                file = self._files.open(name)
            except FileNotFoundError:
                continue
            spans = _spans_or_none(file)
            if spans is None:
                self.damaged.append(name)
            else:
                yield name, spans

    def _file_of(self, name: str) -> OutcomesFile:
        """Return a file's outcomes; those of the last files are kept, as cells share files."""
        if name in self._open:
            self._open.move_to_end(name)
            return self._open[name]
        try:
            content = self._files.read(name)
        except FileNotFoundError:
            raise _damaged(name) from None
        if checksum(content) != _claimed_checksum(name):
            raise _damaged(name)
        self._open[name] = found = OutcomesFile(content)
        while len(self._open) > 1 and sum(one.nbytes for one in self._open.values()) > OPEN_BYTES:
            self._open.popitem(last=False)
        return found


def checksum(content: bytes) -> str:
    """Return 32 hexadecimal digits that identify a file's content, and name it."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _claimed_checksum(name: str) -> str | None:
    found = _NAME.fullmatch(name.rpartition("/")[2])
    return None if found is None else found[1]


def _spans_or_none(file: object) -> Spans | None:
    """Return which replicates a file has, or None if no store wrote it."""
    try:
        return spans_in(file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None


def _damaged(name: str) -> InvalidInput:
    return InvalidInput(name, "undamaged; run the sweep again to replace it", "damaged or foreign")
