"""Which functions implement which label of the paper: read from their docstrings.

The source is read, not imported: half of the package needs extras that a reader of the paper does
not have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import affinity_bandits
from affinity_bandits.paper.registry import modules

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
    items = {module.__name__: module.ITEM for module in modules()}
    for name, path in _sources():
        if name.startswith(SKIPPED):
            continue
        for full_name, text in _documented(name, ast.parse(path.read_text(encoding="utf-8"))):
            for label in LABEL.findall(text):
                line = text.strip().splitlines()[0]
                found.setdefault(label, {})[full_name] = Place(full_name, line)
        if name in items:
            place = Place(name, items[name].title)
            for label in items[name].labels:
                found.setdefault(label, {})[name] = place
    return {label: tuple(found[label].values()) for label in sorted(found)}


def _sources() -> list[tuple[str, Path]]:
    """Return every module of the package and its file."""
    root = Path(affinity_bandits.__file__).parent
    named = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        named[".".join(parts).removesuffix(".__init__")] = path
    return sorted(named.items())


def _documented(name: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Give a module and all functions, classes and methods in it, by full name, with docstrings."""
    yield name, ast.get_docstring(tree) or ""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        yield f"{name}.{node.name}", ast.get_docstring(node) or ""
        for part in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                yield f"{name}.{node.name}.{part.name}", ast.get_docstring(part) or ""
