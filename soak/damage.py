"""Damage finished files: truncate, flip, empty, misplace or misname them, or add foreign ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from affinity_bandits.errors import InvalidInput
from affinity_bandits.experiments import Store, run_cells
from soak.cases import CASES, reference
from soak.checker import NAME, check, shard_files
from soak.rows import Row

MOST_AT_ONCE = 8


class Damage(NamedTuple):
    """What was done to a store.

    Attributes:
        kind: in words.
        aside: the file that a run must move aside, relative to the root.
        cells: folders of the cells that cannot be read until then.
        replicates: how many a run must make again.
    """

    kind: str
    aside: str
    cells: tuple[str, ...]
    replicates: int


def truncated(root: Path, path: Path, chance: random.Random) -> Damage:
    """Cut a file off at a random place."""
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content))])
    return _in_place("truncation", root, path)


def flipped(root: Path, path: Path, chance: random.Random) -> Damage:
    """Flip a random bit."""
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    return _in_place("bit flip", root, path)


def emptied(root: Path, path: Path, _: random.Random) -> Damage:
    """Empty a file."""
    path.write_bytes(b"")
    return _in_place("empty file", root, path)


def misplaced(root: Path, path: Path, chance: random.Random) -> Damage:
    """Move an undamaged file into another cell's folder."""
    others = sorted(folder for folder in root.glob("??/*") if folder != path.parent)
    target = chance.choice(others) / path.name
    path.rename(target)
    cells = _cell(root, path), _cell(root, target)
    return Damage("another cell's", str(target.relative_to(root)), cells, _count(path))


def misnamed(root: Path, path: Path, _: random.Random) -> Damage:
    """Give an undamaged file the name of other replicates of its cell."""
    other = (int(path.name[:9]) + _count(path)) % CASES["tiny"]().cells.replicates
    target = path.with_name(f"{other:09d}{path.name[9:]}")
    path.rename(target)
    cells = (_cell(root, path),)
    return Damage("other replicates'", str(target.relative_to(root)), cells, _count(path))


def foreign(root: Path, path: Path, chance: random.Random) -> Damage:
    """Put a file that is no shard among the shards; it must be left out and harm nothing."""
    target = path.with_name(f"notes-{chance.randrange(10**9)}.txt")
    target.write_text("not a shard", encoding="utf-8")
    return Damage("foreign file", str(target.relative_to(root)), (), 0)


COMMON = (truncated, flipped)
RARE = (emptied, misplaced, misnamed, foreign)


def damaged_files(count: int, seed: int, scratch: Path) -> Row:
    """Damage finished files in small batches, try to read them, and run the sweep again.

    Of the damages, `count` are truncations and bit flips; each batch has one of the rest, too.
    """
    row = Row("damaged files")
    chance = random.Random(seed)
    case = CASES["tiny"]()
    truth = reference("tiny")
    root = scratch / "damage"
    run_cells(case.cells, Store(root))
    cells = {planned.identity: planned.cell() for planned in case.cells.planned()}
    kinds: dict[str, int] = {}
    left = count
    while left > 0:
        size = min(left, chance.randint(1, MOST_AT_ONCE))
        left -= size
        makers = [chance.choice(COMMON) for _ in range(size)] + [chance.choice(RARE)]
        paths = chance.sample(shard_files(root), len(makers))
        batch = [make(root, path, chance) for make, path in zip(makers, paths, strict=True)]
        for damage in batch:
            kinds[damage.kind] = kinds.get(damage.kind, 0) + 1
        store = Store(root)
        for identity in sorted({cell for damage in batch for cell in damage.cells}):
            try:
                store.read(cells[identity], case.cells.replicates)
            except InvalidInput:
                continue
            row.as_good += 1
            row.violations.append(f"read in spite of {batch}: {identity}")
        try:
            store.content_hash()
        except InvalidInput:
            pass
        else:
            row.as_good += 1
            row.violations.append(f"hashed in spite of {batch}")
        summary = run_cells(case.cells, Store(root))
        expected = sorted(damage.aside for damage in batch)
        row.expect(sorted(summary.aside) == expected, f"aside {summary.aside}, not {expected}")
        again = sum(damage.replicates for damage in batch)
        row.expect(summary.run == again, f"ran {summary.run} replicates, not {again}: {batch}")
        kept = [name for name in expected if not (root / "aside" / name).is_file()]
        row.expect(not kept, f"not in aside: {kept}")
        verdict = check(root, truth)
        row.faults += len(batch)
        row.restarts += 1
        if not verdict.good:
            row.add(verdict)
            break
    row.add(check(root, truth))
    row.note = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
    return row


def _in_place(kind: str, root: Path, path: Path) -> Damage:
    return Damage(kind, str(path.relative_to(root)), (_cell(root, path),), _count(path))


def _cell(root: Path, path: Path) -> str:
    return "".join(path.relative_to(root).parts[:2])


def _count(path: Path) -> int:
    match = NAME.fullmatch(path.name)
    if match is None:
        raise RuntimeError(f"no name of a shard: {path.name}")
    return int(match[2])
