"""Progress bars of long commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from affinity_bandits.heartbeat import meanwhile
from affinity_bandits.progress import Progress

if TYPE_CHECKING:
    from affinity_bandits.experiments import Summary

BAR_SECONDS = 0.2
"""Between two looks of a bar: a sweep may tell of a hundred thousand cells a second."""


@contextmanager
def item_bar(name: str) -> Iterator[Progress]:
    """Show a name and how many replicates are finished while an item runs."""
    finished = Counter(name)
    if not sys.stderr.isatty():
        with meanwhile(lambda: finished.words):
            yield finished
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(f"{name}: starting") as status:
        finished.show = status.update
        yield finished


class Counter(Progress):
    """A progress that counts, where the total is not known.

    Attributes:
        show: called with the words whenever they change.
    """

    def __init__(self, name: str) -> None:
        super().__init__(1.0, None)
        self._name = name
        self._count = 0.0
        self.show: Callable[[str], object] = str

    @property
    def words(self) -> str:
        """How many replicates of what are finished."""
        return f"{self._name}: {self._count:,.0f} runs finished"

    def tick(self, replicates: float) -> None:
        """Add work worth so many replicates."""
        self._count += replicates
        self.show(self.words)


@contextmanager
def sweep_bar(total: int) -> Iterator[Callable[[Summary], None]]:
    """Yield a function that shows a sweep's progress: as a bar, or by the words of a heartbeat."""
    speed = Speed(total)
    if not sys.stderr.isatty():
        last: list[Summary] = []

        def keep(summary: Summary) -> None:
            last[:] = [summary]

        with meanwhile(lambda: speed.words(last[0]) if last else "starting"):
            yield keep
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bars

    with Bars(
        BarColumn(30),
        TaskProgressColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
    ) as bars:
        task = bars.add_task("starting", total=total)

        def show(summary: Summary) -> None:
            bars.update(
                task, completed=summary.found + summary.run, description=speed.words(summary)
            )

        yield Throttle(BAR_SECONDS, show).tell


class Throttle:
    """Passes calls on to a function, at most one every so many seconds."""

    def __init__(self, seconds: float, show: Callable[[Summary], None]) -> None:
        self._seconds = seconds
        self._show = show
        self._last = time.monotonic()

    def tell(self, summary: Summary) -> None:
        """Pass the call on if enough time has passed since the last."""
        now = time.monotonic()
        if now - self._last >= self._seconds:
            self._last = now
            self._show(summary)


class Speed:
    """How fast a sweep goes, and how long it has to go."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._began = time.monotonic()

    def words(self, summary: Summary) -> str:
        """Return how far a sweep is, in one line."""
        done = summary.found + summary.run
        text = f"{done:,} of {self._total:,} replicates"
        rate = summary.run / max(time.monotonic() - self._began, 1e-9)
        if rate > 0.0:
            text += f", {rate:,.3g} a second, {_duration((self._total - done) / rate)} left"
        if summary.failed:
            text += f", {summary.failed:,} shard{'' if summary.failed == 1 else 's'} failed"
        return text


def _duration(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    for unit, name in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.0f} s"
