"""Nobody waits for what they do not use.

Wall times on a busy machine vary, so each is the best of several, and the limits are those
promised in the docs: at the time of writing an import takes a third of its limit.
"""

from __future__ import annotations

import pytest
from bench import startup

pytestmark = pytest.mark.slow  # each test starts processes or compiles


def test_importing_costs_little_more_than_numpy() -> None:
    assert startup.best_import("affinity_bandits") - startup.best_import("numpy") < 0.15


def test_the_second_small_simulation_starts_quickly() -> None:
    small = ["simulate", "--means", "0.4,0.6", "--horizon", "1e4", "--replicates", "10"]
    startup.command(small)
    assert min(startup.command(small) for _ in range(3)) < 3.0
