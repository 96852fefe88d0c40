"""How far a command is in a campaign's trail, on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 0.2
"""Seconds between two lines; the first one comes after as many."""
ERASE = "\r\x1b[K"


@contextmanager
def event_counter() -> Iterator[Callable[[int, int], None] | None]:
    """Yield what shows the number of an event and of the last one; None where nobody looks.

    Plain text and no bar of rich's, which who runs only the service has not installed.
    """
    if not sys.stderr.isatty():
        yield None
        return
    due = time.monotonic() + PAUSE

    def show(event: int, events: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + PAUSE
            print(f"{ERASE}{event:,} of {events:,} events", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(ERASE, end="", file=sys.stderr, flush=True)
