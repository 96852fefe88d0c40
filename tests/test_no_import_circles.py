"""No two modules import each other, directly or around a corner.

An import counts wherever it stands: inside a function, and for type checkers alone, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = [
    ("src", "affinity_bandits"),
    *((".", name) for name in ("soak", "bench", "tests", "docs")),
]
Graph = dict[str, set[str]]


def sources(root: Path, places: list[tuple[str, str]]) -> dict[str, Path]:
    """Return the modules of packages by name."""
    found = {}
    for above, package in places:
        for path in sorted((root / above / package).rglob("*.py")):
            parts = path.relative_to(root / above).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(modules: dict[str, Path]) -> Graph:
    """Return the modules that each module imports, of those given."""
    return {
        name: {one for one in _named(name, path, modules) if one in modules and one != name}
        for name, path in modules.items()
    }


def _named(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for one in node.names:
                submodule = f"{source}.{one.name}"
                yield submodule if submodule in modules else source


def room(module: str) -> str:
    """Return the room of a module of the package; other modules are rooms of their own."""
    parts = module.split(".")
    if parts[0] != "affinity_bandits":
        return module
    return ".".join(parts[: 3 if parts[1:2] == ["service"] else 2])


def rooms(graph: Graph) -> Graph:
    found: Graph = {room(module): set() for module in graph}
    for module, imported in graph.items():
        found[room(module)] |= {room(one) for one in imported} - {room(module)}
    return found


def circles(graph: Graph) -> list[list[str]]:
    """Return a circle for each node that is in one, without its turns."""
    found = {}
    for start in graph:
        before: dict[str, str] = {}
        todo = [start]
        while todo and start not in before:
            here = todo.pop()
            for one in sorted(graph[here]):
                if one not in before:
                    before[one] = here
                    todo.append(one)
        if start in before:
            way = [before[start]]
            while way[-1] != start:
                way.append(before[way[-1]])
            found[frozenset(way)] = [*reversed(way), start]
    return list(found.values())


@pytest.fixture(scope="module")
def graph() -> Graph:
    return imports(sources(ROOT, PLACES))


@pytest.mark.slow
def test_no_two_modules_import_each_other(graph: Graph) -> None:
    for module in ("affinity_bandits.simulation.result", "soak.driver", "bench.suite", __name__):
        assert module in graph  # they were looked at
    assert circles(graph) == []


def test_no_two_rooms_import_each_other(graph: Graph) -> None:
    assert "affinity_bandits.service.core" in rooms(graph)
    assert circles(rooms(graph)) == []


def test_imports_are_found_wherever_they_stand(graph: Graph) -> None:
    assert "affinity_bandits.simulation" in graph["affinity_bandits.plots.regret"]  # for types
    assert (
        "affinity_bandits.planning.reach" in graph["affinity_bandits.plots.plan"]
    )  # in a function
    assert (
        "tests.service.core.machine" in graph["tests.service.core.test_state_machine"]
    )  # relative


PLAIN = "from house.{} import thing\n"
PLANTED = {
    "at the top": PLAIN,
    "as a module": "import house.{}\n",
    "out of the package": "from house import {}\n",
    "relative": "from .{} import thing\n",
    "relative, out of the package": "from . import {}\n",
    "in a function": "def late():\n    from house.{} import thing\n",
    "for type checkers": "if TYPE_CHECKING:\n    from house.{} import thing\n",
}


@pytest.mark.parametrize("way", PLANTED)
@pytest.mark.parametrize("around", [(), ("c",), ("c", "d")])
def test_a_planted_circle_is_found(tmp_path: Path, way: str, around: tuple[str, ...]) -> None:
    names = ["a", *around, "b"]
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").touch()
    (house / "other.py").write_text(PLAIN.format("a"))
    for one, following in zip(names, [*names[1:], None], strict=True):
        (house / f"{one}.py").write_text(PLAIN.format(following) if following else "")
    assert circles(imports(sources(tmp_path, [(".", "house")]))) == []
    (house / "b.py").write_text(PLANTED[way].format("a"))
    (found,) = circles(imports(sources(tmp_path, [(".", "house")])))
    assert set(found) == {f"house.{one}" for one in names}
    assert found[0] == found[-1]


def test_a_circle_of_rooms_need_not_be_one_of_modules() -> None:
    planted = {
        "affinity_bandits.service.http.app": {"affinity_bandits.service.core.keys"},
        "affinity_bandits.service.core.keys": set(),
        "affinity_bandits.service.core.queries": {"affinity_bandits.service.http.logs"},
        "affinity_bandits.service.http.logs": set(),
    }
    assert circles(planted) == []
    (found,) = circles(rooms(planted))
    assert set(found) == {"affinity_bandits.service.http", "affinity_bandits.service.core"}
