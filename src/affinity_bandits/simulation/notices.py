"""What is said while a policy is compiled: that it is, once in a process, and for how long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from affinity_bandits.heartbeat import heartbeat
from affinity_bandits.simulation.parts import telling

NOTICE = "compiling, which takes some seconds the first time"
_said: list[str] = []


@contextmanager
def saying_so(wanted: bool) -> Iterator[None]:
    """Say on standard error, if wanted, that something is compiled, from when it is on."""
    with ExitStack() as until_the_end:
        begun = False

        def say() -> None:
            nonlocal begun
            if not _said and sys.stderr is not None:
                _said.append(NOTICE)
                print(NOTICE, file=sys.stderr, flush=True)
            if not begun:
                begun = True
                until_the_end.enter_context(heartbeat("compiling"))

        if wanted:
            until_the_end.enter_context(telling(say))
        yield
