"""The store of finished shards: one parquet file each, whole or absent, with its checksum.

    ab/cdef.../000000000-0001000-0123456789abcdef.parquet   first replicate, count, checksum
    aside/...                                               damaged or foreign files, moved away
    failures/...                                            shards that failed by their own fault

The first two digits of a cell's identity are a folder, so that a million cells do not share one. A
file's checksum is part of its name: name and content appear in one step, and what does not match is
found out before it is used.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.displays import one_line
from affinity_bandits.errors import InvalidInput
from affinity_bandits.experiments.files import Files, LocalFiles, files_at
from affinity_bandits.experiments.reading import bandit_of
from affinity_bandits.experiments.spec import AnyCell, Cell, Shard, identity_of, stream_seed_of
from affinity_bandits.experiments.tables import (
    Outcomes,
    from_bytes,
    label_in,
    pyarrow_modules,
    to_bytes,
)
from affinity_bandits.simulation import PolicyRun, Result

_NAME = re.compile(r"(\d{9})-(\d{7})-([0-9a-f]{16})\.parquet")
ASIDE = "aside"
FAILURES = "failures"


class Piece(NamedTuple):
    """A shard's file."""

    first: int
    replicates: int
    checksum: str
    name: str


class Kept(NamedTuple):
    """A cell as it was saved with its results.

    Attributes:
        identity: of the cell.
        text: its canonical content.
    """

    identity: str
    text: str

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def content(self) -> dict[str, Any]:
        """The saved content: `Cell.to_json` and the simulation's version."""
        data: dict[str, Any] = json.loads(self.text)
        return data


class Store:
    """Finished shards in a directory or an object store.

    Args:
        root: a directory, or a URI such as s3://bucket/folder.
    """

    def __init__(self, root: str | Path) -> None:
        # A worker may have another working directory than whoever hands out the work.
        self.root = str(root) if "://" in str(root) else str(Path(root).absolute())
        self.files: Files = files_at(root)

    def write(self, shard: Shard, result: Result) -> None:
        """Write a shard's outcome, whole or not at all."""
        content = to_bytes(shard, result)
        stem = shard.name.rpartition("/")[2]
        self.files.write(
            f"{folder_of(shard.identity)}/{stem}-{_checksum(content)}.parquet", content
        )

    def has(self, shard: Shard) -> bool:
        """Return whether a file of that name is there; its content is not looked at."""
        stem = shard.name.rpartition("/")[2] + "-"
        return any(name.startswith(stem) for name in self.files.names(folder_of(shard.identity)))

    def pieces(self, identity: str) -> tuple[list[Piece], list[str]]:
        """Return a cell's files whose checksum holds, and the names of those moved aside."""
        good, bad = [], []
        folder = folder_of(identity)
        for name in self.files.names(folder):
            piece = _piece(folder, name)
            try:
                whole = piece is not None and self._content(identity, piece) is not None
            except FileNotFoundError:  # somebody else has moved it aside
                continue
            if piece is not None and whole:
                good.append(piece)
            else:
                bad.append(f"{folder}/{name}")
                self.files.move(f"{folder}/{name}", f"{ASIDE}/{folder}/{name}")
        return good, bad

    def missing(self, identity: str, replicates: int) -> tuple[list[range], list[str]]:
        """Return the replicates of a cell that are not there, and the files moved aside."""
        good, bad = self.pieces(identity)
        return _gaps(good, replicates), bad

    def count(self, identity: str, replicates: int) -> int:
        """Return how many of a cell's first replicates are there, by the names of its files.

        Contents are not read, so a damaged file counts until a run finds it out.
        """
        return replicates - sum(len(gap) for gap in _gaps(self._named(identity), replicates))

    def read(self, cell: Cell, replicates: int) -> Result:
        """Return the first `replicates` replicates of a cell.

        Raises:
            InvalidInput: some of them are not in the store, or a file is damaged.
        """
        found = self._outcomes(cell.identity)
        if found is None or not np.array_equal(
            found.replicates[:replicates], np.arange(replicates)
        ):
            finished = 0 if found is None else len(found.replicates)
            raise InvalidInput(
                "replicates", f"finished for cell {cell.identity}", f"{finished} are"
            )
        return result_of(cell, found, replicates, cell.bandit)

    def kept(self) -> Iterator[Kept]:
        """Yield every cell that has finished shards, as it was saved with them.

        It needs none of the code that was run, so it also gives cells of code that has been edited
        or is gone. Damaged files are passed over.
        """
        for identity in self.identities():
            for piece in self._named(identity):
                content = self._content(identity, piece)
                label = None if content is None else label_in(content)
                if label is not None:
                    yield Kept(identity, label.text)
                    break

    def result(self, kept: Kept, replicates: int | None = None) -> Result:
        """Return the finished replicates of a cell, at most so many, without loading its code.

        Raises:
            InvalidInput: nothing is, or a file is damaged.
        """
        found = self._outcomes(kept.identity)
        if found is None:
            raise InvalidInput("kept", "a cell of this store", kept.identity)
        return result_of(kept, found, len(found.replicates) if replicates is None else replicates)

    def finished(self, identity: str) -> Outcomes | None:
        """Return all finished replicates of a cell in order; None if there are none."""
        return self._outcomes(identity)

    def identities(self) -> Iterator[str]:
        """Yield the identity of every cell that has a folder."""
        for outer in self.files.folders(""):
            if len(outer) == 2:
                for inner in self.files.folders(outer):
                    yield outer + inner

    def content_hash(self) -> str:
        """Return a hash of all outcomes, however they are cut into shards, whoever ran them.

        Raises:
            InvalidInput: a file is damaged.
        """
        state = hashlib.sha256()
        for identity in sorted(self.identities()):
            found = self._outcomes(identity)
            if found is None:
                continue
            state.update(identity.encode())
            for array in found[:4]:
                state.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return state.hexdigest()

    def dataset(self) -> Any:
        """Return all shards as a pyarrow dataset, which reads only what is asked for.

        Checksums are not looked at, and where shards overlap a replicate is there twice, with the
        same numbers: `read`, `finished` and `content_hash` check and join.
        """
        pyarrow_modules()
        from pyarrow import dataset

        names = [piece.name for identity in self.identities() for piece in self._named(identity)]
        if not names:
            raise InvalidInput("store", "with finished work in it", self.root)
        if isinstance(self.files, LocalFiles):
            return dataset.dataset([str(self.files.root / name) for name in names])
        files: Any = self.files
        return dataset.dataset(
            [f"{files.root}/{name}" for name in names], filesystem=files.filesystem
        )

    def record_failure(self, shard: Shard, error: str) -> None:
        """Record that a shard failed by its own fault."""
        data = {"shard": shard.name, "cell": json.loads(shard.planned.text), "error": error}
        text = json.dumps(data, indent=1)
        self.files.write(_failure(shard), text.encode())

    def forget_failures(self) -> None:
        """Delete the records of failures, which are about to be retried."""
        for name in self.files.names(FAILURES):
            self.files.remove(f"{FAILURES}/{name}")

    def failures(self) -> list[dict[str, Any]]:
        """Return the records of shards that failed."""
        return [
            json.loads(self.files.read(f"{FAILURES}/{name}")) for name in self.files.names(FAILURES)
        ]

    def _named(self, identity: str) -> list[Piece]:
        folder = folder_of(identity)
        found = (_piece(folder, name) for name in self.files.names(folder))
        return sorted(piece for piece in found if piece is not None)

    def _content(self, identity: str, piece: Piece) -> bytes | None:
        """Return a file's content, or None if it is not what its folder and name say."""
        content = self.files.read(piece.name)
        if _checksum(content) != piece.checksum:
            return None
        # A checksum also holds for an undamaged file under another shard's name.
        label = label_in(content)
        if label is None or identity_of(label.text) != identity:
            return None
        return content if label[1:] == (piece.first, piece.replicates) else None

    def _outcomes(self, identity: str) -> Outcomes | None:
        parts = []
        for piece in self._named(identity):
            content = self._content(identity, piece)
            if content is None:
                raise InvalidInput(
                    piece.name,
                    "undamaged; run the sweep again to replace it",
                    "not what its name says",
                )
            parts.append(from_bytes(content))
        return _joined(parts)


def folder_of(identity: str) -> str:
    """Return the folder of a cell's shards."""
    return f"{identity[:2]}/{identity[2:]}"


def result_of(
    planned: Kept | AnyCell,
    found: Outcomes,
    replicates: int,
    bandit: AffinityBandit | None = None,
) -> Result:
    """Return outcomes of a cell as a result of at most so many replicates.

    Args:
        planned: the cell; its policy is not needed.
        found: what there is of it.
        replicates: the most to return.
        bandit: its bandit, if it is at hand; otherwise the content is read.
    """
    content = json.loads(planned.text)
    return Result(
        bandit=bandit_of(content) if bandit is None else bandit,
        runs=(PolicyRun(**found.run),),
        horizon=content["horizon"],
        seed=stream_seed_of(planned.identity),
        replicates=found.replicates[:replicates],
        checkpoints=np.array(content["checkpoints"], dtype=np.int64),
        pulls=found.pulls[None, :replicates],
        candidates=found.candidates[None, :replicates],
    )


def _gaps(pieces: Iterable[Piece], replicates: int) -> list[range]:
    """Return which of the first replicates are in none of a cell's files."""
    gaps = []
    at = 0
    for piece in sorted(pieces):
        if piece.first > at:
            gaps.append(range(at, min(piece.first, replicates)))
        at = max(at, piece.first + piece.replicates)
        if at >= replicates:
            break
    if at < replicates:
        gaps.append(range(at, replicates))
    return [gap for gap in gaps if len(gap) > 0]


def _joined(parts: list[Outcomes]) -> Outcomes | None:
    """Return parts as one, each replicate once, though shards may overlap."""
    if not parts:
        return None
    numbers = np.concatenate([part.replicates for part in parts])
    unique, order = np.unique(numbers, return_index=True)
    return Outcomes(
        replicates=unique,
        times=parts[0].times,
        pulls=np.concatenate([part.pulls for part in parts])[order],
        candidates=np.concatenate([part.candidates for part in parts])[order],
        run=parts[0].run,
    )


def _piece(folder: str, name: str) -> Piece | None:
    """Return what a shard's file name says, or None if it is not one."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return Piece(int(match[1]), int(match[2]), match[3], f"{folder}/{name}")


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _failure(shard: Shard) -> str:
    return f"{FAILURES}/{shard.name.replace('/', '-')}.json"
