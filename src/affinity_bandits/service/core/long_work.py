"""Work on what a tenant made large: it leaves the event loop, on which all others wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SMALL = 20_000
"""Characters of JSON that are read and written sooner than a thread is asked to do it."""


async def off_loop(size: int, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what the work returns, done in a thread if it is on that many characters of JSON."""
    if size <= SMALL:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
