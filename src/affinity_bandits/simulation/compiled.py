"""From plain kernels to machine code, cached on disk.

numba caches a compiled function by its file and qualified name, and notices changes to that file
only. A kernel bound to others lives in one file and depends on several, so its qualified name
here carries a digest of the code of everything it reaches: change a policy, and the loop that
runs it is compiled anew; change nothing, and it is loaded in milliseconds.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from affinity_bandits.errors import NotSupported, shown
from affinity_bandits.kernels import Function, bind

_compiled: dict[tuple[str, bool], Function] = {}


def compiled(kernel: Function, *, allocates: bool = False) -> Function:
    """Return the kernel as machine code, together with every plain function it reaches.

    Args:
        kernel: a plain function.
        allocates: whether it may make arrays. Kernels called once a pull may not: counting
            references to their arrays, which allocation needs, takes three times as long as all
            the rest of a pull.
    """
    if not isinstance(kernel, FunctionType):  # compiled already
        return kernel
    digest = code_digest(kernel)
    if (digest, allocates) not in _compiled:
        import numba

        reached = {
            name: compiled(part, allocates=allocates) for name, part in _reached(kernel).items()
        }
        copy = bind(kernel, **reached)
        copy.__qualname__ = f"{kernel.__qualname__}_{'a' if allocates else 'n'}{digest}"
        # No fastmath: results must not depend on how the compiler orders a sum. nogil: callers
        # may run replicates in threads.
        # forceinline: a kernel called once a pull takes a state of some fifty numbers by value.
        options: dict[str, Any] = {
            "error_model": "numpy",
            "nogil": True,
            "forceinline": not allocates,
            "_nrt": allocates,
        }
        decorate = numba.njit(cache=_cacheable(kernel), **options)
        _compiled[digest, allocates] = decorate(copy)
    return _compiled[digest, allocates]


def code_digest(kernel: FunctionType) -> str:
    """Return a digest of a kernel's code and of all the kernels and constants it reaches."""
    state = hashlib.blake2b(digest_size=12)
    _feed(state, kernel, set())
    return state.hexdigest()


def explain_failure(policy: object, bias: object, error: Exception) -> NotSupported:
    """Return our own error for what the compiler could not translate."""
    return NotSupported(
        f"policy {shown(str(policy))} with bias {shown(str(bias))} cannot be compiled: kernels may "
        f"use arithmetic, math, the arrays of their arguments and plain functions of their module, "
        f"and make no arrays of their own ({type(error).__name__}; its cause has the details)"
    )


def _reached(kernel: FunctionType) -> dict[str, FunctionType]:
    """Return the plain functions that a kernel reads as globals and that must be compiled."""
    found = {}
    for name in _names(kernel.__code__):
        value = kernel.__globals__.get(name)
        if isinstance(value, FunctionType):
            found[name] = value
    return found


def _names(code: CodeType) -> list[str]:
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.extend(_names(constant))
    return names


def _feed(state: Any, kernel: FunctionType, seen: set[int]) -> None:
    if id(kernel) in seen:
        return
    seen.add(id(kernel))
    _feed_code(state, kernel.__code__)
    for name in sorted(set(_names(kernel.__code__))):
        value = kernel.__globals__.get(name)
        if isinstance(value, FunctionType):
            state.update(name.encode())
            _feed(state, value, seen)
        elif isinstance(value, bool | int | float | str | tuple):
            state.update(f"{name}={value!r};".encode())
        elif value is not None and hasattr(value, "py_func"):
            state.update(name.encode())
            _feed(state, value.py_func, seen)


def _feed_code(state: Any, code: CodeType) -> None:
    state.update(code.co_code)
    # Names of arguments too: two empty functions of different signatures have the same bytes.
    state.update(repr((code.co_qualname, code.co_varnames, code.co_names)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _feed_code(state, constant)
        else:
            state.update(repr(constant).encode())


def _cacheable(kernel: FunctionType) -> bool:
    """Return whether the kernel's source is a file; code typed at a prompt cannot be cached."""
    return Path(kernel.__code__.co_filename).exists()
