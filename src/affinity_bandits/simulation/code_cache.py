"""The cache of machine code on disk; what cannot be read from it is compiled again.

numba keeps one index for each function, of the types that it was compiled for, and a numbered file
for each of them. It takes for granted that both can be read and belong together. Here a file
carries a checksum and its types, so that a damaged one, or one that two processes wrote at once
under the same number, is not run; and an index that cannot be read is begun again.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.core.caching
import numba.core.serialize
import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.kernels import Function, bind
from affinity_bandits.simulation.parts import Compiler

FunctionT = TypeVar("FunctionT", bound=Function)
caching: Any = numba.core.caching  # has no types
serialize: Any = numba.core.serialize
settings: Any = numba.config


def interpreted() -> bool:
    """Return whether `NUMBA_DISABLE_JIT=1` asks for no machine code: for debuggers and coverage."""
    return bool(settings.DISABLE_JIT)


def as_it_is(function: FunctionT) -> FunctionT:
    """Return a function for Python to run, without the warnings that machine code does not give.

    Words wrap around and 1 / inf is 0 in both; numpy's numbers would warn of it.
    """
    silent: FunctionT = np.errstate(all="ignore")(function)
    return silent


def kept(**options: Any) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator: `numba.njit` with options, cached on disk, for other compiled functions.

    The name that it is kept under carries the package's version: numba itself notices changes to
    the function's own file only, and a file that is imported from may change with a new version.
    """
    version = __version__.replace(".", "_")

    def decorate(function: FunctionT) -> FunctionT:
        if interpreted():
            return as_it_is(function)
        function.__qualname__ = f"{function.__qualname__}_{version}"
        made: FunctionT = keep(numba.njit(**(options | without_wrappers(False)))(function), False)
        return made

    return decorate


@cache
def for_python(function: FunctionT) -> FunctionT:
    """Return what `kept` made of a function, for Python to call."""
    if interpreted():
        return function
    made: FunctionT = _for_python(function)
    return made


@cache  # a copy is compiled, or looked up on disk, once
def _for_python(plain: Any) -> Any:
    copy = bind(plain.py_func)
    copy.__qualname__ = f"{copy.__qualname__}_for_python"
    options = plain.targetoptions | without_wrappers(True)
    return keep(numba.jit(**options)(copy), True)


def without_wrappers(called: bool) -> dict[str, Any]:
    """Return the options of a function that C does not call, and Python may not either."""
    return {"no_cpython_wrapper": not called, "no_cfunc_wrapper": True}


def keep(compiled: Any, called: bool) -> Any:
    """Return a function of `numba.njit`, with its machine code cached on disk if possible."""
    compiled._compiler = Compiler(compiled._compiler, called)
    if not Path(compiled.py_func.__code__.co_filename).exists():
        return compiled  # code typed at a prompt has no place
    try:
        compiled._cache = _Cache(compiled.py_func)
    except (RuntimeError, OSError) as error:
        warnings.warn(
            f"machine code cannot be kept, so every start compiles anew ({error}); "
            f"NUMBA_CACHE_DIR can name a directory to keep it in",
            stacklevel=2,
        )
    return compiled


class _Cache:
    """The cache of one function, with the methods that numba calls; none can make a run fail."""

    def __init__(self, function: Any) -> None:
        self._files: Any = caching.FunctionCache(function)
        self._files._impl = _Checked(self._files._impl)

    @property
    def cache_path(self) -> str:
        return str(self._files.cache_path)

    def enable(self) -> None:
        self._files.enable()

    def disable(self) -> None:
        self._files.disable()

    def flush(self) -> None:
        self._files.flush()

    def load_overload(self, types: Any, target: Any) -> Any:
        try:
            found = self._files.load_overload(types, target)
        except Exception:  # whatever a damaged or foreign file leads to when it is read
            return None
        # Two processes may have given their files the same number.
        return found if found is not None and tuple(found.signature.args) == tuple(types) else None

    def save_overload(self, types: Any, compiled: Any) -> None:
        try:
            self._files.save_overload(types, compiled)
        except Exception:  # the index cannot be read, or nothing can be written
            with contextlib.suppress(Exception):
                self._files.flush()
                self._files.save_overload(types, compiled)


class _Checked:
    """What numba writes of a compiled function, as bytes with a checksum."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self.locator = plain.locator
        self.check_cachable = plain.check_cachable

    def reduce(self, compiled: Any) -> tuple[bytes, bytes]:
        content: bytes = serialize.dumps(self._plain.reduce(compiled))
        return _checksum(content), content

    def rebuild(self, target: Any, kept: tuple[bytes, bytes]) -> Any:
        checksum, content = kept
        if checksum != _checksum(content):
            raise ValueError("damaged")
        return self._plain.rebuild(target, pickle.loads(content))


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
