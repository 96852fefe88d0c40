"""A lab for tests: serial, in a temporary directory."""

from __future__ import annotations

from pathlib import Path

from affinity_bandits.experiments import Store
from affinity_bandits.paper import StoreLab


def lab_in(folder: Path) -> StoreLab:
    return StoreLab(Store(folder))
