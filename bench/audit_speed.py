"""How fast logs are read and summed up: `python -m bench.audit_speed --json [--rows 1e6,1e7]`.

A log of two groups, five stars, moments and choices is written as Parquet and as CSV, and read in a
fresh process, by pyarrow alone, by `read_log(...).summary()`, and, from the start of the process to
the JSON file, by `affinity audit`. Machine code is made beforehand.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import print_figures

AT_ONCE = 250_000
COLUMNS = ("time", "group", "score", "chosen")
NOTE = "what nobody reads"
KINDS = ("parquet", "csv")


def parts(rows: int, seed: int = 1) -> Iterator[Any]:
    """Yield a log as arrow's tables, some rows at a time."""
    import pyarrow as arrow

    rng = np.random.default_rng(seed)
    names = np.array(["own", "other"])
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        yield arrow.table(
            {
                "time": np.arange(start, start + count) // 3,
                "group": names[rng.integers(0, 2, count)],
                "score": rng.integers(1, 6, count),
                "chosen": rng.random(count) < 0.3,
                "note": [NOTE] * count,
            }
        )


def write(path: Path, rows: int) -> None:
    """Write a log to a file of the kind that its name says."""
    from pyarrow import csv, parquet

    made = parts(rows)
    first = next(made)
    opened = parquet.ParquetWriter if path.suffix == ".parquet" else csv.CSVWriter
    with opened(path, first.schema) as writer:
        writer.write_table(first)
        for part in made:
            writer.write_table(part)


def bare(path: Path) -> None:
    """Read the columns that are needed, and do nothing with them."""
    from pyarrow import csv, parquet

    if path.suffix == ".parquet":
        for _ in parquet.ParquetFile(path).iter_batches(columns=list(COLUMNS)):
            pass
    else:
        options = csv.ConvertOptions(include_columns=list(COLUMNS))
        for _ in csv.open_csv(path, convert_options=options):
            pass


def package(path: Path) -> None:
    """Read a log and sum it up."""
    from affinity_bandits.audit.reading import read_log

    read_log(path, lowest=1, highest=5, initial={"own": 30, "other": 10}).summary()


TASKS: dict[str, Callable[[Path], None]] = {"bare": bare, "package": package}


def measured(task: str, path: Path, small: Path) -> dict[str, float]:
    """Return the seconds of a task and the most memory in MiB, in a process of its own."""
    command = [sys.executable, "-m", "bench.audit_speed", "--task", task, str(path), str(small)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def commanded(path: Path, small: Path) -> dict[str, float]:
    """Return the seconds and the memory of the command, the start of its process included."""
    said = ("--scale", "1..5", "--committee", "own 30, other 10")
    for one in (small, path):  # the first makes machine code
        answer = one.with_suffix(".json")
        began = time.perf_counter()
        started = subprocess.Popen(
            [Path(sys.executable).with_name("affinity"), "audit", one, *said, "--json", answer],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(started.pid, 0)
        assert status == 0, f"the command ended with status {status}"
        took = time.perf_counter() - began
    return {"clock": took, "memory": used.ru_maxrss / 1024}


def run(sizes: list[int]) -> dict[str, float]:
    """Return the figures of this benchmark."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            for kind in KINDS:
                path, small = (Path(folder) / f"{name}.{kind}" for name in ("log", "small"))
                write(path, rows)
                write(small, 1_000)
                name = f"audit_speed.{kind}.{rows:.0e}".replace("e+0", "e")
                alone, whole = (measured(task, path, small) for task in TASKS)
                figures[f"{name}.clock_s"] = whole["clock"]
                figures[f"{name}.processor_s"] = whole["processor"]
                figures[f"{name}.over_bare_clock"] = whole["clock"] / alone["clock"]
                figures[f"{name}.memory_mib"] = whole["memory"]
                command = commanded(path, small)
                figures[f"{name}.command_clock_s"] = command["clock"]
                figures[f"{name}.command_memory_mib"] = command["memory"]
                path.unlink()
    return figures


def do_task(task: str, path: Path, small: Path) -> None:
    """Print what a task takes, once machine code is made."""
    TASKS[task](small)
    began, before = time.perf_counter(), time.process_time()
    TASKS[task](path)
    figures = {
        "clock": time.perf_counter() - began,
        "processor": time.process_time() - before,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def main() -> int:
    """Print the figures of this benchmark."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rows", default="1e6,1e7", help="numbers of rows, separated by commas")
    parser.add_argument("--task", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.task:
        task, path, small = arguments.task
        do_task(task, Path(path), Path(small))
        return 0
    sizes = [int(float(size)) for size in arguments.rows.split(",")]
    print_figures(run(sizes), as_json=arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
