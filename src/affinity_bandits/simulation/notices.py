"""What is said while nothing else happens: that a policy is compiled, once in a process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from affinity_bandits.simulation.parts import telling

NOTICE = "compiling, which takes some seconds the first time"
_said: list[str] = []


@contextmanager
def saying_so(wanted: bool) -> Iterator[None]:
    """Say on standard error, if wanted and not said before, that something is compiled."""
    with telling(_say) if wanted else nullcontext():
        yield


def _say() -> None:
    if not _said and sys.stderr is not None:
        _said.append(NOTICE)
        print(NOTICE, file=sys.stderr, flush=True)
