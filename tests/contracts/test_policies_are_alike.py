"""Outside `policies/` no module knows one policy from another: all it asks is in the contract."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import affinity_bandits
import affinity_bandits_service
from affinity_bandits import policies
from affinity_bandits.policies import (
    POLICIES,
    AsSteps,
    BlockPolicy,
    InPython,
    Policy,
    RoundPolicy,
    StepPolicy,
)
from affinity_bandits.policies.elimination import PhasedElimination

PACKAGES = [Path(one.__file__).parent for one in (affinity_bandits, affinity_bandits_service)]
CONTRACTS = {Policy, StepPolicy, RoundPolicy, BlockPolicy, AsSteps, InPython}
EXEMPT = ("__init__.py", "policies/", "planning/policy.py", "paper/")
"""The package's door, the policies, the choice of one for plans, and experiments about some."""


def concrete_policies() -> set[type[Policy]]:
    found: set[type[Policy]] = set()
    for module in pkgutil.iter_modules(policies.__path__, "affinity_bandits.policies."):
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(one, Policy) and one.__module__ == module.name:
                found.add(one)
    return found - CONTRACTS


CLASSES = {one.__name__ for one in concrete_policies()}
MODULES = {one.__module__ for one in concrete_policies()}


def told_apart(code: str, package: str = "affinity_bandits.planning") -> list[str]:
    """Return what in a module of that package names a concrete policy, and in which line."""
    return [f"line {line}: {what}" for line, what in _named(ast.parse(code), package)]


def _named(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name in MODULES:
                        yield node.lineno, f"import {alias.name}"
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                source = ".".join([*above, *([module] if module else [])])
                for alias in names:
                    whole = f"{source}.{alias.name}"
                    star = alias.name == "*" and source == "affinity_bandits.policies"
                    if star or alias.name in CLASSES or {source, whole} & MODULES:
                        yield node.lineno, f"from {source} import {alias.name}"
            case ast.Attribute(attr=attribute) if attribute in CLASSES:
                yield node.lineno, f".{attribute}"
            case ast.Constant(value=str(text)) if text in MODULES:
                yield node.lineno, repr(text)
            case ast.Compare() | ast.Subscript() | ast.match_case():
                # A name that is compared or looked up is a class in disguise.
                for part in _asked(node):
                    if isinstance(part, ast.Constant) and part.value in POLICIES:
                        yield part.lineno, f"asks for {part.value!r}"


def _asked(node: ast.Compare | ast.Subscript | ast.match_case) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for part in (node.left, *node.comparators):
            yield from ast.walk(part)
    elif isinstance(node, ast.Subscript):
        yield node.slice
    else:
        yield from ast.walk(node.pattern)


@pytest.mark.slow
def test_no_module_tells_policies_apart() -> None:
    wrong, read = [], 0
    for package, path in [(one, path) for one in PACKAGES for path in sorted(one.rglob("*.py"))]:
        place = path.relative_to(package).as_posix()
        if place.startswith(EXEMPT):
            continue
        room = ".".join([package.name, *Path(place).parent.parts])
        wrong += [f"{place}, {one}" for one in told_apart(path.read_text("utf-8"), room)]
        read += 1
    assert wrong == []
    assert read > 150


def test_all_policies_are_looked_for() -> None:
    assert set(POLICIES.values()) <= concrete_policies()
    assert PhasedElimination in concrete_policies()
    assert "affinity_bandits.policies.contracts" not in MODULES


@pytest.mark.parametrize(
    "code",
    [
        "from affinity_bandits.policies import Elimination",
        "from affinity_bandits.policies import RoundPolicy, Uniform as Turns",
        "from affinity_bandits import UCB1",
        "from affinity_bandits.policies import *",
        "from affinity_bandits.policies import elimination",
        "from affinity_bandits.policies.head_start import LOOKS",
        "import affinity_bandits.policies.baselines as told",
        "from ..policies import Oracle",
        "from ..policies.baselines import OracleState",
        "def late():\n    from affinity_bandits.policies import Uniform",
        "isinstance(policy, policies.Elimination)",
        "issubclass(kind, Known | policies.Elimination)",
        "type(policy) is affinity_bandits.policies.DebiasedUCBV",
        "import_module('affinity_bandits.policies.elimination')",
        "if policy.name == 'elimination': pass",
        "if policy.name in ('uniform', 'oracle'): pass",
        "POLICIES['elimination']",
        "match policy.name:\n    case 'ucb1' | 'moss': pass",
        "match policy:\n    case policies.Elimination(): pass",
    ],
)
def test_a_planted_question_is_found(code: str) -> None:
    assert len(told_apart(code)) >= 1


@pytest.mark.parametrize(
    "code",
    [
        "from affinity_bandits.policies import POLICIES, AsSteps, RoundPolicy",
        "from affinity_bandits.policies.contracts import RoundKernels",
        "from ..policies.explaining import LEADER",
        "isinstance(policy, RoundPolicy)",
        "POLICIES[name].information == 'feedback'",
        "DEFAULT = ('elimination', 'ucb1')",
        '"""isinstance(policy, policies.Elimination)"""',
    ],
)
def test_what_asks_the_contract_is_let_through(code: str) -> None:
    assert told_apart(code) == []
