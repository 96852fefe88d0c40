"""The store of finished shards: one Parquet file each, complete or absent, with a checksum."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import AffinityError, InvalidInput, NotSupported, need
from affinity_bandits.experiments.cells import Cell, Shard, canonical, identity_of, stream_seed_of
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, bias_from_json
from affinity_bandits.model.noise import MECHANISMS, Noise, noise_from_json
from affinity_bandits.simulation import PolicyRun, Result

_HALF_A_URI = re.compile(r"[a-z][a-z0-9+.-]+:/")
# Prefix of unfinished files. A writer that is killed leaves one behind.
TEMPORARY = ".tmp-"
WITHOUT_FOLDERS = ("s3", "gcs")
"""Filesystems of pyarrow where a folder is only a part of names, and making one is a request."""
DELAYED = "allow_delayed_open"
"""The option of S3 by which a small file is one request instead of three."""


class Files:
    """Files on a filesystem that pyarrow supports: S3, Google Cloud, Azure, HDFS, ...

    Names are paths relative to the root, with forward slashes. Writes are atomic: an object store
    shows an object when its upload is complete.

    Args:
        filesystem: of pyarrow.
        root: the folder, e.g. "bucket/sweeps/first".
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self.filesystem = filesystem
        self.root = root.rstrip("/")

    def names(self, folder: str) -> list[str]:
        """Return the names of the finished files in a folder, which need not exist."""
        names = (info.base_name for info in self._infos(folder) if info.is_file)
        return sorted(name for name in names if not name.startswith(TEMPORARY))

    def folders(self, folder: str) -> list[str]:
        """Return the names of the folders in a folder."""
        return sorted(info.base_name for info in self._infos(folder) if not info.is_file)

    def read(self, name: str) -> bytes:
        with self.filesystem.open_input_stream(f"{self.root}/{name}") as stream:
            return bytes(stream.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically."""
        path = self._path_in_folder(name)
        with self.filesystem.open_output_stream(path) as stream:
            stream.write(content)

    def move(self, name: str, to: str) -> None:
        """Move a file, unless another process has moved it."""
        with contextlib.suppress(FileNotFoundError):
            self.filesystem.move(f"{self.root}/{name}", self._path_in_folder(to))

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_file(f"{self.root}/{name}")

    def _path_in_folder(self, name: str) -> str:
        path = f"{self.root}/{name}"
        if self.filesystem.type_name not in WITHOUT_FOLDERS:
            self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        return path

    def _infos(self, folder: str) -> list[Any]:
        from pyarrow import fs

        selector = fs.FileSelector(f"{self.root}/{folder}".rstrip("/"), allow_not_found=True)
        return list(self.filesystem.get_file_info(selector))


class LocalFiles(Files):
    """Files in a directory on a local disk, which is created if needed.

    A file is written under a temporary name, synced and renamed.
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        super().__init__(filesystem, str(Path(root).absolute()))
        Path(self.root).mkdir(parents=True, exist_ok=True)

    def write(self, name: str, content: bytes) -> None:
        target = Path(self.root, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(target.parent)


def _sync_folder(path: Path) -> None:
    """Write a folder's entries to the disk, except on Windows, which cannot open folders."""
    if sys.platform == "win32":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def files_at(root: str) -> Files:
    """Return the files under a path or a URI such as s3://bucket/sweeps/first."""
    pyarrow_modules()
    from pyarrow import fs

    if "://" not in root:
        if _HALF_A_URI.match(root):
            raise InvalidInput("store", "a directory, or a URI with ://", root)
        return LocalFiles(fs.LocalFileSystem(), root)
    try:
        filesystem, path = _filesystem(root)
    except (ValueError, OSError) as error:
        raise InvalidInput("store", "a directory or a URI that pyarrow knows", root) from error
    return (LocalFiles if isinstance(filesystem, fs.LocalFileSystem) else Files)(filesystem, path)


@lru_cache(maxsize=16)
def _filesystem(uri: str) -> tuple[Any, str]:
    """Return the filesystem and the path of a URI; a process keeps its connections."""
    from pyarrow import fs

    if uri.startswith("s3://") and DELAYED not in uri:
        uri += f"{'&' if '?' in uri else '?'}{DELAYED}=true"
    found: tuple[Any, str] = fs.FileSystem.from_uri(uri)
    return found


class Outcomes(NamedTuple):
    """The content of a shard's file."""

    replicates: IntArray  # [replicate]
    times: IntArray  # [time]
    pulls: IntArray  # [replicate, time, arm]
    candidates: IntArray  # [replicate, arm]
    decided_at: IntArray  # [replicate]
    text: str  # the cell's content
    run: dict[str, Any]


def to_bytes(shard: Shard, result: Result) -> bytes:
    """Return a shard's outcome as a Parquet file: one row per replicate and time."""
    arrow, parquet = pyarrow_modules()
    replicates, times, arms = result.pulls.shape[1:]
    rows = replicates * times
    last = np.zeros((replicates, times, arms), dtype=bool)
    last[:, -1] = result.candidates[0].astype(bool)
    # Lists without a fixed size, so that cells of any number of arms are one table.
    starts = np.arange(rows + 1, dtype=np.int32) * np.int32(arms)
    table = arrow.table(
        {
            "cell": arrow.DictionaryArray.from_arrays(
                np.zeros(rows, dtype=np.int8), [shard.identity]
            ),
            "replicate": np.repeat(result.replicates, times),
            "time": np.tile(result.checkpoints, replicates),
            "pulls": arrow.ListArray.from_arrays(starts, arrow.array(result.pulls[0].ravel())),
            "candidates": arrow.ListArray.from_arrays(starts, arrow.array(last.ravel())),
            "decided_at": np.repeat(result.decided_at[0], times),
        }
    )
    about = {
        "cell": shard.planned.text,
        "run": json.dumps(vars(result.runs[0])),
        "version": __version__,
        "platform": platform.platform(),
    }
    buffer = arrow.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata(about), buffer, compression="zstd")
    return bytes(buffer.getvalue())


def from_bytes(content: bytes) -> Outcomes:
    """Return a file's outcomes; raises pyarrow's errors or KeyError for other files."""
    arrow, parquet = pyarrow_modules()
    # A table of a few rows takes half as long as by `read_table`.
    file = parquet.ParquetFile(arrow.BufferReader(content))
    table = file.read(use_threads=False).combine_chunks()
    replicate = table["replicate"].to_numpy()
    replicates = np.unique(replicate)
    times = table["time"].to_numpy()[: len(replicate) // max(1, len(replicates))]
    shape = (len(replicates), len(times), -1)
    pulls, candidates = (
        table[name].chunk(0).flatten().to_numpy(zero_copy_only=False).reshape(shape)
        for name in ("pulls", "candidates")
    )
    return Outcomes(
        replicates=replicates,
        times=times,
        pulls=pulls,
        candidates=candidates[:, -1].astype(np.int64),
        decided_at=table["decided_at"].to_numpy()[:: len(times)],
        text=table.schema.metadata[b"cell"].decode(),
        run=json.loads(table.schema.metadata[b"run"]),
    )


def pyarrow_modules() -> tuple[Any, Any]:
    """Return pyarrow and its parquet module, or say how to install them."""
    need("experiments", "pyarrow")
    import pyarrow as arrow
    from pyarrow import parquet

    return arrow, parquet


class Described:
    """A model known only by its description, the saved `to_json`."""

    description: str

    def to_json(self) -> dict[str, Any]:
        return dict(json.loads(self.description))

    def __str__(self) -> str:
        data = self.to_json()
        return str(data.get("label", data.get("name")))


@dataclass(frozen=True)
class Unloaded(Described, Bias):
    """A bias known only by its description."""

    name: ClassVar[str] = "unloaded"
    description: str

    @property
    def bounds(self) -> tuple[float, float]:
        return float("nan"), float("nan")  # checked where it was run

    @property
    def lipschitz(self) -> float:
        raise _gone("bias", self)

    @property
    def code(self) -> int:
        raise _gone("bias", self)

    def check_own(self) -> None:
        """Accept it: it was checked where the cell was run."""


@dataclass(frozen=True)
class UnloadedNoise(Described, Noise):
    """A noise known only by its description."""

    name: ClassVar[str] = "unloaded"
    mechanisms: ClassVar[tuple[str, ...]] = MECHANISMS
    description: str

    def check_means(self, means: Sequence[float]) -> None:
        """Accept any means: they were checked where the cell was run."""

    def law_code(self, mechanism: str) -> int:
        raise _gone("noise", self)

    def ends(self, means: FloatArray) -> FloatArray:
        raise _gone("noise", self)


def _gone(what: str, model: Bias | Noise) -> NotSupported:
    return NotSupported(
        f"{what} {str(model)!r} is code of your own, which is not kept with results: they can be "
        f"read without it, but it cannot be run or evaluated"
    )


def bandit_of(content: Mapping[str, Any]) -> AffinityBandit:
    """Return the bandit of a cell's content, with `Unloaded` for models of missing code."""
    given = dict(content["bandit"])
    kinds = (("bias", bias_from_json, Unloaded), ("noise", noise_from_json, UnloadedNoise))
    for key, read, unloaded in kinds:
        try:
            given[key] = read(given[key])
        except AffinityError:
            given[key] = unloaded(canonical(given[key]))
    return AffinityBandit(**given)


_NAME = re.compile(r"(\d{9})-(\d{7})-([0-9a-f]{16})\.parquet")
_RECORD = re.compile(r"([0-9a-f]{32})-(\d{9})-")
ASIDE = "aside"
FAILURES = "failures"
SLOW = "slow"


class Piece(NamedTuple):
    """A shard's file."""

    first: int
    replicates: int
    checksum: str
    name: str


class Kept(NamedTuple):
    """A cell as it was saved with its results."""

    identity: str
    text: str

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def content(self) -> dict[str, Any]:
        """The saved content: `Cell.to_json`, seed scheme and package version."""
        return dict(json.loads(self.text))


class Store:
    """Finished shards in a directory or an object store.

    Args:
        root: a directory, or a URI such as s3://bucket/folder.
    """

    def __init__(self, root: str | Path) -> None:
        # A worker may have another working directory than the driver.
        self.root = str(root) if "://" in str(root) else str(Path(root).absolute())
        self.files = files_at(str(root))

    def write(self, shard: Shard, result: Result) -> None:
        """Write a shard's outcome atomically."""
        content = to_bytes(shard, result)
        name = f"{shard.stem}-{_checksum(content)}.parquet"
        self.files.write(f"{folder_of(shard.identity)}/{name}", content)

    def has(self, shard: Shard) -> bool:
        """Return whether a file of that name exists; its content is unchecked."""
        names = self.files.names(folder_of(shard.identity))
        return any(name.startswith(f"{shard.stem}-") for name in names)

    def missing(self, identity: str, replicates: int) -> tuple[list[range], list[str]]:
        """Return the gaps in a cell's replicates, and the damaged files, which are moved aside."""
        good, bad = [], []
        folder = folder_of(identity)
        for name in self.files.names(folder):
            piece = _piece(folder, name)
            try:
                if piece is not None and self._load(identity, piece) is not None:
                    good.append(piece)
                    continue
            except FileNotFoundError:  # another process has moved it aside
                continue
            bad.append(f"{folder}/{name}")
            self.files.move(f"{folder}/{name}", f"{ASIDE}/{folder}/{name}")
        return _gaps(good, replicates), bad

    def count(self, identity: str, replicates: int) -> int:
        """Return how many of a cell's first replicates there are, by the names of its files."""
        return replicates - sum(len(gap) for gap in _gaps(self._named(identity), replicates))

    def read(self, cell: Cell, replicates: int) -> Result:
        """Return the first replicates of a cell; raise InvalidInput unless all are in the store."""
        found = self.finished(cell.identity)
        there = np.arange(0) if found is None else found.replicates
        if found is None or not np.array_equal(there[:replicates], np.arange(replicates)):
            raise InvalidInput(
                "replicates", f"finished for cell {cell.identity}", f"{len(there)} are"
            )
        return result_of(cell, found, replicates)

    def kept(self) -> Iterator[Kept]:
        """Yield every cell that has finished shards, as it was saved with them.

        The code that was run may be missing. Damaged files are skipped.
        """
        for identity in self.identities():
            loaded = (self._load(identity, piece) for piece in self._named(identity))
            shard = next(filter(None, loaded), None)
            if shard is not None:
                yield Kept(identity, shard.text)

    def result(self, kept: Kept, replicates: int | None = None) -> Result:
        """Return the finished replicates of a cell, at most so many; its code may be missing.

        Raises:
            InvalidInput: the store has none, or a file is damaged.
        """
        found = self.finished(kept.identity)
        if found is None:
            raise InvalidInput("kept", "a cell of this store", kept.identity)
        return result_of(kept, found, len(found.replicates) if replicates is None else replicates)

    def finished(self, identity: str) -> Outcomes | None:
        """Return all finished replicates of a cell; raise InvalidInput if a file is damaged."""
        parts = []
        for piece in self._named(identity):
            shard = self._load(identity, piece)
            if shard is None:
                rule = "undamaged; run the sweep again to replace it"
                raise InvalidInput(piece.name, rule, "not what its name says")
            parts.append(shard)
        if not parts:
            return None
        # Each replicate once, though shards may overlap.
        numbers = np.concatenate([part.replicates for part in parts])
        unique, order = np.unique(numbers, return_index=True)
        return parts[0]._replace(
            replicates=unique,
            pulls=np.concatenate([part.pulls for part in parts])[order],
            candidates=np.concatenate([part.candidates for part in parts])[order],
            decided_at=np.concatenate([part.decided_at for part in parts])[order],
        )

    def identities(self) -> Iterator[str]:
        """Yield the identity of every cell that has a folder."""
        for outer in self.files.folders(""):
            if len(outer) == 2:
                for inner in self.files.folders(outer):
                    yield outer + inner

    def content_hash(self) -> str:
        """Return a hash of all outcomes, the same however they are cut into shards."""
        state = hashlib.sha256()
        for identity in sorted(self.identities()):
            found = self.finished(identity)
            if found is not None:
                state.update(identity.encode())
                for array in found[:5]:
                    state.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return state.hexdigest()

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

    def _named(self, identity: str) -> list[Piece]:
        folder = folder_of(identity)
        found = (_piece(folder, name) for name in self.files.names(folder))
        return sorted(piece for piece in found if piece is not None)

    def _load(self, identity: str, piece: Piece) -> Outcomes | None:
        """Return a file's outcomes, or None if they contradict its folder and name."""
        content = self.files.read(piece.name)
        if _checksum(content) != piece.checksum:
            return None
        # The checksum also holds for an undamaged file under another shard's name.
        try:
            shard = from_bytes(content)
        except (OSError, ValueError, KeyError):  # with its checksum, but not written by a store
            return None
        numbers = np.arange(piece.first, piece.first + piece.replicates)
        right = identity_of(shard.text) == identity and np.array_equal(shard.replicates, numbers)
        return shard if right else None


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


def _place_of_note(shard: Shard) -> str:
    return f"{SLOW}/{shard.name.replace('/', '-')}.json"


def leave_token(store: Store) -> str:
    """Write an empty file to a store and return its name, for `sees`."""
    token = f"{TEMPORARY}{uuid.uuid4().hex}"
    store.files.write(token, b"")
    return token


def sees(root: str, token: str) -> bool:
    """Return whether a file is in a store, which is not created."""
    if "://" not in root and not Path(root).is_dir():
        return False
    try:
        files_at(root).read(token)
    except FileNotFoundError:
        return False
    return True


def folder_of(identity: str) -> str:
    """Return the folder of a cell's shards."""
    return f"{identity[:2]}/{identity[2:]}"


def result_of(cell: Kept | Cell, found: Outcomes, replicates: int) -> Result:
    """Return at most so many outcomes of a cell as a result; the cell's policy may be missing."""
    content = json.loads(cell.text)
    return Result(
        bandit=cell.bandit if isinstance(cell, Cell) else bandit_of(content),
        runs=(PolicyRun(**found.run),),
        horizon=content["horizon"],
        seed=stream_seed_of(cell.text),
        replicates=found.replicates[:replicates],
        checkpoints=np.array(content["checkpoints"], dtype=np.int64),
        pulls=found.pulls[None, :replicates],
        candidates=found.candidates[None, :replicates],
        decided_at=found.decided_at[None, :replicates],
    )


def _gaps(pieces: Iterable[Piece], replicates: int) -> list[range]:
    gaps = []
    at = 0
    for piece in sorted(pieces):
        gaps.append(range(at, min(piece.first, replicates)))
        at = max(at, piece.first + piece.replicates)
    gaps.append(range(at, replicates))
    return [gap for gap in gaps if gap]


def _piece(folder: str, name: str) -> Piece | None:
    """Return the facts in a shard's file name, or None for another file."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return Piece(int(match[1]), int(match[2]), match[3], f"{folder}/{name}")


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
