"""The sweeps that are disturbed, and what must come out of each."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from affinity_bandits.experiments import Experiment, Store, Sweep, run_cells
from affinity_bandits.experiments.spec import CellSet
from soak.checker import Reference, reference_of
from soak.poison import Poison

FIXED: dict[str, Any] = {"bandit.true_means": [0.4, 0.6], "bandit.bias": {"name": "power"}}


@dataclass(frozen=True)
class Case:
    """Cells to run, most often those of a sweep.

    Attributes:
        cells: what is run.
        sound: the part of it that can be run at all; what must be in the store in the end.
    """

    cells: CellSet
    sound: Sweep

    @property
    def hopeless(self) -> int:
        """How many shards must fail."""
        size = self.cells.shard_size or self.cells.replicates
        hopeless = sum(1 for _ in self.cells.planned()) - len(self.sound)
        return hopeless * -(-self.cells.replicates // size)


def _case(axes: dict[str, Any], horizon: int | None, replicates: int, shard_size: int) -> Case:
    fixed = FIXED if horizon is None else FIXED | {"horizon": horizon}
    fixed = {key: value for key, value in fixed.items() if key not in axes}
    sweep = Sweep(axes, fixed, replicates, shard_size=shard_size)
    return Case(sweep, sweep)


def _tiny() -> Case:
    axes = {"policy": ["ucb1", "exp3", "elimination"], "horizon": [200, 300]}
    return _case(axes, None, 20, 5)


def _small() -> Case:
    return _case({"policy": ["ucb1"]}, 200, 4, 2)


def _long() -> Case:
    """Shards of a tenth of a second or more, so that most kills land inside one."""
    means = [[0.4, 0.6], [0.45, 0.6], [0.5, 0.6], [0.55, 0.6]]
    return _case({"bandit.true_means": means, "policy": ["ucb1"]}, 4_000_000, 8, 1)


def _uneven() -> Case:
    """One cell has two arms and three initial pulls; it says so when it is built."""
    axes = {"bandit.initial_pulls": [[100, 10], [1, 2, 3], [10, 100]], "policy": ["ucb1"]}
    case = _case(axes, 200, 4, 2)
    sound = axes | {"bandit.initial_pulls": [[100, 10], [10, 100]]}
    return replace(case, sound=_case(sound, 200, 4, 2).sound)


def _poisonous() -> Case:
    """One cell's policy, which is not of the package, kills whoever runs it."""
    sound = _case({"policy": ["ucb1", "exp3"]}, 200, 1, 1).sound
    cells = [planned.cell() for planned in sound.planned()]
    cells.insert(1, replace(cells[0], policy=Poison()))
    return Case(Experiment(cells, sound.replicates, sound.shard_size), sound)


_one_at_a_time = threading.Lock()
CASES = {
    "tiny": _tiny,
    "small": _small,
    "long": _long,
    "uneven": _uneven,
    "poisonous": _poisonous,
}


def reference(name: str) -> Reference:
    """Return what an undisturbed run of a case's sound part gives."""
    with _one_at_a_time:  # scenarios run in threads, and a cache has no lock
        return _undisturbed(name)


@cache
def _undisturbed(name: str) -> Reference:
    with tempfile.TemporaryDirectory(prefix="soak-") as root:
        sound = CASES[name]().sound
        summary = run_cells(sound, Store(root))
        if summary.failed or summary.run != len(sound) * sound.replicates:
            raise RuntimeError(f"the undisturbed run of {name} failed: {summary}")
        return reference_of(Path(root))
