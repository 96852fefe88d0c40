"""Experiments: many cells, each run once and saved as it finishes; resumable after interruption."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.experiments.axes import Axis, axes_of
from affinity_bandits.experiments.executors import Executor, SerialExecutor
from affinity_bandits.experiments.processes import ProcessExecutor
from affinity_bandits.experiments.ray_executor import RayExecutor
from affinity_bandits.experiments.run import Summary, run_cells, run_experiment
from affinity_bandits.experiments.spec import Cell, Experiment, Planned, Shard
from affinity_bandits.experiments.store import Kept, Store
from affinity_bandits.experiments.summaries import (
    CellSummary,
    cell_summaries,
    summarise,
    write_table,
)
from affinity_bandits.experiments.sweep import Sweep
from affinity_bandits.experiments.work import Report, run_shard, run_task

__all__ = [
    "Axis",
    "Cell",
    "CellSummary",
    "Executor",
    "Experiment",
    "Kept",
    "Planned",
    "ProcessExecutor",
    "RayExecutor",
    "Report",
    "SerialExecutor",
    "Shard",
    "Store",
    "Summary",
    "Sweep",
    "axes_of",
    "cell_summaries",
    "run_cells",
    "run_experiment",
    "run_shard",
    "run_task",
    "summarise",
    "write_table",
]
