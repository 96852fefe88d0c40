"""Timing on a noisy machine: interleave the candidates, keep the best of each."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any


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


def main(run: Callable[[], dict[str, float]]) -> int:
    """Print a benchmark's figures, as a table or as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    figures = run()
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        width = max(map(len, figures))
        for name, value in figures.items():
            print(f"{name:<{width}}  {value:.4g}")
    return 0
