"""Experiments: many cells, run once each, kept as they come, gone on with after any end."""

from affinity_bandits.experiments.executors import (
    Executor,
    ProcessExecutor,
    SerialExecutor,
    run_shard,
)
from affinity_bandits.experiments.run import run_experiment
from affinity_bandits.experiments.spec import Cell, Experiment, Shard
from affinity_bandits.experiments.store import Store

__all__ = [
    "Cell",
    "Executor",
    "Experiment",
    "ProcessExecutor",
    "SerialExecutor",
    "Shard",
    "Store",
    "run_experiment",
    "run_shard",
]
