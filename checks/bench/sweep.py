"""Measure the overhead of sweeps: `python -m checks.bench.sweep --json` (`--small` for a part).

The bare engine is the same cells run by two plain processes that call `simulate` and keep nothing.
It is compared with the process pool and Ray, with shards written to a store on disk, in short
slices taken in turn: on the clock (`speed`, which depends on other load) and in CPU time (`work`).

Many small cells, of one replicate each, are compared with a loop over the same cells that keeps
nothing, again in two processes. Then the files of 10,000 finished cells are counted, and the CPU
time is measured that `run` takes to find that nothing is missing, and that `export` takes.

The driver's own costs are measured with an executor that does nothing: memory at 10,000 and 100,000
shards, and the time to plan 10,000 cells.
"""

from __future__ import annotations

import json
import logging
import math
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from affinity_bandits.experiments import (
    ProcessExecutor,
    Report,
    Store,
    Sweep,
    run_cells,
    write_table,
)
from affinity_bandits.experiments.cutting import TASK_SECONDS, Task
from affinity_bandits.experiments.executors import Done, Executor
from affinity_bandits.experiments.ray_executor import RayExecutor
from checks.bench.measure import Compared, in_turn, main, spent

WORKERS = 2
SLICES = 5
SECONDS = 12.0
"""CPU time of a bare slice."""
HORIZON = 200_000
SMALL = {"small": (2_000, 250_000), "tiny": (10_000, 1_000)}
"""Numbers of cells and of pulls of each: some 10 ms and 2 ms on a quiet machine."""
SMALL_SLICES = 1


def sweep(replicates: int) -> Sweep:
    """Return cells of very different lengths: steps and rounds, two and sixteen arms."""
    return Sweep(
        axes={
            "policy": ["ucb1", "thompson-beta", "elimination", "head-start-elimination"],
            "bandit.true_means": [[0.4, 0.6], [0.4] * 15 + [0.6]],
            "horizon": [HORIZON // 10, HORIZON],
        },
        fixed={"bandit.bias": {"name": "power"}},
        replicates=replicates,
    )


def bare(replicates: range, total: int) -> None:
    """Run some replicates of all cells and keep nothing."""
    from affinity_bandits import simulate

    for planned in sweep(total).planned():
        cell = planned.cell()
        simulate(
            cell.bandit,
            cell.policy,
            cell.horizon,
            len(replicates),
            cell.stream_seed,
            checkpoints=cell.checkpoints,
            first_replicate=replicates.start,
            progress=False,
        )


def bare_slice(replicates: int) -> None:
    """Run all cells in two plain processes."""
    spawn = multiprocessing.get_context("spawn")
    cut = replicates // 2
    halves = (range(cut), range(cut, replicates))
    workers = [spawn.Process(target=bare, args=(half, replicates)) for half in halves]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def sweep_slice(executor: Executor, replicates: int) -> None:
    """Run all cells as a sweep, into a fresh store."""
    with tempfile.TemporaryDirectory() as root:
        summary = run_cells(sweep(replicates), Store(root), executor)
        assert summary.run == replicates * len(sweep(replicates))


class Idle:
    """An executor that does nothing, at once."""

    def task_seconds(self) -> float:
        """Return how long a task should take."""
        return TASK_SECONDS

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Report every shard as done."""
        for task in tasks:
            for shard in task:
                done(Report(shard, 1.0, None))


def drive(cells: int, shards: int) -> dict[str, float]:
    """Plan cells and submit shards, in this process."""
    began = time.perf_counter()
    grid = Sweep(
        axes={
            "bandit.bias": [
                {"name": "power", "alpha": 1.0 + i / 1000} for i in range(cells // 100)
            ],
            "bandit.initial_pulls": [[10 + i, 10] for i in range(10)],
            "horizon": [1000 + i for i in range(10)],
        },
        fixed={"bandit.true_means": [0.4, 0.6], "policy": "ucb1"},
        replicates=shards // cells,
        shard_size=1,
    )
    with tempfile.TemporaryDirectory() as root:
        run_cells(grid, Store(root), Idle())
    return {"seconds": time.perf_counter() - began, "mebibytes": peak_mebibytes()}


def small_cells(cells: int, horizon: int, half: int | None = None) -> Sweep:
    """Return a multiple of 200 cells of one replicate, or one half of them."""
    alphas = [1.0 + i / 1000 for i in range(cells // 100)]
    return Sweep(
        axes={
            "bandit.bias": [
                {"name": "power", "alpha": alpha}
                for alpha in (alphas if half is None else alphas[half::2])
            ],
            "bandit.initial_pulls": [[10 + i, 10] for i in range(10)],
            "horizon": [horizon + i for i in range(10)],
        },
        fixed={"bandit.true_means": [0.4, 0.6], "policy": "ucb1"},
        replicates=1,
    )


def bare_small(cells: int, horizon: int, half: int) -> None:
    """Run one half of small cells in a loop and keep nothing."""
    from affinity_bandits import simulate

    for planned in small_cells(cells, horizon, half).planned():
        cell = planned.cell()
        simulate(cell.bandit, cell.policy, cell.horizon, 1, cell.stream_seed, progress=False)


def bare_small_slice(cells: int, horizon: int) -> None:
    """Run small cells in two plain processes."""
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=bare_small, args=(cells, horizon, half)) for half in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def sweep_small_slice(cells: int, horizon: int, root: str | None = None) -> None:
    """Run small cells as a sweep, into a fresh store."""
    with tempfile.TemporaryDirectory() as folder:
        grid = small_cells(cells, horizon)
        summary = run_cells(grid, Store(root or folder), ProcessExecutor(WORKERS))
        assert summary.run == cells


def finished(cells: int, horizon: int) -> dict[str, float]:
    """Return the files that small cells leave, and the CPU time of looking at them."""
    with tempfile.TemporaryDirectory() as root:
        sweep_small_slice(cells, horizon, root)
        return {
            "files": sum(1 for _ in Path(root).rglob("*")),
            "mebibytes": sum(path.stat().st_size for path in Path(root).rglob("*")) / 2**20,
            "resume_seconds": look("run", root, cells, horizon),
            "export_seconds": look("export", root, cells, horizon),
        }


def look(what: str, root: str, cells: int, horizon: int) -> float:
    """Resume or export finished cells in a fresh process; return its CPU time."""
    words = ["--look", what, root, str(cells), str(horizon)]
    command = [sys.executable, "-m", "checks.bench.sweep", *words]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def look_here(what: str, root: str, cells: int, horizon: int) -> float:
    """Resume or export finished cells in this process; return the CPU time."""
    began = time.process_time()
    grid = small_cells(cells, horizon)
    if what == "run":
        assert run_cells(grid, Store(root), ProcessExecutor(WORKERS)).found == cells
    else:
        assert write_table(grid, Store(root), Path(root, "cells.parquet")) == cells
    return time.process_time() - began


def small() -> dict[str, float]:
    """Return the figures of small cells."""
    figures: dict[str, float] = {}
    bare_small_slice(200, SMALL["tiny"][1])  # compiles
    for name, (cells, horizon) in SMALL.items():
        bare_work = partial(bare_small_slice, cells, horizon)
        pool = partial(sweep_small_slice, cells, horizon)
        # Of the sweep over that of the loop: the other way around than `Compared`.
        middle, least, most = (1 / one for one in in_turn(bare_work, pool, SMALL_SLICES).work)
        figures |= {
            f"sweep.{name}.cells": cells,
            f"sweep.{name}.milliseconds": 1000 * spent(bare_work).processors / cells,
            f"sweep.{name}.work": middle,
            f"sweep.{name}.work.least": most,
            f"sweep.{name}.work.most": least,
        }
    found = finished(*SMALL["tiny"])
    return figures | {f"sweep.finished.{kind}": value for kind, value in found.items()}


def peak_mebibytes() -> float:
    """Return the most memory this process has had; `getrusage` starts with its parent's."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return math.nan


def driven(cells: int, shards: int) -> dict[str, float]:
    """Run `drive` in a fresh process and return its figures."""
    command = [sys.executable, "-m", "checks.bench.sweep", "--drive", str(cells), str(shards)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    import ray

    trial = 40
    bare_slice(trial)  # compiles
    few = spent(partial(bare_slice, trial)).processors
    many = spent(partial(bare_slice, 3 * trial)).processors
    replicates = round(SECONDS / max((many - few) / (2 * trial), 1e-4))
    figures: dict[str, float] = {"sweep.replicates": replicates}
    bare_work = partial(bare_slice, replicates)
    pool = partial(sweep_slice, ProcessExecutor(WORKERS), replicates)
    tell(figures, "sweep.processes", in_turn(bare_work, pool, SLICES))
    began = time.perf_counter()
    ray.init(
        "local",
        num_cpus=WORKERS,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    figures["sweep.ray.start_seconds"] = time.perf_counter() - began
    try:
        cluster = partial(sweep_slice, RayExecutor(workers=WORKERS), replicates)
        cluster()  # its processes stay, so that the first slice would start them for all
        tell(figures, "sweep.ray", in_turn(bare_work, cluster, SLICES))
    finally:
        ray.shutdown()
    for shards in (10_000, 100_000):
        held = driven(10_000, shards)["mebibytes"]
        figures[f"sweep.driver.mebibytes_at_{shards // 1000}k_shards"] = held
    figures["sweep.plan_10k_cells.seconds"] = driven(10_000, 10_000)["seconds"]
    return figures | small()


def tell(figures: dict[str, float], name: str, found: Compared) -> None:
    """Add a comparison to the figures."""
    for kind, values in found._asdict().items():
        for place, value in zip(("", ".least", ".most"), values, strict=True):
            figures[f"{name}.{kind}{place}"] = value


if __name__ == "__main__":
    if sys.argv[1:2] == ["--drive"]:
        print(json.dumps(drive(int(sys.argv[2]), int(sys.argv[3]))))
        sys.exit(0)
    if sys.argv[1:2] == ["--look"]:
        print(look_here(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))
        sys.exit(0)
    if "--small" in sys.argv:
        sys.argv.remove("--small")
        sys.exit(main(small))
    sys.exit(main(run))
