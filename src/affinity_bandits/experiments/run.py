"""Run an experiment: what is not in the store yet, and nothing else."""

from __future__ import annotations

from affinity_bandits.experiments.executors import Executor, SerialExecutor
from affinity_bandits.experiments.spec import Cell, Experiment
from affinity_bandits.experiments.store import Store
from affinity_bandits.simulation import Result
from affinity_bandits.simulation.progress import Progress


def run_experiment(
    experiment: Experiment,
    store: Store,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> dict[Cell, Result]:
    """Run what is missing of an experiment and return every cell's outcome.

    Args:
        experiment: what to run.
        store: where finished work is kept; what is there is not run again.
        executor: who does the work; this process if left out.
        progress: is told of every replicate finished, and of those found finished.
    """
    missing = []
    for shard in experiment.shards():
        if shard in store:
            if progress is not None:
                progress.tick(shard.count)
        else:
            missing.append(shard)
    (executor or SerialExecutor()).run(
        missing,
        store.root,
        lambda shard: None if progress is None else progress.tick(shard.count),
    )
    return {cell: store.read(cell, experiment.replicates) for cell in experiment.cells}
