"""The progress bar of long runs."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from affinity_bandits.heartbeat import meanwhile

PATIENCE = 1.0
"""Seconds before a bar appears by itself: short runs should print nothing."""


class Progress:
    """Counts the work done and reports the part that is done to a function."""

    def __init__(self, total: float, tell: Callable[[float], None] | None) -> None:
        self._total = total
        self._done = 0.0
        self._tell = tell

    @property
    def words(self) -> str:
        """How much is done, where there is no terminal to draw a bar on."""
        return f"{min(1.0, self._done / self._total):.0%} done"

    def tick(self, replicates: float) -> None:
        """Add work worth so many replicates."""
        self._done += replicates
        if self._tell is not None:
            self._tell(min(1.0, self._done / self._total))


@contextmanager
def progress_bar(wanted: bool | Callable[[float], None] | None, total: float) -> Iterator[Progress]:
    """Yield a `Progress` that draws a bar, calls a function or does nothing."""
    if callable(wanted):
        yield Progress(total, wanted)
    elif wanted is False or (wanted is None and not sys.stderr.isatty()):
        silent = Progress(total, None)
        with meanwhile(lambda: silent.words):
            yield silent
    else:
        bar = _Bar(0.0 if wanted else PATIENCE)
        try:
            yield Progress(total, bar.show)
        finally:
            bar.close()


class _Bar:
    """A rich progress bar on standard error that appears only if the work takes a while."""

    def __init__(self, patience: float) -> None:
        self._due = time.monotonic() + patience
        self._bar: Any = None
        self._task: Any = None

    def show(self, part: float) -> None:
        if self._bar is None:
            if time.monotonic() < self._due:
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

            bar = Progress(
                BarColumn(40),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = bar.add_task("simulate", total=1.0)
            try:
                bar.start()
            except BaseException:  # interrupted half-way: what there is of it must go
                with contextlib.suppress(Exception):
                    bar.stop()
                raise
            self._bar = bar
        self._bar.update(self._task, completed=part)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
