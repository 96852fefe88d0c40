"""A run of cells reports what fails and runs the rest, and runs only what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from affinity_bandits.experiments import (
    Store,
    Sweep,
    run_cells,
    work,
)
from affinity_bandits.simulation import Result
from tests.experiments.driver import SMALL


def test_a_combination_that_makes_no_cell_is_reported_and_the_rest_is_run(tmp_path: Path) -> None:
    axes = {"bandit.initial_pulls": [[100, 10], [1, 2, 3], [10, 100]]}
    sweep = Sweep(axes, {**SMALL.fixed, "policy": "ucb1"}, replicates=4)
    summary = run_cells(sweep, Store(tmp_path))
    assert (summary.run, summary.failed) == (8, 1)
    assert "initial_pulls must be as long as" in next(iter(summary.errors.values()))


def test_an_error_of_a_shard_is_reported_and_the_rest_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = work.run_shard

    def fail_the_first(shard: Any) -> Result:
        if shard.planned.policy.name == "ucb1":
            raise ZeroDivisionError("by design")
        return real(shard)

    with monkeypatch.context() as patch:
        patch.setattr(work, "run_shard", fail_the_first)
        summary = run_cells(SMALL, Store(tmp_path))
        assert (summary.run, summary.failed) == (2, 1)
        assert set(summary.errors.values()) == {"ZeroDivisionError: by design"}
    assert run_cells(SMALL, Store(tmp_path)).run == 2
    assert Store(tmp_path).failures() == []


def test_adding_replicates_and_cells_runs_only_what_is_new(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fixed = {"bandit.true_means": [0.4, 0.6], "policy": "ucb1"}
    small = Sweep({"horizon": [100, 200]}, fixed, 10)
    assert run_cells(small, store).run == 20
    more = Sweep({"horizon": [100, 200, 300]}, fixed, 25, shard_size=4)
    summary = run_cells(more, store)
    assert (summary.found, summary.run) == (20, 55)
    afresh = Store(tmp_path / "afresh")
    run_cells(more, afresh)
    assert afresh.content_hash() == store.content_hash()
