"""Benchmarks of many lines: measured on every core, each kept at once, so that none is lost."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from affinity_bandits._version import __version__
from bench.measure import print_figures


class Lines(NamedTuple):
    """A benchmark whose figures come from many lines, which are named tuples.

    Attributes:
        about: its docstring.
        line: the type of a line.
        work: what each line is measured of.
        measure: returns a line, given its item of work and the number of runs.
        figures: sums the lines up.
        table: the lines for people.
        runs: of a line, unless told otherwise.
        first: so many are measured one after the other: each policy is compiled once.
    """

    about: str
    line: Callable[..., Any]
    work: Sequence[Any]
    measure: Callable[[Any, int], Any]
    figures: Callable[[Sequence[Any]], dict[str, float]]
    table: Callable[[Sequence[Any]], str]
    runs: int
    first: int = 1


def main(bench: Lines) -> int:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=bench.about.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--runs", type=int, default=bench.runs)
    parser.add_argument(
        "--kept", type=Path, help="a file that every line is added to; what it has is not repeated"
    )
    parser.add_argument(
        "--turn",
        type=_turn,
        metavar="I/N",
        help="measure every Nth line only, from the Ith, and print nothing: one of N processes, "
        "each with a file of its own; afterwards, --kept with all of them in one",
    )
    arguments = parser.parse_args()
    lines = measured(bench, arguments.runs, arguments.kept, arguments.turn)
    if arguments.turn is not None:
        return 0
    if not arguments.json:
        print(bench.table(lines))
    print_figures(bench.figures(lines), as_json=arguments.json)
    return 0


def measured(
    bench: Lines, runs: int, kept: Path | None = None, turn: slice | None = None
) -> list[Any]:
    """Return a line for each item of work, in its order, or for those whose turn it is."""
    found = {} if kept is None else _read(bench, runs, kept)
    asked = range(len(bench.work))[turn or slice(None)]
    open_ones = [place for place in asked if place not in found]

    def add(place: int, line: Any) -> None:
        found[place] = line
        if kept is not None:
            about = {"version": __version__, "runs": runs, "place": place}
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(about | {"line": line._asdict()}) + "\n")
        if sys.stderr.isatty():
            print(f"\r{len(found)} of {len(bench.work)}", end="", file=sys.stderr, flush=True)

    for place in open_ones[: bench.first]:
        add(place, bench.measure(bench.work[place], runs))
    with ThreadPoolExecutor(1 if turn is not None else os.cpu_count() or 1) as pool:
        places = {
            pool.submit(bench.measure, bench.work[place], runs): place
            for place in open_ones[bench.first :]
        }
        for done in as_completed(places):
            add(places[done], done.result())
    return [found[place] for place in asked]


def _turn(text: str) -> slice:
    """Read "I/N", where I counts from 1."""
    first, _, step = text.partition("/")
    return slice(int(first) - 1, None, int(step))


def _read(bench: Lines, runs: int, kept: Path) -> dict[int, Any]:
    """Return the lines that a file has, those of this version and of as many runs."""
    found = {}
    for text in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        try:
            entry = json.loads(text)
        except json.JSONDecodeError:  # cut off while it was written
            continue
        if (entry["version"], entry["runs"]) == (__version__, runs):
            found[entry["place"]] = bench.line(**entry["line"])
    return found
