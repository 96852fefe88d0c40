"""Shared by all benchmarks: timing on a noisy machine, tables of many lines, output as JSON."""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from affinity_bandits._version import __version__


def best_of_interleaved(tasks: dict[str, Callable[[], Any]], repetitions: int) -> dict[str, float]:
    """Return each task's shortest time in seconds over interleaved repetitions.

    Interleaving exposes all tasks to the same slow spells of the machine. The minimum is used
    because noise only adds time.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repetitions):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


class Spent(NamedTuple):
    """Wall time and CPU time of some work, in seconds."""

    clock: float
    processors: float


class Compared(NamedTuple):
    """Median, minimum and maximum of baseline time over the package's time.

    Attributes:
        speed: in wall time, which varies with the machine's load.
        work: in CPU time.
    """

    speed: tuple[float, float, float]
    work: tuple[float, float, float]


def in_turn(bare: Callable[[], Any], package: Callable[[], Any], slices: int) -> Compared:
    """Compare alternating slices of the same work, each with the baseline before and after it."""
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
    """Return the time that some work takes in this process and its descendants."""
    began, before = time.perf_counter(), processor_seconds()
    work()
    return Spent(time.perf_counter() - began, processor_seconds() - before)


def processor_seconds(*roots: int) -> float:
    """Return the CPU time of processes and their descendants, those waited for included.

    Without arguments: of this process.
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
    waiting, total = list(roots or [os.getpid()]), 0
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += below[process]
    return total / os.sysconf("SC_CLK_TCK")


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of positive numbers."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def main(run: Callable[[], dict[str, float]]) -> int:
    """Run a benchmark and report its figures."""
    arguments = make_parser("").parse_args()
    report(run(), arguments)
    return 0


def make_parser(about: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks have, given a benchmark's docstring."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--out", type=Path, help="also write the figures to this file, as JSON")
    return parser


def report(figures: Mapping[str, float], arguments: argparse.Namespace) -> None:
    """Print named figures, as a table or as JSON; write them, with version and date, to a file."""
    if arguments.out is not None:
        made = {"version": __version__, "date": time.strftime("%Y-%m-%d", time.gmtime())}
        arguments.out.write_text(json.dumps({**made, **figures}, indent=2) + "\n", encoding="utf-8")
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value:.4g}")


class Lines(NamedTuple):
    """A benchmark whose figures summarize many lines, one named tuple per item of work.

    Attributes:
        about: the benchmark's docstring.
        line: the type of a line.
        work: one item per line.
        measure: returns a line, given its item and the number of runs.
        figures: summarizes the lines.
        table: formats the lines.
        runs: the default number of runs per line.
        first: how many lines to measure sequentially first, so that each policy compiles once.
    """

    about: str
    line: Callable[..., Any]
    work: Sequence[Any]
    measure: Callable[[Any, int], Any]
    figures: Callable[[Sequence[Any]], dict[str, float]]
    table: Callable[[Sequence[Any]], str]
    runs: int
    first: int = 1


def main_of_lines(bench: Lines) -> int:
    """Measure every line and print the figures."""
    parser = make_parser(bench.about)
    parser.add_argument("--runs", type=int, default=bench.runs, help="runs per line")
    parser.add_argument("--lines", type=int, help="measure the first lines only, without figures")
    parser.add_argument(
        "--kept", type=Path, help="append each line to this file and skip lines it already has"
    )
    arguments = parser.parse_args()
    lines = measure_lines(bench, arguments.runs, arguments.kept, arguments.lines)
    if not arguments.json:
        print(bench.table(lines))
    if arguments.lines is None:
        report(bench.figures(lines), arguments)
    return 0


def measure_lines(
    bench: Lines, runs: int, kept: Path | None = None, count: int | None = None
) -> list[Any]:
    """Return one line per item of work, or for the first `count` items, in order."""
    found = {} if kept is None else _read(bench, runs, kept)
    asked = range(len(bench.work))[:count]
    missing = [place for place in asked if place not in found]

    def add(place: int, line: Any) -> None:
        found[place] = line
        if kept is not None:
            about = {"version": __version__, "runs": runs, "place": place}
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(about | {"line": line._asdict()}) + "\n")
        if sys.stderr.isatty():
            print(f"\r{len(found)} of {len(asked)}", end="", file=sys.stderr, flush=True)

    for place in missing[: bench.first]:
        add(place, bench.measure(bench.work[place], runs))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        places = {
            pool.submit(bench.measure, bench.work[place], runs): place
            for place in missing[bench.first :]
        }
        for done in as_completed(places):
            add(places[done], done.result())
    return [found[place] for place in asked]


def _read(bench: Lines, runs: int, kept: Path) -> dict[int, Any]:
    """Return the lines in a file that have this version and this number of runs."""
    found = {}
    for text in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        try:
            entry = json.loads(text)
        except json.JSONDecodeError:  # cut off while it was written
            continue
        if (entry["version"], entry["runs"]) == (__version__, runs):
            found[entry["place"]] = bench.line(**entry["line"])
    return found
