"""Kernels of audits as machine code, looked up once.

`compiled` reads all the code that a kernel reaches to see whether it has changed, a millisecond
each time, and a search calls its kernel thousands of times.
"""

from __future__ import annotations

from functools import lru_cache

from affinity_bandits.kernels import Function
from affinity_bandits.simulation.compiled import compiled


@lru_cache
def machine_code(kernel: Function) -> Function:
    """Return a kernel as machine code; it may make arrays."""
    return compiled(kernel, allocates=True)


@lru_cache
def code_for_rows(kernel: Function) -> Function:
    """Return a kernel that goes through the rows of a log as machine code; it makes no arrays."""
    return compiled(kernel)
