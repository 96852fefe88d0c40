"""A word every two seconds, on standard error, from work that says nothing else meanwhile."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 2.0
"""Seconds between two words, in the first minute: who waits longer without one presses Ctrl-C."""
LATER = 10.0
"""Seconds between two words after the first minute: a log should not be filled by them."""

_doing: list[Callable[[], str]] = []
"""What is being done, in any thread, the outermost first: the last of them is said."""
_speakers: list[threading.Event] = []
"""Set when a thread that says it has to end; there is one such thread, or none."""


@contextmanager
def heartbeat(doing: str) -> Iterator[None]:
    """Say every so often what is being done and for how long, until the block ends.

    Inside of another heartbeat it only changes the words.
    """
    with meanwhile(lambda: doing):
        if _speakers or sys.stderr is None:
            yield
            return
        ended = threading.Event()
        speaker = threading.Thread(target=_speak, args=(ended,), name="heartbeat", daemon=True)
        _speakers.append(ended)
        speaker.start()
        try:
            yield
        finally:
            _speakers.remove(ended)
            ended.set()
            speaker.join()


@contextmanager
def meanwhile(doing: Callable[[], str]) -> Iterator[None]:
    """Let a heartbeat, if there is one, say this until the block ends."""
    _doing.append(doing)
    try:
        yield
    finally:
        _doing.remove(doing)  # by itself: threads end in any order


def _speak(ended: threading.Event) -> None:
    """Say what is being done, every so often, until it has ended."""
    began = time.monotonic()
    passed = 0.0
    while not ended.wait(EVERY if passed < 60.0 else LATER):
        passed = time.monotonic() - began
        try:
            print(f"{_doing[-1]()}, {passed:.0f} s", file=sys.stderr, flush=True)
        except (OSError, ValueError):  # nobody reads any more
            return
