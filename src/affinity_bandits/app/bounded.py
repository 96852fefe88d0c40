"""Processes that read files of strangers within bounds on memory and time.

A damaged or malicious workbook can make its reader allocate more memory than there is, and a failed
allocation ends the process.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

from affinity_bandits.errors import InvalidInput

MEMORY = 2 << 30
SECONDS = 300.0


class BoundedWorkers:
    """Processes that do one piece of work each at a time; they start when they are needed.

    Args:
        count: how many pieces of work are done at once; others wait.
        memory: bytes that a process may use, where the system can enforce it (Linux).
        seconds: that a piece of work may take.
    """

    def __init__(self, count: int = 2, *, memory: int = MEMORY, seconds: float = SECONDS) -> None:
        self._memory, self._seconds = memory, seconds
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(count):
            self._idle.put(None)

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in one of the processes and return its result.

        Raises:
            InvalidInput: the work raises it, takes too long or needs too much memory.
        """
        worker = self._idle.get()
        try:
            if worker is None:
                worker = _Worker(self._memory)
            answer, refusal, fault = worker.run(self._seconds, work, arguments)
        except TimeoutError:
            worker = None
            rule = f"a table that can be audited in {self._seconds:g} seconds"
            raise InvalidInput("file", rule, "a larger one") from None
        except (EOFError, OSError):  # the process is gone
            worker = None
            rule = f"a table that can be audited with {self._memory >> 20:,} MB of memory"
            raise InvalidInput("file", rule, "a larger or damaged one") from None
        finally:
            self._idle.put(worker)
        if fault is not None:
            raise RuntimeError(fault)
        if refusal is not None:
            raise InvalidInput(*refusal)
        return answer


class _Worker:
    def __init__(self, memory: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_answer, args=(other, memory), daemon=True)
        self._process.start()
        other.close()

    def run(self, seconds: float, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            self._pipe.send((work, arguments))
            if not self._pipe.poll(seconds):
                raise TimeoutError
            return self._pipe.recv()
        except (EOFError, OSError):  # a TimeoutError is an OSError
            self._process.kill()
            raise


def _answer(pipe: Connection, memory: int) -> None:
    """Call functions until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C ends the application, and it ends this
    if find_spec("resource") is not None:
        import resource

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
        except Exception:  # the application says it
            fault = traceback.format_exc()
        pipe.send((answer, refusal, fault))
        del work, arguments, answer
