"""Check that a store is complete and right, reading its files without the store's own code."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from affinity_bandits.errors import InvalidInput
from affinity_bandits.experiments import Store
from affinity_bandits.experiments.tables import Outcomes

NAME = re.compile(r"(\d{9})-(\d{7})-([0-9a-f]{16})\.parquet")
Key = tuple[str, int]
"""A cell's identity and the number of a replicate."""


@dataclass(frozen=True)
class Reference:
    """What an undisturbed run left: a hash, and every replicate's numbers."""

    content_hash: str
    rows: dict[Key, bytes]


@dataclass
class Verdict:
    """What is wrong with a store.

    Attributes:
        shards: files that hold what their names say.
        lost: replicates that no such file holds.
        duplicated: replicates that the store hands out more than once.
        wrong: replicates whose numbers are not those of the reference, in any file.
        damaged: files that do not hold what their names say.
        as_good: replicates that the store hands out with other numbers than the reference's.
        same_hash: whether the store's hash is the reference's.
    """

    shards: int = 0
    lost: int = 0
    duplicated: int = 0
    wrong: int = 0
    damaged: int = 0
    as_good: int = 0
    same_hash: bool = False
    complaints: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether the store is what it would be if nothing had happened."""
        faults = self.lost, self.duplicated, self.wrong, self.damaged, self.as_good
        return not any(faults) and self.same_hash

    @property
    def untorn(self) -> bool:
        """Whether what is there is right, though it need not be all."""
        return not any((self.duplicated, self.wrong, self.damaged, self.as_good))


def reference_of(root: Path) -> Reference:
    """Return the numbers in an undisturbed store."""
    rows: dict[Key, bytes] = {}
    for path in shard_files(root):
        found = numbers_in(root, path)
        if found is None or rows.keys() & found.keys():
            raise RuntimeError(f"an undisturbed store has a bad or overlapping file: {path}")
        rows |= found
    return Reference(Store(root).content_hash(), rows)


def check(root: Path, reference: Reference) -> Verdict:
    """Compare a store with what an undisturbed run gives."""
    verdict = Verdict()
    found: set[Key] = set()
    for path in shard_files(root):
        rows = numbers_in(root, path)
        if rows is None:
            verdict.damaged += 1
            verdict.complaints.append(f"damaged: {path}")
            continue
        verdict.shards += 1
        verdict.wrong += sum(reference.rows.get(key) != value for key, value in rows.items())
        found |= rows.keys()
    verdict.lost = len(reference.rows.keys() - found)
    store = Store(root)
    for identity in sorted({identity for identity, _ in reference.rows}):
        try:
            outcomes = store.finished(identity)
        except (InvalidInput, pyarrow.ArrowException, OSError, ValueError) as error:
            verdict.complaints.append(f"unreadable: {identity}: {error}")
            continue
        if outcomes is None:
            continue
        verdict.duplicated += len(outcomes.replicates) - len(set(outcomes.replicates.tolist()))
        verdict.as_good += sum(
            reference.rows.get((identity, number)) != value for number, value in handed(outcomes)
        )
    try:
        verdict.same_hash = store.content_hash() == reference.content_hash
    except (InvalidInput, pyarrow.ArrowException, OSError, ValueError) as error:
        verdict.complaints.append(f"no hash: {error}")
    return verdict


def shard_files(root: Path) -> list[Path]:
    """Return every file that lies where shards do, unfinished ones left out."""
    return sorted(
        path for path in root.glob("??/*/*") if path.is_file() and not path.name.startswith(".tmp-")
    )


def numbers_in(root: Path, path: Path) -> dict[Key, bytes] | None:
    """Return a file's numbers by replicate, or None if they are not those its name says."""
    match = NAME.fullmatch(path.name)
    content = path.read_bytes()
    if match is None or hashlib.blake2b(content, digest_size=8).hexdigest() != match[3]:
        return None
    try:
        table = parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError):
        return None
    text = table.schema.metadata[b"cell"]
    identity = hashlib.blake2b(text, digest_size=16, person=b"affinity-cell").hexdigest()
    first, count = int(match[1]), int(match[2])
    replicates = table["replicate"].to_pylist()
    named = list(range(first, first + count))
    if "".join(path.relative_to(root).parts[:2]) != identity or sorted({*replicates}) != named:
        return None
    times = json.loads(text)["checkpoints"]
    if table["time"].to_pylist() != times * count:
        return None
    pulls, candidates = table["pulls"].to_pylist(), table["candidates"].to_pylist()
    step = len(times)
    return {
        (identity, number): packed(
            times, pulls[at * step : (at + 1) * step], candidates[(at + 1) * step - 1]
        )
        for at, number in enumerate(named)
    }


def handed(outcomes: Outcomes) -> Iterator[tuple[int, bytes]]:
    """Yield every replicate that a store returns, with its numbers."""
    for at, number in enumerate(outcomes.replicates.tolist()):
        yield number, packed(outcomes.times, outcomes.pulls[at], outcomes.candidates[at])


def packed(times: object, pulls: object, candidates: object) -> bytes:
    """Return a replicate's numbers in one form, whichever way they were read."""
    return b"".join(np.asarray(part, dtype="<i8").tobytes() for part in (times, pulls, candidates))
