"""Comparing results of simulations."""

from __future__ import annotations

import numpy as np

from affinity_bandits import Result


def assert_equal(one: Result, other: Result) -> None:
    """Check that two results are the same, but for how seeds were merged."""
    for name in ("replicates", "checkpoints", "pulls", "candidates", "decided_at"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    for name in ("bandit", "runs", "horizon", "seed", "complete", "version"):
        assert getattr(one, name) == getattr(other, name)
