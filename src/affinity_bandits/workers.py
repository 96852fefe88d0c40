"""Processes that work for this one: they end with it, and some are bounded in memory and time."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

from affinity_bandits.errors import InvalidInput

MEMORY = 2 << 30
SECONDS = 300.0
SECONDS_BESIDE = 20.0


class Worker:
    """A process, started by spawn, that answers through a pipe and ends with this process.

    Args:
        serve: called in the process with its end of the pipe and the arguments; it must return at
            the end of the pipe.
        arguments: what can be pickled.

    Attributes:
        pipe: this process's end of the pipe.
    """

    def __init__(self, serve: Callable[..., None], *arguments: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, far_end = context.Pipe()
        self._process = context.Process(
            target=_begin, args=(serve, far_end, *arguments), daemon=True
        )
        with _without_interrupts():
            self._process.start()
        far_end.close()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl+C back, so that it cannot reach a new process before `_begin` ignores it.

    Windows cannot do this: there, Ctrl+C may end a process in its first moments.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    signals: Any = signal  # whose types depend on the system
    before = signals.pthread_sigmask(signals.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signals.pthread_sigmask(signals.SIG_SETMASK, before)


def _begin(serve: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the parent's to handle
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    serve(pipe, *arguments)


def _end_with_the_parent() -> None:
    """End this process when the parent is gone, even if it was killed and work goes on here."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class BoundedWorkers:
    """Processes that do one piece of work each at a time; they start when they are needed.

    A damaged or malicious file can make its reader allocate more memory than there is, which ends
    the process, or keep it busy for hours.

    Args:
        count: how many pieces of work may take long at once. One more process does what finds all
            of them busy, but only for a short time, so that small files need not wait for large
            ones.
        memory: bytes that a process may use, where the system can enforce it (Linux).
        seconds: that a piece of work may take.
        seconds_beside: that it may take if `count` others were at work.
    """

    def __init__(
        self,
        count: int = 2,
        *,
        memory: int = MEMORY,
        seconds: float = SECONDS,
        seconds_beside: float = SECONDS_BESIDE,
    ) -> None:
        self._memory = memory
        self._seconds = [*[seconds] * count, seconds_beside]
        self._idle: queue.PriorityQueue[tuple[int, Worker | None]] = queue.PriorityQueue()
        for place in range(count + 1):
            self._idle.put((place, None))

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in one of the processes and return its result.

        Raises:
            InvalidInput: the work raises it, takes too long or needs too much memory.
        """
        place, worker = self._idle.get()
        answer = None
        try:
            if worker is None:
                worker = Worker(_answer, self._memory)
            worker.pipe.send((work, arguments))
            if worker.pipe.poll(self._seconds[place]):
                answer = worker.pipe.recv()
        except (EOFError, OSError):  # the process is gone
            rule = f"a table that can be audited with {self._memory >> 20:,} MB of memory"
            raise InvalidInput("file", rule, "a larger or damaged one") from None
        finally:
            if answer is None and worker is not None:
                worker.end()
                worker = None
            self._idle.put((place, worker))
        if answer is None:
            rule = f"a table that can be audited in {self._seconds[place]:g} seconds"
            if place == len(self._seconds) - 1:
                rule += " while larger ones are; try again later"
            raise InvalidInput("file", rule, "a larger one")
        result, refusal, fault = answer
        if fault is not None:
            raise RuntimeError(fault)
        if refusal is not None:
            raise InvalidInput(*refusal)
        return result


def _answer(pipe: Connection, memory: int) -> None:
    """Call functions until the other side is gone."""
    # The parent says what went wrong; a library that aborts would print a page besides.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if find_spec("resource") is not None:
        resource: Any = import_module("resource")
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            work, arguments = pipe.recv()
        except EOFError:
            return
        answer, refusal, fault = None, None, None
        try:
            answer = work(*arguments)
        except InvalidInput as error:  # cannot be pickled
            refusal = error.parameter, error.rule, error.value
        except MemoryError:
            return
        except Exception:  # the parent says it
            fault = traceback.format_exc()
        pipe.send((answer, refusal, fault))
        del work, arguments, answer
