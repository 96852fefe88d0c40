"""Show the progress of long work: a bar on a terminal or in a notebook, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from affinity_bandits.base.words import brief_duration

if TYPE_CHECKING:
    from rich.live import Live


SOON = 2.0  # seconds before the first line
EVERY = 10.0  # seconds between two lines
REFRESH = 0.5  # seconds between two updates of a notebook's line
VISIBLE = 0.01  # the smallest part that is told as a number
PATIENCE = 1.0  # seconds before a bar appears: short runs print nothing

# What is being done, in any thread, the outermost first: the last one is printed.
_doing: list[Callable[[], str]] = []
# What a first run waits for, in any thread: printed after what is being done.
_delays: list[str] = []
_forward: list[Callable[[str], object]] = []
_live_lines: list[object] = []  # those on the terminal
_printing = threading.Lock()  # held by the only heartbeat that prints


@contextmanager
def heartbeat(words: str) -> Iterator[None]:
    """Report the work in progress and its duration until the block ends.

    A notebook shows one line that changes; elsewhere, a line is printed every ten seconds. Inside
    another heartbeat, only the words change.

    Args:
        words: what is done; if empty, only delays of a first run are reported (`delay`).
    """
    with _describe(lambda: words):
        if sys.stderr is None or not _printing.acquire(blocking=False):
            yield
            return
        ended = threading.Event()
        tell = _update_notebook if _in_notebook() else _print_until
        printer = threading.Thread(target=tell, args=(ended,), daemon=True)
        printer.start()
        try:
            yield
        finally:
            ended.set()
            printer.join()
            _printing.release()


@contextmanager
def _describe(words: Callable[[], str]) -> Iterator[None]:
    """Let the heartbeat, if there is one, print these words until the block ends."""
    _doing.append(words)
    try:
        yield
    finally:
        _doing.remove(words)  # by value, because threads end in any order


@contextmanager
def delay(words: str) -> Iterator[None]:
    """Report what a first run waits for, wherever progress is shown, until the block ends."""
    begin_delay(words)
    try:
        yield
    finally:
        end_delay(words)


def begin_delay(words: str) -> None:
    """Report a delay until `end_delay`; see `delay`."""
    _delays.append(words)
    if len(_delays) == 1:
        _tell_driver(words)


def end_delay(words: str) -> None:
    """End a delay that `begin_delay` began."""
    _delays.remove(words)
    if not _delays:
        _tell_driver("")


def forward_delays(send: Callable[[str], object]) -> None:
    """Let a driver know of the delays of this process: the words of one, or "" when it ends."""
    _forward[:] = [send]


def _tell_driver(words: str) -> None:
    for send in _forward:
        send(words)


def with_delay(words: str) -> str:
    """Return the words for what is being done, with what it waits for, if anything."""
    return "; ".join(filter(None, (words, *_delays[-1:])))


def _print_until(ended: threading.Event) -> None:
    began = time.monotonic()
    printed = False
    while not ended.wait(EVERY if printed else SOON):
        words = with_delay(_doing[-1]())
        printed = bool(words) and not _live_lines
        if printed:
            try:
                passed = time.monotonic() - began
                print(f"{words}, {passed:.0f} s", file=sys.stderr, flush=True)
            except (OSError, ValueError):  # nobody reads any more
                return


def _in_notebook() -> bool:
    """Return whether a notebook's kernel runs this: it can change its displays."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _update_notebook(ended: threading.Event) -> None:
    display: Any = import_module("IPython.display").display  # has no types, if it is installed
    began = time.monotonic()
    line = None
    while not ended.wait(REFRESH):
        words = {"text/plain": f"{with_delay(_doing[-1]())}, {time.monotonic() - began:.0f} s"}
        if line is None:
            line = display(words, raw=True, display_id=True)
        else:
            line.update(words, raw=True)
    if line is not None:
        line.update({"text/plain": ""}, raw=True)


@contextmanager
def _live_line(words: Callable[[], str], part: Callable[[], float] | None) -> Iterator[Live]:
    from rich.columns import Columns
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    def line() -> Columns:
        bar = [] if part is None else [ProgressBar(1.0, part(), width=30)]
        return Columns([*bar, Text(with_delay(words()))])

    with Live(get_renderable=line, console=Console(stderr=True), transient=True) as live:
        _live_lines.append(live)
        try:
            yield live
        finally:
            _live_lines.remove(live)


class Progress:
    """Counts finished work.

    Args:
        total: the whole work, in units of the caller's choice.
        tell: called with the finished part, from 0 to 1, after every change.
    """

    def __init__(self, total: float, tell: Callable[[float], Any] | None = None) -> None:
        self.tell = tell
        self._total = total
        self._done = 0.0
        self._began = time.monotonic()

    @property
    def part(self) -> float:
        """The finished part, from 0 to 1."""
        return min(1.0, self._done / self._total)

    def words(self) -> str:
        """Return how much is done; a first run compiles for long before there is anything."""
        return f"{self.part:.0%} done" if self.part >= VISIBLE else "at work"

    def time_left(self) -> str:
        """Return how much is done, and the time that the rest takes at this speed."""
        passed = time.monotonic() - self._began
        left = brief_duration(passed * (1.0 / self.part - 1.0)) if self.part > 0.0 else "?"
        return f"{self.part:.0%}, {left} left"

    def advance_to(self, done: float) -> None:
        """Set the finished work, which can only grow."""
        self.tick(max(0.0, done - self._done))

    def tick(self, replicates: float) -> None:
        self._done += replicates
        if self.tell is not None:
            self.tell(self.part)


@contextmanager
def show_progress(
    total: float = 0.0,
    words: Callable[[], str] | None = None,
    *,
    after: Callable[[], str] | None = None,
    wanted: bool | Callable[[float], None] | None = None,
) -> Iterator[Progress]:
    """Yield a `Progress` to tick, and show it until the block ends.

    A terminal shows one line that changes. Elsewhere, the heartbeat prints the words, if there is
    one.

    Args:
        total: the whole work, in units of the caller's choice; 0 shows words without a bar.
        words: returns how far the work is; by default, the finished part and the time left.
        after: returns what is to follow these words; of lines, only the first that has it.
        wanted: a function to call with the finished part; True for a line at once; None for one on
            a terminal, after a second unless there are words of one's own; False for silence.
    """
    progress = Progress(total, wanted if callable(wanted) else None)

    said = [""]

    def followed(shown: Callable[[], str], *, once: bool = False) -> Callable[[], str]:
        def words() -> str:
            follows = "" if after is None else after()
            repeated, said[0] = follows == said[0], follows
            return shown() if once and repeated else f"{shown()}{follows}"

        return words

    if callable(wanted):
        yield progress
        return
    notebook = _in_notebook()
    if wanted is False or notebook or not (_on_terminal() or wanted):
        own = heartbeat("at work") if notebook and wanted is not False else nullcontext()
        lines = followed(words or progress.words, once=not notebook)
        with own, _describe(lines):
            yield progress
        return
    due = time.monotonic() + (0.0 if wanted or words else PATIENCE)
    with ExitStack() as shown:

        def show(_: float) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = float("inf")
                part = (lambda: progress.part) if total else None
                shown.enter_context(_live_line(followed(words or progress.time_left), part))

        progress.tell = show
        if words:
            show(0.0)
        yield progress


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
