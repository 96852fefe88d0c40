"""Sweeps that were run in peace, for what disturbs them and for whoever else runs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from affinity_bandits.experiments import (
    Executor,
    SerialExecutor,
    Store,
    Sweep,
    run_cells,
)


def content(root: Path, executor: Executor, shard_size: int | None) -> str:
    sweep = Sweep(
        axes={
            "policy": ["ucb1", "exp3", "elimination"],
            "bandit.bias": ["constant", {"name": "power", "alpha": 2.0}],
        },
        fixed={
            "bandit.true_means": [0.4, 0.6],
            "bandit.initial_pulls": [100, 10],
            "horizon": 500,
            "checkpoints": [100],
        },
        replicates=40,
        shard_size=shard_size,
    )
    summary = run_cells(sweep, Store(root), executor)
    assert (summary.run, summary.failed) == (240, 0)
    return Store(root).content_hash()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sweep], str]:
    """The content of a store in which a sweep was run in peace."""

    def content(sweep: Sweep) -> str:
        store = Store(tmp_path_factory.getbasetemp() / f"undisturbed-{len(sweep)}")
        run_cells(sweep, store)  # runs nothing the second time
        return store.content_hash()

    return content


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    return content(tmp_path_factory.mktemp("serial"), SerialExecutor(), None)
