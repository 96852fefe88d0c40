"""Run items, write what they found, and say whether every claim holds."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affinity_bandits import checks
from affinity_bandits._version import __version__
from affinity_bandits.errors import MissingExtra
from affinity_bandits.experiments import Cell, Executor, Experiment, Store, run_experiment
from affinity_bandits.paper.item import Claim, Data, Item
from affinity_bandits.plots.style import save_figure
from affinity_bandits.progress import Progress
from affinity_bandits.simulation import Result

PICTURES = ("png", "svg")


class StoreCellRunner:
    """A `CellRunner` that keeps what is finished in a store.

    Args:
        store: where.
        executor: who does the work.
        progress: who is told.
        shard_size: replicates in one piece of work; left out, so many as take about a second.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor | None = None,
        progress: Progress | None = None,
        shard_size: int | None = None,
    ) -> None:
        self._store = store
        self._executor = executor
        self._progress = progress
        self._shard_size = shard_size

    def results(self, cells: Sequence[Cell], replicates: int) -> list[Result]:
        """Return the outcome of every cell, in order; what is finished is not run again."""
        experiment = Experiment(tuple(cells), replicates, self._shard_size)
        found = run_experiment(experiment, self._store, self._executor, self._progress)
        by_identity = {cell.identity: result for cell, result in found.items()}
        return [by_identity[cell.identity] for cell in cells]


@dataclass(frozen=True)
class Outcome:
    """What an item found, and where it was written."""

    item: Item
    scale: str
    claims: tuple[Claim, ...]
    folder: Path

    @property
    def as_known(self) -> bool:
        """Whether every claim holds, but for those that the errata say do not."""
        return all(claim.as_known for claim in self.claims)


def run_item(item: Item, scale: str, runner: Any, out: Path) -> Outcome:
    """Run one item and write its pictures, data and claims; what is finished is not run again."""
    checks.choice("scale", scale, tuple(item.settings))
    folder = out / item.identity
    mark = fingerprint(item, scale)
    finished = read_finished(folder, mark)
    if finished is not None:
        return Outcome(item, scale, finished, folder)
    data = item.run(item.settings[scale], runner)
    verdicts = tuple(item.claims(data))
    folder.mkdir(parents=True, exist_ok=True)
    write_data(data, folder / "data.parquet")
    figure = item.draw(data)
    for kind in PICTURES:
        save_figure(figure, folder / f"figure.{kind}")
    about = {
        "item": item.identity,
        "title": item.title,
        "labels": item.labels,
        "notes": item.notes,
        "scale": scale,
        "version": __version__,
        "fingerprint": mark,
        "claims": [claim._asdict() for claim in verdicts],
    }
    (folder / "claims.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return Outcome(item, scale, verdicts, folder)


def fingerprint(item: Item, scale: str) -> str:
    """Return a digest of all that an item's outcome follows from: settings, version, code."""
    state = hashlib.blake2b(digest_size=16)
    state.update(f"{item.identity} {item.settings[scale]!r} {__version__}".encode())
    own = sys.modules[type(item.settings[scale]).__module__].__file__ or __file__
    # This room, and that of the item: a study has its own.
    for room in dict.fromkeys((Path(__file__).parent, Path(own).parent)):
        for path in sorted(room.glob("*.py")):
            state.update(path.read_bytes())
    return state.hexdigest()


def read_finished(folder: Path, mark: str) -> tuple[Claim, ...] | None:
    """Return the claims of an item that was finished under the same fingerprint, or None.

    Claims are written last, so where they are, pictures and data are, too.
    """
    try:
        about = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if about.get("fingerprint") != mark:
        return None
    return tuple(Claim(**claim) for claim in about["claims"])


def write_data(data: Data, path: Path) -> None:
    """Write an item's table as parquet."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "experiments") from error
    parquet.write_table(arrow.table({name: arrow.array(list(data[name])) for name in data}), path)
