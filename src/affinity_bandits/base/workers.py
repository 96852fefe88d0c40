"""Work in parallel: threads, and processes that end with this one or are bounded in resources."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from affinity_bandits.base.errors import AffinityError, InvalidInput, NotSupported

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Made = TypeVar("Made")
MEMORY = 2 << 30
SECONDS = 300.0
SECONDS_BESIDE = 20.0


def in_threads(
    work: Callable[[Item], Made],
    items: Sequence[Item],
    threads: int | None = None,
    stop: Callable[[], object] = bool,
) -> Iterator[Made]:
    """Yield the results of a function on each item, in order, computed in threads.

    Args:
        work: compiled loops, which release Python's lock, or what waits for processes.
        items: what to call it with.
        threads: how many; one per core by default. A single one is this thread.
        stop: called if this is interrupted or an item fails. No further item is begun, but those
            that were are waited for.
    """
    count = min(threads or os.cpu_count() or 1, len(items))
    if count < 2:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(count)
    try:
        yield from pool.map(work, items)
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


class Worker:
    """A process, started by spawn, that answers through a pipe and ends with this process.

    Args:
        serve: called in the process with its end of the pipe and the arguments; it must return at
            the end of the pipe.
        arguments: what can be pickled.

    Attributes:
        pipe: this process's end of the pipe.
        waiting: whether a call has no answer yet.
    """

    waiting = False

    def __init__(self, serve: Callable[..., None], *arguments: Any) -> None:
        import multiprocessing  # most programs start no process

        context = multiprocessing.get_context("spawn")
        self.pipe, far_end = context.Pipe()
        self._process = context.Process(
            target=_begin, args=(serve, far_end, *arguments), daemon=True
        )
        with _without_interrupts():
            self._process.start()
        far_end.close()

    def call(self, work: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
        """Call a function in a process that serves `answer_calls`, and return its result.

        Raises:
            PicklingError: the function or an argument cannot be sent.
            TimeoutError: it takes longer than `seconds`; the worker is of no more use.
            EOFError: the process died.
        """
        self.waiting = True  # an interrupt may leave half a message in the pipe
        try:
            self.pipe.send((work, arguments))
            answered = self.pipe.poll(seconds)
            result, error = self.pipe.recv() if answered else (None, TimeoutError())
            self.waiting = not answered
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            self.waiting = False  # nothing was sent
            raise pickle.PicklingError(str(problem)) from None
        except OSError:
            raise EOFError from None
        if error is not None:
            raise error
        return result

    def kill(self) -> None:
        """Kill the process; whoever waits for its answer gets an EOFError."""
        self._process.kill()

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
    from multiprocessing import parent_process

    parent = parent_process()
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
        try:
            worker = worker or Worker(answer_calls, self._memory)
            return worker.call(work, *arguments, seconds=self._seconds[place])
        except EOFError:
            rule = f"a table that can be audited with {self._memory >> 20:,} MB of memory"
            raise InvalidInput("file", rule, "a larger or damaged one") from None
        except TimeoutError:
            rule = f"a table that can be audited in {self._seconds[place]:g} seconds"
            if place == len(self._seconds) - 1:
                rule += " while larger ones are; try again later"
            raise InvalidInput("file", rule, "a larger one") from None
        finally:
            if worker is not None and worker.waiting:
                worker.end()
                worker = None
            self._idle.put((place, worker))


def answer_calls(pipe: Connection, memory: int | None = None) -> None:
    """Call functions for `Worker.call` until the other side is gone.

    Args:
        pipe: the worker's end.
        memory: bytes that the process may use. Where there is a limit, libraries may abort at it:
            nothing that they print is shown, because the other side says what went wrong.
    """
    if memory is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        if find_spec("resource") is not None:
            resource: Any = import_module("resource")
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        answer: Any = None
        error: Exception | None = None
        try:
            work, arguments = pipe.recv()
        except EOFError:
            return
        except Exception as broken:  # a module that is not there, or not the same
            error = pickle.PicklingError(f"{type(broken).__name__}: {broken}")
        else:
            try:
                answer = work(*arguments)
            except AffinityError as refusal:
                error = refusal
            except MemoryError:
                return
            except Exception:
                error = RuntimeError(traceback.format_exc())
            del work, arguments
        pipe.send((answer, error))
        del answer


def unsendable(named: str, reason: object, way_out: str) -> NotSupported:
    """Return the error to raise for something that only this process can run."""
    return NotSupported(
        f"{named} cannot be sent to another process ({reason}): put the code at the top level of "
        f"a module (a .py file) and import it from there, or {way_out}"
    )
