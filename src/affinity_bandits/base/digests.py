"""Digests of code: names for cached machine code, and identities of a user's own policies."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import dis
import functools
import hashlib
import importlib.util
import random
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits.base.errors import NotSupported, shown

PACKAGE = "affinity_bandits"
FOUNDATIONS = frozenset({PACKAGE, "numpy", "numba", *sys.stdlib_module_names})
"""Packages whose code counts by name."""
_own_files: dict[str, Path] = {}
PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype)


def code_digest(kernel: types.FunctionType) -> str:
    """Return a digest of a kernel's code and of the functions, constants and arrays it reads."""
    return _code_digest(kernel, ())


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """Return the globals that a code object reads."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(global_names(constant))
    return tuple(sorted(names))


def _code_digest(kernel: types.FunctionType, callers: tuple[Any, ...]) -> str:
    if kernel in callers:
        return f"recursion {kernel.__qualname__}"
    module = sys.modules.get(kernel.__module__)
    if _top(kernel.__module__) == PACKAGE and kernel.__globals__ is getattr(module, "__dict__", 0):
        return _package_digest(kernel)
    return _read_digest(kernel, callers)


@functools.cache  # nobody edits these while they run
def _package_digest(kernel: types.FunctionType) -> str:
    return _read_digest(kernel, ())


def _read_digest(kernel: types.FunctionType, callers: tuple[Any, ...]) -> str:
    parts = [_module(kernel.__module__), kernel.__qualname__, _code(kernel.__code__)]
    parts.append(repr(kernel.__defaults__))
    for name in global_names(kernel.__code__):
        if name in kernel.__globals__:
            value = kernel.__globals__[name]
            parts.append(f"{name} = {_global(value, kernel, (*callers, kernel))}")
    return _hash("\n".join(parts).encode())


def _global(value: Any, kernel: types.FunctionType, callers: tuple[Any, ...]) -> str:
    """Return a description of a kernel's global, as text."""
    if isinstance(value, types.FunctionType):
        return _code_digest(value, callers)
    compiled = getattr(value, "py_func", None)
    if isinstance(compiled, types.FunctionType):  # options such as fastmath change results
        return f"{_code_digest(compiled, callers)} {getattr(value, 'targetoptions', '')}"
    if isinstance(value, types.ModuleType):
        read = () if _top(value.__name__) in FOUNDATIONS else kernel.__code__.co_names
        taken = [vars(value)[name] for name in read if name in vars(value)]
        return f"{value.__name__} {[_global(item, kernel, callers) for item in taken]}"
    if isinstance(value, type):
        return f"{_module(value.__module__)}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {_hash(value.tobytes())}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} {[_global(item, kernel, callers) for item in value]}"
    text = repr(value)
    return f"{type(value).__name__} {'' if ' at 0x' in text else text}"  # no addresses


def _code(code: types.CodeType) -> str:
    constants = [
        _code(item) if isinstance(item, types.CodeType) else repr(item) for item in code.co_consts
    ]
    # Names of arguments, too: empty functions of different signatures have the same bytecode.
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount} {constants}"


def own_code(value: Any) -> str | None:
    """Return a digest of the user's own code in an object, or None if it is all the package's.

    It covers the source files of the modules of its classes and functions, those of the modules
    that these import, and the values that functions enclose.

    Args:
        value: a policy, a bias, a noise, a function, or a tuple of such things.

    Raises:
        NotSupported: a source file is missing, or a function encloses an object of unknown content.
    """
    found = list(_own_pieces(value))
    return _hash("\n".join(found).encode()) if found else None


def _own_pieces(value: Any, enclosed: bool = False) -> Iterator[str]:
    """Yield a text for each piece of the user's own code; `enclosed` values are texts, too."""
    if isinstance(value, types.FunctionType):
        yield f"{code_digest(value)} {_source(value.__module__)}"
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        for item in (cells, value.__defaults__, value.__kwdefaults__):
            yield from _own_pieces(item, enclosed=True)
    elif isinstance(getattr(value, "py_func", None), types.FunctionType):
        yield str(getattr(value, "targetoptions", ""))
        yield from _own_pieces(value.py_func)
    elif isinstance(value, type):
        for base in value.__mro__:
            if _top(base.__module__) not in FOUNDATIONS:
                yield f"{base.__qualname__} {_source(base.__module__)}"
    elif isinstance(value, types.MethodType):
        yield from _own_pieces((value.__func__, value.__self__), enclosed=True)
    elif isinstance(value, functools.partial):
        yield from _own_pieces((value.func, value.args, value.keywords), enclosed=True)
    elif isinstance(value, types.BuiltinFunctionType | np.ufunc):
        yield f"{value.__name__} of {getattr(value, '__module__', 'numpy')}"
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _own_pieces(item, enclosed)
    elif isinstance(value, Mapping):
        yield from _own_pieces(list(value.items()), enclosed)
    elif isinstance(value, PLAIN):
        yield from [f"{type(value).__name__} {value!r}"] if enclosed else []
    elif isinstance(value, np.ndarray):
        yield from [f"{value.dtype} {value.shape} {_hash(value.tobytes())}"] if enclosed else []
    elif isinstance(value, random.Random):
        yield from [f"random {value.getstate()!r}"] if enclosed else []
    elif dataclasses.is_dataclass(value):
        yield from _own_pieces(type(value))
        for field in dataclasses.fields(value):
            yield from _own_pieces(getattr(value, field.name, None), enclosed)
    elif _top(type(value).__module__) not in FOUNDATIONS:
        yield from _own_pieces(type(value))
        yield from _own_pieces(getattr(value, "__dict__", {}), enclosed=True)
    elif enclosed:
        raise NotSupported(
            f"{shown(value)} cannot be compared between processes; give functions numbers, texts, "
            f"arrays or other functions only"
        )


def _source(name: str) -> str:
    """Return a digest of the source files of a module and of all modules that it imports.

    The package's own modules and installed packages are left out.
    """
    name = _module(name)
    if _top(name) in FOUNDATIONS:
        return name
    path = _file(name)
    if path is None:
        raise NotSupported(
            f"module {name} has no source file, so results of its code could not be told from "
            f"those of an edited version; define policies and functions in a file"
        )
    found = {name: path}
    waiting = [name]
    contents = []
    while waiting:
        here = waiting.pop()
        path = found[here]
        content, imported = _read(here, path, path.stat().st_mtime_ns)
        contents.append(f"{here} {content}")
        for other in imported - found.keys():
            file = None if _top(other) in FOUNDATIONS else _file(other)
            if file is not None and not {"site-packages", "dist-packages"} & set(file.parts):
                found[other] = file
                waiting.append(other)
    _own_files.update(found)
    return f"{name} {_hash(' '.join(sorted(contents)).encode())}"


def own_files() -> dict[str, Path]:
    """Return the source files of all modules that digests of this process have covered.

    The keys are the modules' names.
    """
    return dict(_own_files)


def _module(name: object) -> str:
    """Return a module's name; spawned processes have the script under another one."""
    return "__main__" if name == "__mp_main__" else str(name)


def _file(name: str) -> Path | None:
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None:
        with contextlib.suppress(ImportError, ValueError):
            file = getattr(importlib.util.find_spec(name), "origin", None)
    return Path(file) if file and Path(file).exists() else None


@functools.lru_cache(maxsize=1024)
def _read(name: str, path: Path, changed: int) -> tuple[str, frozenset[str]]:
    """Return a digest of a file, and the names that may be modules which it imports."""
    content = path.read_bytes()
    imported: set[str] = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(content)) if path.suffix == ".py" else ():
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, package) if node.level else relative
            imported.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return _hash(content), frozenset(imported)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]
