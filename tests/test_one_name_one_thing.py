"""A public class or function name means one thing in the library and the service.

Three kinds of repetition have the same meaning and do not count:

- HOOKS: every module of a kind defines the name because a registry calls it;
- DOORS: a command, a route or a page has the name of the operation that it calls;
- methods, private names, and names that another module only imports.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import affinity_bandits
import affinity_bandits_service

PACKAGE = Path(affinity_bandits.__file__).parent
SERVICE = Path(affinity_bandits_service.__file__).parent
HOOKS = {
    "Settings": ("paper", "studies"),
    "claims": ("paper", "studies"),
    "draw": ("paper", "studies"),
    "run": ("paper", "studies"),
    "Agent": ("policies",),
    "register": ("bias", "noise", "policies"),
    "warm_up": ("app",),
}
"""The rooms whose modules define these names for a registry or a protocol."""
DOORS = ("cli/", "cli.py", "http/routes.py", "ui/pages.py")
UNREAD = ("audit/", "plots/audit_report/")


def definitions(*packages: Path) -> dict[str, set[str]]:
    """Return the modules that define each public class or function outside doors and hooks."""
    found: dict[str, set[str]] = defaultdict(set)
    for package, path in [(one, path) for one in packages for path in one.rglob("*.py")]:
        module = path.relative_to(package).as_posix()
        if module.startswith((*DOORS, *UNREAD)):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                hooked = module.partition("/")[0] in HOOKS.get(node.name, ())
                if not node.name.startswith("_") and not hooked:
                    found[node.name].add(f"{package.name}/{module}")
    return found


def duplicates(*packages: Path) -> dict[str, list[str]]:
    defined = definitions(*packages)
    return {name: sorted(modules) for name, modules in defined.items() if len(modules) > 1}


def test_a_name_is_defined_once() -> None:
    assert duplicates(PACKAGE, SERVICE) == {}


def test_a_planted_duplicate_is_found(tmp_path: Path) -> None:
    for module in ("library/one", "service/other", "library/cli/door"):
        path = tmp_path / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("class Plan:\n    def run(self): ...\ndef _own(): ...\n", encoding="utf-8")
    assert duplicates(tmp_path / "library", tmp_path / "service") == {
        "Plan": ["library/one.py", "service/other.py"]
    }
