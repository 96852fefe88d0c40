"""Compile kernels to machine code with numba, cached on disk.

numba caches a function by file and qualified name, and notices changes to that file only. The
qualified names here carry a digest of all the code that a kernel reaches, so an edited policy is
compiled anew. Functions that only other kernels call are compiled into their callers.

Without numba, kernels run as the plain Python that they are, with the same results. Only documented
numba features are used, and `_nrt`, which `tests/kernels/test_compile.py` checks.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
import warnings
from collections import namedtuple
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from affinity_bandits.base.digests import code_digest, global_names
from affinity_bandits.base.progress import begin_delay, end_delay
from affinity_bandits.kernels.kernel import Function, bind
from affinity_bandits.kernels.pack import lay_code, pack_in_use, tell_refusal

compiler: Any  # numba, which has no types; None where it is not installed
try:
    import numba as compiler
    from numba.core import event
except ModuleNotFoundError:
    compiler = None

FunctionT = TypeVar("FunctionT", bound=Function)
STATE = "State"
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Undocumented options: compile no second version of a part for Python, and no third for C. With
these, first compiles take half as long."""
_compiled: dict[str, Any] = {}
_parts: dict[str, Any] = {}
_apart: set[Any] = set()
_compiling = threading.RLock()  # one thread compiles, and the others find what it compiled
COMPILED_AS: dict[Function, Any] = {}
"""Kernels that machine code has instructions of its own for, as numba takes those."""


if compiler is not None:

    class _Compiling(event.Listener):
        """Tells users that compiling, unlike loading from the cache, happens once."""

        words = "compiling once for this machine"

        def on_start(self, _: Any) -> None:
            tell_refusal()
            begin_delay(self.words)

        def on_end(self, _: Any) -> None:
            end_delay(self.words)

    class Callback(compiler.types.WrapperAddressProtocol):  # type: ignore[misc]
        """A function of Python by its address in memory, as numba takes it."""

        def __init__(self, function: Callable[[], Any]) -> None:
            self._code = ctypes.CFUNCTYPE(None)(function)

        def __wrapper_address__(self) -> int:
            return ctypes.cast(self._code, ctypes.c_void_p).value or 0

        def signature(self) -> Any:
            return compiler.void()

    for kind in ("numba:compile", "numba:run_pass"):  # functions, and those taken as pointers
        event.register(kind, _Compiling())  # type: ignore[no-untyped-call]


def runs_interpreted() -> bool:
    """Return whether loops run as plain Python: without numba, or with `NUMBA_DISABLE_JIT=1`."""
    return compiler is None or bool(compiler.config.DISABLE_JIT)


class How(NamedTuple):
    """How a kernel and all that it calls are compiled; see `compile_kernel`."""

    allocates: bool
    inlined: bool
    checked: bool = False


def compile_kernel(
    kernel: Function, *, allocates: bool = False, inlined: bool = True, checked: bool = False
) -> Function:
    """Return a kernel as machine code for Python to call, with every plain function it reaches.

    Args:
        kernel: a plain function.
        allocates: whether it may make arrays. Loops must not: reference counts take three times as
            long as the rest of a pull.
        inlined: whether the functions that it calls are inlined unless they allocate. Kernels
            called once per pull should be: they take a state of some fifty numbers by value.
        checked: whether an index outside of an array raises an IndexError, which takes an eighth
            more time. Otherwise it reads or writes foreign memory.
    """
    if not isinstance(kernel, FunctionType):  # compiled already
        return kernel
    if runs_interpreted():
        return _without_warnings(kernel)
    how = How(allocates, inlined, checked)
    name = _name(kernel, how)
    if name not in _compiled:
        _compiled[name] = MachineCode(kernel, name, how)
    return _compiled[name]  # type: ignore[no-any-return]


def compiled_part(kernel: Function, *, allocates: bool = False, inlined: bool = True) -> Function:
    """Return a kernel that compiled kernels can call; see `compile_kernel`."""
    return _part(kernel, How(allocates, inlined))


def _part(kernel: Function, how: How) -> Function:
    if not isinstance(kernel, FunctionType):
        return kernel
    if kernel in COMPILED_AS:
        return COMPILED_AS[kernel]  # type: ignore[no-any-return]
    if runs_interpreted():
        return _without_warnings(kernel)
    name = _name(kernel, how)
    if name not in _parts:
        inlined = how.inlined and not how.allocates and kernel.__code__ not in _apart
        options = _options(how) | {"forceinline": inlined}
        copy = _copy(kernel, name, how)
        _parts[name] = compiler.njit(**options, **WITHOUT_WRAPPERS)(copy)
    return _parts[name]  # type: ignore[no-any-return]


def function_pointer(
    kernel: Function,
    make_signature: Callable[[], Any],
    *,
    allocates: bool = False,
    inlined: bool = False,
) -> Any:
    """Return a compiled kernel that loops take as an argument.

    A kernel that many loops share, and call rarely, is compiled once and called by its address.
    `make_signature` returns its signature in numba's types.
    """
    if runs_interpreted():
        return _without_warnings(kernel)
    signature = make_signature()
    how = How(allocates, inlined)
    name = _name(kernel, how, f"cfunc {signature}")
    if name not in _compiled:
        copy = _copy(kernel, name, how)
        _compiled[name] = _cached(partial(compiler.cfunc, signature), copy, _options(how))
    return _compiled[name]


def callback(function: Callable[[], Any]) -> Any:
    """Return a Python function that loops can call, without arguments and without a result.

    It must not raise an error: a loop would go on. Python's lock is held during the call.
    """
    return function if runs_interpreted() else Callback(function)


def returns_nothing(examples: tuple[Any, ...]) -> Any:
    """Return the signature of a function of such arguments without a result."""
    return compiler.void(*(compiler.typeof(example) for example in examples))


class MachineCode:
    """A compiled kernel that Python calls. If its cached file does not load, it compiles anew."""

    def __init__(self, kernel: Function, name: str, how: How) -> None:
        self._copy = _copy(kernel, name, how)
        self._options = _options(how) | {"no_cfunc_wrapper": True}
        self._code = _cached(compiler.njit, self._copy, self._options)

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self._code(*arguments)
        except (compiler.errors.NumbaError, IndexError):  # the latter of a checked kernel
            raise
        except Exception as error:  # whatever unpickling a damaged file leads to
            anew = compiler.njit(**self._options)(self._copy)
            result = anew(*arguments)  # raises again if the kernel itself did
            _warn(f"a cached file cannot be read ({type(error).__name__}: {error})")
            self._code = anew
            return result


def prepare_kernel(
    kernel: Function,
    arguments: tuple[Any, ...],
    *,
    inlined: bool = True,
    checked: bool = False,
) -> Function:
    """Return a loop as machine code, compiled by a first call with idle arguments.

    `checked` is that of `compile_kernel`.
    """
    if runs_interpreted():
        return _without_warnings(kernel)
    how = How(False, inlined, checked)
    # One signature per cached name: processes that compile at the same time write the same file.
    name = _name(kernel, how, _types(arguments))
    with _compiling:
        if name not in _compiled:
            loop = MachineCode(kernel, name, how)
            loop(*arguments)
            _compiled[name] = loop
    return _compiled[name]  # type: ignore[no-any-return]


def kept_apart(kernel: FunctionT) -> FunctionT:
    """Mark a kernel that stays a function of its own in machine code, though others are inlined.

    The compiler arranges a long loop better if the code around it is elsewhere.
    """
    _apart.add(kernel.__code__)
    return kernel


def prepares_fast(
    kernel: Function,
    arguments: tuple[Any, ...],
    *,
    inlined: bool = True,
    checked: bool = False,
) -> bool:
    """Return whether `prepare_kernel` finds machine code, in this process or on disk."""
    if runs_interpreted():
        return True
    how = How(False, inlined, checked)
    return _is_kept(kernel, how, _types(arguments))


def points_fast(kernel: Function, make_signature: Callable[[], Any]) -> bool:
    """Return whether `function_pointer` finds machine code, in this process or on disk."""
    return runs_interpreted() or _is_kept(kernel, How(False, False), f"cfunc {make_signature()}")


def _is_kept(kernel: Function, how: How, types: str) -> bool:
    """Return whether a kernel was compiled; if its file does not fit, it is compiled anew."""
    name = _name(kernel, how, types)
    if name in _compiled:
        return True
    copy = bind(kernel)
    copy.__qualname__ = name
    folder = _cached(compiler.njit, copy, {}).stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*{name}*.nbi"))


def as_python(kernel: Function) -> Function:
    """Return a kernel to run as the plain Python that it is, with the same results."""
    silent: Function = np.errstate(all="ignore")(kernel)
    return silent


def _types(value: Any) -> str:
    """Describe the types of arguments; numba's `typeof` takes milliseconds for a loop's."""
    if isinstance(value, tuple):
        return f"{type(value).__name__}({' '.join(map(_types, value))})"
    if isinstance(value, np.ndarray):
        flags = value.flags
        return f"{value.dtype}{value.ndim}{flags.c_contiguous}{flags.aligned}{flags.writeable}"
    return type(value).__name__


def _options(how: How) -> dict[str, Any]:
    # No fastmath: results must not depend on how the compiler orders a sum. nogil: callers may run
    # replicates in threads. _nrt is undocumented: without reference counts a pull takes a third.
    return {
        "error_model": "numpy",
        "nogil": True,
        "boundscheck": how.checked,
        "_nrt": how.allocates,
    }


def _name(kernel: Any, how: How, types: str = "") -> str:
    """Return a qualified name with a digest of the kernel's code and of how it is compiled."""
    text = f"{code_digest(kernel)} {how} {types}"
    return f"{kernel.__qualname__}_{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"


def _copy(kernel: Any, name: str, how: How) -> Function:
    """Return a copy of a kernel under another name, bound to compiled versions of its callees."""
    called = {
        found: _part(value, how)
        for found in global_names(kernel.__code__)
        if isinstance(value := kernel.__globals__.get(found), FunctionType)
    }
    copy = bind(kernel, **called)
    copy.__qualname__ = name
    return copy


def _cached(decorate: Any, copy: Function, options: dict[str, Any]) -> Any:
    """Return a function decorated by numba, with its cache if that can be used."""
    try:
        pack = pack_in_use()
        if pack is not None:
            place = compiler.njit(cache=True)(copy).stats.cache_path
            lay_code(pack, copy.__qualname__, Path(place))
        return decorate(cache=True, **options)(copy)
    except compiler.errors.NumbaError:
        raise
    except Exception as error:  # there is no directory to write to, or a damaged file
        _warn(f"machine code cannot be cached ({error})")
        return decorate(**options)(copy)


def _warn(problem: str) -> None:
    warnings.warn(
        f"{problem}, so every start compiles anew; NUMBA_CACHE_DIR can name another directory",
        stacklevel=2,
    )


def _without_warnings(function: FunctionT) -> FunctionT:
    """Return a function that suppresses numpy's warnings about wrapped integers and 1 / inf."""
    if compiler is None:
        _say_how_slow()
    return as_python(function)  # type: ignore[return-value]


@cache
def _say_how_slow() -> None:
    """Say once that numba would be faster."""
    warnings.warn(
        "numba is not installed: the same results, about two hundred times slower; install it with:"
        ' pip install ".[study]" in a checkout of affinity-bandits',
        stacklevel=2,
    )


def cacheable(state: Any) -> Any:
    """Return a policy's state as named tuples of classes that can be found by name here.

    numba's cache refers to these classes, and other processes cannot import a class of a script or
    a notebook.

    >>> from affinity_bandits.policies import Uniform
    >>> type(cacheable(Uniform().start(2, 10))).__name__
    'State__arms'
    """
    if not (isinstance(state, tuple) and hasattr(state, "_fields")):
        return state
    return _state_class(state._fields)(*(cacheable(value) for value in state))


@cache
def _state_class(fields: tuple[str, ...]) -> Any:
    made: Any = namedtuple("__".join((STATE, *fields)), fields)  # type: ignore[misc]
    made.__module__ = __name__
    return made


def __getattr__(name: str) -> Any:
    """Return the class of a state by its name, for numba's cache."""
    prefix, *fields = name.split("__")
    if prefix != STATE or not fields:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _state_class(tuple(fields))
