"""Parts of loops: compiled up to where machine code would be made of them, which the loop's is.

numba optimises every function that a loop calls, makes machine code of it, links it into the loop
and optimises the whole again. Of a kernel that only other kernels call, neither is ever used: here
it is kept as it was translated. That halves what a loop takes to compile, and as the whole is
optimised as ever, the loop is as fast.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numba.core.codegen
import numba.core.compiler
import numba.core.registry
from llvmlite import binding

from affinity_bandits.heartbeat import meanwhile

llvm: Any = binding  # has no types
standard: Any = numba.core.codegen
compiler: Any = numba.core.compiler
target: Any = numba.core.registry.cpu_target

SUPPORTED = hasattr(standard.CPUCodegen, "_pass_builder")
"""Whether this numba has what is needed here; an older one compiles as it does."""
PART = "part"
"""How the file of a part says what it is, where numba's say "object"."""
ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names begin under which machine code looks for Python's objects."""
_whole: list[str] = []
"""The names of the functions being compiled that machine code is made of, the outermost first."""


_told: list[Callable[[], None]] = []
"""What is called before something is compiled: the last of them."""


class Library(standard.JITCodeLibrary):  # type: ignore[misc]
    """What numba makes of one function, and all that it calls: machine code, or only a part."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._is_part = name not in _whole

    def _optimize_functions(self, ll_module: Any) -> None:
        if not self._is_part:
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        # What is computed and never read: numba puts the address of every function that is called
        # there, and could not keep a part with an address in a file.
        self._run(ll_module, "sroa", "dead_code_elimination")

    def _optimize_final_module(self) -> None:
        if self._is_part:
            self._run(self._final_module, "global_dead_code_eliminate")
        else:
            super()._optimize_final_module()

    def _run(self, module: Any, *passes: str) -> None:
        manager = llvm.create_new_module_pass_manager()
        for name in passes:
            getattr(manager, f"add_{name}_pass")()
        manager.run(module, self._codegen._pass_builder())

    def _finalize_final_module(self) -> None:
        if self._is_part:
            self._finalize_dynamic_globals()
            self._finalized = True
            return
        super()._finalize_final_module()
        # Those of its parts, which were in no machine code before.
        for variable in self._final_module.global_variables:
            if variable.name.startswith(ENVIRONMENT):
                environment = compiler.lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)

    def serialize_using_object_code(self) -> Any:
        if not self._is_part:
            return super().serialize_using_object_code()
        return self.name, PART, self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        self = cls(codegen, name)
        self._is_part = kind == PART
        if not self._is_part:
            return _loaded(self, data)
        self._final_module = self._shared_module = llvm.parse_bitcode(data)
        self._finalize_final_module()
        return self


def _loaded(library: Any, data: Any) -> Any:
    """Return a library with machine code from a file, as numba does."""
    machine_code, for_linking = data
    library.enable_object_caching()
    library._set_compiled_object(machine_code)
    library._shared_module = llvm.parse_bitcode(for_linking)
    library._finalize_final_module()
    library._codegen._engine._load_defined_symbols(library._shared_module)
    return library


class Compiler:
    """What a function of `numba.njit` is compiled by, in place of numba's own.

    Args:
        plain: numba's own.
        called: whether Python calls the function, or its address is taken.
    """

    def __init__(self, plain: Any, called: bool) -> None:
        self._plain = plain
        self._called = called

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def compile(self, arguments: Any, return_type: Any) -> Any:
        """Compile for types; numba holds its lock."""
        if _whole:
            return self._compile(arguments, return_type)
        if _told:
            _told[-1]()
        with meanwhile(lambda: "compiling"):
            return self._compile(arguments, return_type)

    def _compile(self, arguments: Any, return_type: Any) -> Any:
        if not SUPPORTED:
            return self._plain.compile(arguments, return_type)
        with _libraries():
            if _whole and not self._called:
                return self._plain.compile(arguments, return_type)
            _whole.append(self._plain.py_func.__qualname__)
            try:
                return self._plain.compile(arguments, return_type)
            finally:
                _whole.pop()


@contextmanager
def telling(tell: Callable[[], None]) -> Iterator[None]:
    """Let a function be called whenever something is about to be compiled."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


@contextmanager
def _libraries() -> Iterator[None]:
    """Let numba make libraries of ours, while the outermost function is compiled."""
    if _whole:
        yield
        return
    codegen = target.target_context.codegen()

    def set_environment(name: str, environment: Any) -> None:
        if codegen._engine.is_symbol_defined(name):
            type(codegen).set_env(codegen, name, environment)

    codegen._library_class = Library
    codegen.set_env = set_environment
    collects = gc.isenabled()
    gc.disable()  # a compiler makes many objects, and keeps most
    try:
        with _quick_flags():
            yield
    finally:
        del codegen._library_class, codegen.set_env
        if collects:
            gc.enable()


@contextmanager
def _quick_flags() -> Iterator[None]:
    """Let numba compare the options of functions quickly.

    It looks them up whenever an operator has a type, some ten thousand times for a loop, and puts
    all thirty together anew for each comparison: a fifth of what compiling takes. The values and
    the hash here are those of `TargetConfig`.
    """
    flags = compiler.Flags
    defaults = {name: option.default for name, option in flags.options.items()}
    same = hash(tuple(sorted(defaults)))
    flags.values = lambda self: {**defaults, **self._values}
    flags.__hash__ = lambda self: same
    try:
        yield
    finally:
        del flags.values, flags.__hash__
