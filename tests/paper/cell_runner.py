"""A `CellRunner` for tests: serial, in a temporary directory."""

from __future__ import annotations

from pathlib import Path

from affinity_bandits.experiments import Store
from affinity_bandits.paper import StoreCellRunner


def runner_in(folder: Path) -> StoreCellRunner:
    return StoreCellRunner(Store(folder))
