"""Timing on a noisy machine: run the candidates in turn, keep the best or the median of each."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple


def best_of_interleaved(tasks: dict[str, Callable[[], Any]], repetitions: int) -> dict[str, float]:
    """Return each task's shortest time in seconds over repetitions taken in turn.

    In turn, so that a slow spell of the machine meets all of them; the shortest, because noise
    only ever adds.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repetitions):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


class Spent(NamedTuple):
    """The time that some work took: on the clock, and of processors."""

    clock: float
    processors: float


class Compared(NamedTuple):
    """The package's speed as a part of the bare engine's: median, smallest, largest.

    Attributes:
        speed: on the clock; on a busy machine it varies with what others do.
        work: bare time of processors over the package's: what it computes beyond the work itself.
    """

    speed: tuple[float, float, float]
    work: tuple[float, float, float]


def in_turn(bare: Callable[[], Any], package: Callable[[], Any], slices: int) -> Compared:
    """Compare slices of the same work, taken in turn, each with the bare ones before and after it.

    A slow spell of the machine meets both; one that begins or ends within a slice moves that one
    comparison, not the middle of all.
    """
    beside = [spent(bare)]
    between = []
    for _ in range(slices):
        between.append(spent(package))
        beside.append(spent(bare))
    pairs = list(zip(between, beside, beside[1:], strict=False))
    return Compared(
        _middle([(a.clock + b.clock) / 2 / this.clock for this, a, b in pairs]),
        _middle([(a.processors + b.processors) / 2 / this.processors for this, a, b in pairs]),
    )


def _middle(ratios: list[float]) -> tuple[float, float, float]:
    return statistics.median(ratios), min(ratios), max(ratios)


def spent(work: Callable[[], Any]) -> Spent:
    """Return the time that some work takes, in this process and its descendants."""
    began, before = time.perf_counter(), processor_seconds()
    work()
    return Spent(time.perf_counter() - began, processor_seconds() - before)


def processor_seconds() -> float:
    """Return the processor time that this process and its descendants have used so far.

    Those that ended count once somebody has waited for them.
    """
    ticks: dict[int, int] = {}
    below: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended just now
            continue
        fields = text.rpartition(")")[2].split()
        process = int(stat.parent.name)
        below[int(fields[1])].append(process)
        ticks[process] = sum(map(int, fields[11:15]))
    waiting, total = [os.getpid()], 0
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += below[process]
    return total / os.sysconf("SC_CLK_TCK")


def main(run: Callable[[], dict[str, float]]) -> int:
    """Print a benchmark's figures, as a table or as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    print_figures(run(), as_json=arguments.json)
    return 0


def print_figures(figures: Mapping[str, float], *, as_json: bool) -> None:
    """Print named figures, as one JSON object or as a table."""
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value:.4g}")
