"""Progress bars of commands whose amount of work is not known beforehand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from affinity_bandits.simulation.progress import Progress


@contextmanager
def item_bar(name: str) -> Iterator[Progress]:
    """Show a name and how many replicates are finished while an item runs, on a terminal."""
    if not sys.stderr.isatty():
        yield Progress(1.0, None)
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(f"{name}: starting") as status:
        finished = Counter(lambda done: status.update(f"{name}: {done:,.0f} runs finished"))
        yield finished


class Counter(Progress):
    """A progress that counts instead of measuring a part."""

    def __init__(self, show: Callable[[float], None]) -> None:
        super().__init__(1.0, None)
        self._count = 0.0
        self._show = show

    def tick(self, replicates: float) -> None:
        """Take note that work worth so many replicates is done."""
        self._count += replicates
        self._show(self._count)
