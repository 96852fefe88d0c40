"""Summaries say what `simulate` says of the same replicates, of whatever is finished."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affinity_bandits import simulate
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import Sweep, cell_summaries, run_cells, write_table
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.summaries import count_finished, keep_spec, summarize

SWEEP = Sweep(
    axes={"policy": ["uniform", "elimination"], "bandit.true_means": [[0.4, 0.6], [0.1, 0.2, 0.9]]},
    fixed={"horizon": 200},
    replicates=6,
    shard_size=3,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = Store(tmp_path_factory.mktemp("store"))
    run_cells(SWEEP, made)
    return made


def run_some(tmp_path: Path, size: int) -> tuple[Sweep, Store]:
    """Return a sweep of five replicates of one cell, and a store with another number of them."""
    fixed = {"horizon": 50, "bandit.true_means": [0.4, 0.6]}
    made = Store(tmp_path)
    run_cells(Sweep({"policy": ["uniform"]}, fixed, replicates=size), made)
    return Sweep({"policy": ["uniform"]}, fixed, replicates=5), made


def test_a_summary_is_that_of_a_simulation(store: Store) -> None:
    for planned, found in zip(SWEEP.planned(), cell_summaries(SWEEP, store), strict=True):
        cell = planned.cell()
        result = simulate(cell.bandit, cell.policy, 200, 6, cell.stream_seed, progress=False)
        (row,) = result.summary()
        estimates = (row.regret, row.regret_runs, row.wrong_arm, row.undecided)
        assert found[:7] == (cell.identity, planned.place, 6, *estimates)
        assert (found.undecided is None) == (cell.policy.name == "uniform")


@pytest.mark.parametrize(("size", "counted"), [(2, 2), (9, 5)])
def test_finished_ones_of_the_replicates_asked_for_count(
    tmp_path: Path, size: int, counted: int
) -> None:
    sweep, made = run_some(tmp_path, size)
    (cell,) = cell_summaries(sweep, made)
    assert cell.replicates == counted
    assert count_finished(sweep, made)[:2] == (counted, 5)


def test_nothing_is_known_of_what_is_not_run(store: Store, tmp_path: Path) -> None:
    assert count_finished(SWEEP, store) == (
        24,
        24,
        {key: [(12, 12), (12, 12)] for key in SWEEP.axes},
    )
    for cell in cell_summaries(SWEEP, Store(tmp_path)):
        assert cell[2:] == (0, *(None,) * 6, "", "")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    sweep, made = run_some(tmp_path, 5)
    (planned,) = sweep.planned()
    (file,) = (tmp_path / "runs").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InvalidInput, match=file.name):
        summarize(planned.identity, planned.place, made.snapshot(), 5)


def test_a_parquet_table_can_be_joined_with_the_shards(store: Store, tmp_path: Path) -> None:
    from pyarrow import dataset, parquet

    assert write_table(SWEEP, store, str(tmp_path / "cells.parquet")) == 4
    rows = parquet.read_table(tmp_path / "cells.parquet").to_pylist()
    # Cells of two and of three arms are one table.
    files = [str(path) for path in Path(store.root).glob("runs/*.parquet")]
    shards = dataset.dataset(files).to_table().to_pylist()
    assert {row["cell"] for row in rows} == {row["cell"] for row in shards}
    assert {len(row["pulls"]) for row in shards} == {2, 3}
    assert rows[1]["bandit.true_means"] == "0.1, 0.2, 0.9"
    assert rows[1]["bandit.true_means gap"] == pytest.approx(0.7)
    assert rows[0]["undecided"] is None
    assert rows[2]["undecided"] == 1.0


@pytest.mark.parametrize("replicates", [1, 25])
def test_no_interval_is_outside_of_what_is_possible(replicates: int, tmp_path: Path) -> None:
    """A logarithmic axis draws an end below 0 as a cliff.

    Of 25 runs of UCB1 with equal initial pulls two are deceived, and with a lead of the worse
    arm all but one: Student has -15 for the lower end of one and 1010 for the upper of the
    other; 1000 is the most.
    """
    heads = {"bandit.initial_pulls": [[10, 10], [100, 10]]}
    fixed = {"policy": "ucb1", "horizon": 5000, "bandit.true_means": [0.4, 0.6]}
    sweep = Sweep(heads, {**fixed, "bandit.bias": "power"}, replicates=replicates)
    made = Store(tmp_path)
    run_cells(sweep, made)
    cells = list(cell_summaries(sweep, made))
    for cell in cells:
        for estimate, low, high in filter(None, (cell.regret, cell.regret_runs)):
            assert 0.0 <= low <= estimate <= high <= 1000.0
    if replicates > 1:  # without a deceived run, or with nothing else, the test would be empty
        assert cells[0].wrong_arm is not None
        assert 0.0 < cells[0].wrong_arm[0] < 0.2


def test_a_table_of_another_kind_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.csv or \.parquet"):
        write_table(SWEEP, store, tmp_path / "cells.xlsx")


def test_the_latest_spec_is_kept_and_what_changed_is_said(tmp_path: Path) -> None:
    made = Store(tmp_path)
    assert keep_spec(SWEEP, made) is None
    assert keep_spec(SWEEP, made) == []
    other = Sweep(SWEEP.axes, {"horizon": 300}, replicates=9, shard_size=3)
    assert keep_spec(other, made) == ["fixed", "replicates"]
    kept = json.loads((tmp_path / "spec.json").read_text(encoding="utf-8"))
    assert Sweep.from_json(kept) == other
    (tmp_path / "spec.json").write_text("not json", encoding="utf-8")
    assert keep_spec(SWEEP, made) != []
