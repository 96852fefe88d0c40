"""Find what a function's code reads from outside of it, and whose code that is."""

from __future__ import annotations

import dis
import functools
import importlib
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

GENERATED = (
    "__init__",
    "__repr__",
    "__eq__",
    "__hash__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__setattr__",
    "__delattr__",
    "__replace__",
    "__getstate__",
    "__setstate__",
)
TUPLES = ("__new__", "__repr__", "__replace__", "__getnewargs__", "_make", "_replace", "_asdict")
"""What dataclasses and named tuples write themselves, from fields, which are read."""


class Reads(NamedTuple):
    """What a code object reads from outside."""

    names: tuple[str, ...]  # globals
    imports: tuple[tuple[str, int, tuple[str, ...]], ...]  # module, packages up, names taken
    attributes: frozenset[str]  # of anything, and every text, which may name one


@functools.lru_cache(maxsize=4096)
def reads(code: types.CodeType) -> Reads:
    """Return what a code object and those inside it read from outside."""
    names, imports, attributes = set(), set(), set()
    last: list[Any] = []
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            names.add(step.argval)
        elif step.opname == "IMPORT_NAME":
            imports.add((step.argval, last[-2], tuple(last[-1] or ())))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
            attributes.add(step.argval)
        last.append(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = reads(constant)
            names |= set(inner.names)
            imports |= set(inner.imports)
            attributes |= inner.attributes
        elif isinstance(constant, str):
            attributes.add(constant)
    return Reads(tuple(sorted(names)), tuple(sorted(imports)), frozenset(attributes))


def imported(
    name: str, level: int, taken: tuple[str, ...], package: Any
) -> types.ModuleType | None:
    """Return the module that a function imports when it runs, with what it takes of it loaded."""
    try:
        module = importlib.import_module("." * level + name, package if level else None)
    except Exception:  # running it will say what is wrong
        return None
    for item in taken:
        if not hasattr(module, item):
            imported(f"{module.__name__}.{item}", 0, (), None)
    return module


def top_of(module: str | None) -> str:
    """Return the outermost package of a module."""
    return (module or "").partition(".")[0]


@functools.lru_cache(maxsize=1024)
def installed_version(top: str) -> str:
    """Return the version of a package that lies where pip puts packages; "" for others."""
    module = sys.modules.get(top)
    file = getattr(module, "__file__", None) or ""
    if not {"site-packages", "dist-packages"} & set(Path(file).parts):
        return ""
    from importlib import metadata

    try:
        return metadata.version(top)
    except metadata.PackageNotFoundError:
        return str(getattr(module, "__version__", ""))


def is_generated(cls: type, name: str, value: Any) -> bool:
    """Return whether an attribute was written by dataclasses or by `NamedTuple`."""
    is_tuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    if is_tuple and type(value).__name__ == "_tuplegetter":
        return True
    if name not in (TUPLES if is_tuple else GENERATED):
        return False
    function = getattr(value, "__func__", value)
    if not isinstance(function, types.FunctionType):
        return False
    module = function.__globals__.get("__name__")
    return function.__code__.co_filename == "<string>" or module in ("collections", "dataclasses")
