"""From plain kernels to machine code, cached on disk.

numba keeps a compiled function by its file and qualified name, and notices changes to that file
only. A kernel bound to others lives in one file and depends on several, so its qualified name
here carries a digest of the code of everything it reaches: change a policy, and the loop that
runs it is compiled anew; change nothing, and it is loaded in milliseconds. Of a policy's state,
`layouts` says what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from affinity_bandits.bytecode import reads
from affinity_bandits.digests import code_digest
from affinity_bandits.errors import AffinityError, NotSupported, shown
from affinity_bandits.kernels import Function, bind

_compiled: dict[tuple[str, str], Function] = {}


def compiled(
    kernel: Function,
    *,
    allocates: bool = False,
    inlined: bool = True,
    called: bool = True,
    shared: bool = False,
) -> Function:
    """Return the kernel as machine code, together with every plain function it reaches.

    Args:
        kernel: a plain function.
        allocates: whether it may make arrays. Kernels called once a pull or a round may not:
            counting references to their arrays, which allocation needs, takes three times as long
            as all the rest of a pull.
        inlined: whether it becomes a part of its caller at any price, unless it allocates. A
            kernel called once a pull does: it takes a state of some fifty numbers by value.
        called: whether Python calls it. What only other kernels call is spared the code that
            turns Python's objects into numbers, about a fifth of the time that compiling takes,
            and is a part of its callers' machine code only (`parts`).
        shared: whether its address is taken (`pointers`), and Python does not call it.
    """
    if not isinstance(kernel, FunctionType):  # compiled already
        return kernel
    from affinity_bandits.simulation.code_cache import as_it_is, interpreted, keep, without_wrappers

    if interpreted():
        return as_it_is(kernel)
    digest = code_digest(kernel)
    inlined = inlined and not allocates
    # The name that it is kept under says how it was compiled.
    kind = (
        ("a" if allocates else "n")
        + ("i" if inlined else "o")
        + ("p" if shared else "" if called else "k")
    )
    if (digest, kind) not in _compiled:
        import numba

        reached = {
            name: compiled(part, allocates=allocates, inlined=inlined, called=False)
            for name, part in _reached(kernel).items()
        }
        copy = bind(kernel, **reached)
        copy.__qualname__ = f"{kernel.__qualname__}_{kind}{digest}"
        # No fastmath: results must not depend on how the compiler orders a sum. nogil: callers
        # may run replicates in threads.
        options: dict[str, Any] = {
            "error_model": "numpy",
            "nogil": True,
            "forceinline": inlined,
            "_nrt": allocates,
            **without_wrappers(called and not shared),
        }
        _compiled[digest, kind] = keep(numba.njit(**options)(copy), called)
    return _compiled[digest, kind]


@contextmanager
def explained(policy: object, bandit: Any) -> Iterator[None]:
    """Raise our own error for what the compiler could not translate."""
    try:
        yield
    except (AffinityError, MemoryError):
        raise
    except Exception as error:
        raise _explanation(policy, bandit, error) from error


def _explanation(policy: object, bandit: Any, error: Exception) -> NotSupported:
    return NotSupported(
        f"policy {shown(str(policy))} with bias {shown(str(bandit.bias))} and noise "
        f"{shown(str(bandit.noise))} cannot be compiled: kernels may use arithmetic, math, the "
        f"arrays of their arguments and plain functions of their module, and make no arrays of "
        f"their own; engine='python' runs a policy as it is ({type(error).__name__}; its cause has "
        f"the details)"
    )


def _reached(kernel: FunctionType) -> dict[str, FunctionType]:
    """Return the plain functions that a kernel reads as globals and that must be compiled."""
    found = {name: kernel.__globals__.get(name) for name in reads(kernel.__code__).names}
    return {name: value for name, value in found.items() if isinstance(value, FunctionType)}
