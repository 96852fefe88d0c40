"""No two modules import each other, directly or through others.

An import inside a function, or for type checkers only, counts. Import-linter checks the rooms.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest


def circle(*packages: str) -> list[str]:
    """Return the modules of a circle of imports, or nothing."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    assert len(graph.modules) > len(packages)
    try:
        TopologicalSorter(
            {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
        ).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_two_modules_import_each_other() -> None:
    ours = ("affinity_bandits", "affinity_bandits_client", "affinity_bandits_service")
    assert circle(*ours, "checks", "research", "tests") == []


@pytest.mark.parametrize(
    "back",
    ["def late():\n    from house import a\n", "if TYPE_CHECKING:\n    from .a import thing\n"],
)
def test_a_planted_circle_is_found(
    back: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = tmp_path / f"house_{len(back)}"
    house.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    (house / "__init__.py").touch()
    (house / "a.py").write_text(f"from {house.name}.b import thing\n")
    (house / "b.py").write_text(f"import {house.name}.c\n")
    (house / "c.py").write_text("")
    assert circle(house.name) == []
    (house / "c.py").write_text(back.replace("from house", f"from {house.name}"))
    assert {f"{house.name}.{one}" for one in "abc"} == set(circle(house.name))
