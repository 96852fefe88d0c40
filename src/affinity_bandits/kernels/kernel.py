"""Kernels: plain Python functions over numbers and arrays that can be run as they are or compiled.

A kernel may use arithmetic, `math`, arrays, named tuples of them and other kernels of its module,
but no closures and no other objects. So one source serves the live service, as plain Python, and
the simulator, at machine speed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from affinity_bandits.base.digests import global_names

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Function: TypeAlias = Callable[..., Any]
Kernel = TypeVar("Kernel", bound=Function)


def kernel(function: Kernel) -> Kernel:
    """Mark a function as a kernel; return it unchanged."""
    return function


def unbound(*arguments: Any) -> Any:
    """Placeholder for a global of a kernel that `bind` replaces."""
    raise TypeError("this kernel reads a name that has to be bound first")


def bind(kernel: Function, /, **names: Any) -> Function:
    """Return a copy of a kernel in which each name, read as a global, has the given value.

    This is how a kernel receives another one: the compiler sees an ordinary global, so the result
    can be cached on disk.

    >>> def doubled(x): return 2 * inner(x)
    >>> bind(doubled, inner=abs)(-3)
    6

    Raises:
        TypeError: the kernel is no plain function, or never reads one of the names itself; a
            function that it calls has globals of its own.
    """
    if not isinstance(kernel, FunctionType):
        raise TypeError(f"a kernel is a plain function, got {kernel!r}")
    if kernel.__closure__:
        raise TypeError(f"kernel {kernel.__qualname__} reads variables of an enclosing function")
    read = global_names(kernel.__code__)
    for name in names:
        if name not in read:
            close = difflib.get_close_matches(name, read, n=1, cutoff=0.0)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"kernel {kernel.__qualname__} never reads {name!r}{hint}")
    bound = FunctionType(
        kernel.__code__,
        {**kernel.__globals__, **names},
        kernel.__name__,
        kernel.__defaults__,
    )
    bound.__qualname__ = kernel.__qualname__
    bound.__module__ = kernel.__module__
    return bound
