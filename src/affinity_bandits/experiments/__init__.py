"""Experiments: many cells, each run once and saved as it finishes; resumable after interruption."""

from affinity_bandits.experiments.cells import Cell, Experiment, PlannedCell, Shard
from affinity_bandits.experiments.executors import Executor, ProcessExecutor, SerialExecutor
from affinity_bandits.experiments.outcomes import Kept
from affinity_bandits.experiments.parts import Part
from affinity_bandits.experiments.ray_executor import RayExecutor
from affinity_bandits.experiments.run import Summary, run_cells, run_experiment
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.summaries import (
    CellSummary,
    cell_summaries,
    write_table,
)
from affinity_bandits.experiments.sweep import Axis, Sweep, axes_of
from affinity_bandits.experiments.work import Report, run_shard, run_task

__all__ = [
    "Axis",
    "Cell",
    "CellSummary",
    "Executor",
    "Experiment",
    "Kept",
    "Part",
    "PlannedCell",
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
    "write_table",
]
