"""Which functions implement which label of the paper: read from their docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from functools import cache
from typing import Any, NamedTuple

import affinity_bandits

LABEL = re.compile(r"`((?:alg|assump|cor|def|eq|fig|lem|rem|sec|subsec|thm):[A-Za-z0-9]+)`")
SKIPPED = ("affinity_bandits.cli", "affinity_bandits.testing")


class Place(NamedTuple):
    """Something that names a label: where it is, and the first line it says of itself."""

    name: str
    line: str


@cache
def places() -> dict[str, tuple[Place, ...]]:
    """Return, for every label named in a docstring of the package, who names it."""
    found: dict[str, dict[str, Place]] = {}
    for module in _modules():
        for name, thing in _documented(module):
            text = inspect.getdoc(thing) or ""
            line = text.strip().splitlines()[0] if text.strip() else ""
            for label in LABEL.findall(text):
                found.setdefault(label, {})[name] = Place(name, line)
        if hasattr(module, "ITEM"):
            place = Place(module.__name__, module.ITEM.title)
            for label in module.ITEM.labels:
                found.setdefault(label, {})[module.__name__] = place
    return {label: tuple(found[label].values()) for label in sorted(found)}


def _modules() -> list[Any]:
    names = ["affinity_bandits"]
    names += [
        info.name
        for info in pkgutil.walk_packages(affinity_bandits.__path__, "affinity_bandits.")
        if not info.name.startswith(SKIPPED)
    ]
    return [importlib.import_module(name) for name in names]


def _documented(module: Any) -> list[tuple[str, Any]]:
    """Return a module and all functions, classes and methods defined in it, by full name."""
    found = [(module.__name__, module)]
    for name, thing in vars(module).items():
        plain = getattr(thing, "py_func", thing)  # a compiled function documents itself there
        if getattr(plain, "__module__", None) != module.__name__ or name.startswith("_"):
            continue
        if inspect.isfunction(plain):
            found.append((f"{module.__name__}.{name}", plain))
        elif inspect.isclass(plain):
            found.append((f"{module.__name__}.{name}", plain))
            found.extend(
                (f"{module.__name__}.{name}.{part}", inner)
                for part, inner in vars(plain).items()
                if not part.startswith("_") and (inspect.isfunction(inner) or _is_property(inner))
            )
    return found


def _is_property(thing: object) -> bool:
    return isinstance(thing, property)
