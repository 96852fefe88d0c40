"""Without the packages of an extra, commands and imports name the extra in one line."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from affinity_bandits.cli.app import app
from tests.docs.pages import EVERY_PAGE, parse_pip
from tests.support.environments import (
    CLIENT,
    FOLDERS,
    ROOT,
    SERVICE,
    Needs,
    declared,
    extras,
    installed,
    normal,
    variables,
    with_dependencies,
)
from tests.support.quiet import without_heartbeat

INSTANCE = "--means 0.4,0.6 --horizon 100 --replicates 2"
CAMPAIGN = "04fb60b3-1b4b-4ba1-a528-32b9962d4532"
WORKS = None
UNASKED = ("docs", "dev")
"""Extras that no message names."""
COMMANDS = {
    f"simulate {INSTANCE}": "study",
    f"simulate {INSTANCE} --plot regret.png": "plot",
    "show": WORKS,
    "show --out loop.png": "plot",
    "plan --groups 2 --scale 0..1 --budget 1e4 --difference 0.3 --plot p.png": "plot",
    "audit log.csv --scale 1..5 --report r.html": "audit",
    "app --no-browser": "app",
    "warm": "study",
    "policies": WORKS,
    "biases": WORKS,
    "noises": WORKS,
    "paper list": WORKS,
    "paper show figure-3": WORKS,
    "paper run figure-3 --quick": "plot",
    "sweep run s.toml": "experiments",
    "sweep status s.toml": "experiments",
    "sweep show s.toml": "experiments",
    "sweep export s.toml cells.csv": "experiments",
    "sweep export s.toml cells.parquet": "experiments",
    "serve": SERVICE,
    "serve migrate": SERVICE,
    "serve settings": SERVICE,
    "serve roles": SERVICE,
    f"serve archive {CAMPAIGN} --out folder": SERVICE,
    "serve delete-tenant a --confirm a": SERVICE,
    "serve removals": SERVICE,
    "serve quotas a": SERVICE,
    f"serve verify {CAMPAIGN}": SERVICE,
    f"serve export {CAMPAIGN} --out t.csv": SERVICE,
    f"serve digest {CAMPAIGN}": SERVICE,
    "serve keys add --tenant a --name b --scopes ask": SERVICE,
    "serve keys list": SERVICE,
    "serve keys revoke 0123456789abcdef": SERVICE,
}
"""Every command, and the extra that it asks for in a plain installation."""
WITH_RAY = {
    "paper run figure-3 --quick --executor ray": "ray",
    "sweep run s.toml --executor ray": "ray",
}
SWEEP = """
replicates = 1
axes.policy = ["ucb1"]
axes.horizon = [100, 200]
fixed."bandit.true_means" = [0.4, 0.6]
"""
ONE_PROCESS = """
import contextlib, importlib, io, json, sys
from affinity_bandits.cli import main
from affinity_bandits.base.errors import MissingExtra
asked = json.loads(sys.argv[1])
answers = {}
for words in asked["commands"]:
    sys.argv = ["affinity", *words.split()]
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    answers[words] = status, out.getvalue(), err.getvalue()
for name in asked["modules"]:
    try:
        importlib.import_module(name)
    except MissingExtra as error:
        answers[name] = 2, "", f"affinity: {error}\\n"
print(json.dumps(answers))
"""


def answers(needs: Needs, folder: Path, **asked: list[str]) -> dict[str, tuple[int, str, str]]:
    """Return status, output and errors of commands, and of imports that fail, in one process."""
    (folder / "s.toml").write_text(SWEEP, encoding="utf-8")
    (folder / "s.store").mkdir()  # so that the commands that read a store go on
    done = subprocess.run(
        [sys.executable, "-c", ONE_PROCESS, json.dumps({"commands": [], "modules": [], **asked})],
        cwd=folder,
        env={"HOME": str(folder), **variables(needs)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[int, str, str]] = json.loads(done.stdout)
    return found


def check(answer: tuple[int, str, str], extra: str | None) -> None:
    status, printed, said = answer
    if extra is WORKS:
        assert status == 0, said
        return
    asked = ". ./packages/client ./packages/service" if extra == SERVICE else f'".[{extra}]"'
    words = (
        rf"affinity: [\w-]+ is not installed; .*: pip install {re.escape(asked)}"
        r" in a checkout .*\n"
    )
    assert (status, printed) == (2, "")
    assert re.fullmatch(words, without_heartbeat(said)), said


def leaves(command: object, *path: str) -> set[str]:
    inner = getattr(command, "commands", {})
    return {leaf for name in inner for leaf in leaves(inner[name], *path, name)} or {" ".join(path)}


def test_every_command_is_tried() -> None:
    for name in leaves(get_command(app)):
        assert any(words.startswith(name) for words in COMMANDS), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("needs", "commands"), [(Needs(), COMMANDS), (Needs(("experiments", "plot")), WITH_RAY)]
)
def test_a_command_works_or_names_its_extra_in_one_line(
    needs: Needs, commands: dict[str, str | None], tmp_path: Path
) -> None:
    found = answers(needs, tmp_path, commands=list(commands))
    for words, extra in commands.items():
        check(found[words], extra)


def documented_modules() -> set[str]:
    """Return every module that the reference or a page's example names."""
    found: set[str] = set()
    for path in EVERY_PAGE:
        text = path.read_text(encoding="utf-8")
        found |= set(
            re.findall(r"(?:automodule::|from|import) (affinity_bandits(?!_)[\w.]*)", text)
        )
        members = re.findall(r"auto(?:class|function):: (affinity_bandits(?!_)[\w.]*)", text)
        found |= {name.rpartition(".")[0] for name in members}
    return found


@pytest.mark.slow
def test_documented_modules_import_or_name_the_extra_of_their_room(tmp_path: Path) -> None:
    found = answers(Needs(), tmp_path, modules=sorted(documented_modules()))
    assert {name.split(".")[1] for name in found} == {"gym"}
    for name, answer in found.items():
        check(answer, name.split(".")[1])


@cache
def sources(distribution: str) -> dict[Path, ast.Module]:
    package = ROOT / FOLDERS[distribution] / "src"
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in package.rglob("*.py")}


def asked_installations() -> Iterator[tuple[Needs, str]]:
    """Every module that the code looks for, with what the message asks pip for."""
    for tree in [tree for one in FOLDERS for tree in sources(one).values()]:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            words = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
            function = ast.unparse(node.func)
            if function in ("need", "errors.need"):
                yield from ((Needs((words[0],)), module) for module in words[1:])
            elif function == "MissingExtra" and isinstance(node.args[0], ast.Constant):
                yield parse_pip(f"pip install {words[1]}"), words[0]


def test_what_a_message_says_to_install_is_there_to_install() -> None:
    asked = set(asked_installations())
    assert {extra for needs, _ in asked for extra in needs.extras} == set(extras()) - {*UNASKED}
    packages = {package for needs, _ in asked for package in needs.packages}
    assert packages == {CLIENT, SERVICE, *(f"{SERVICE}[{extra}]" for extra in extras(SERVICE))}
    for needs, module in asked:
        assert normal(module) in with_dependencies(*needs.packages).union(
            *(declared(extra) for extra in needs.extras)
        )


@pytest.mark.parametrize("distribution", FOLDERS)
def test_every_import_is_of_a_declared_package(distribution: str) -> None:
    owners = installed()
    users = [extra for extra in extras(distribution) if extra not in UNASKED]
    known = with_dependencies(
        distribution,
        *(name for extra in users for name in declared(extra, distribution)),
    )
    for path, tree in sources(distribution).items():
        if path.name == "adapters.py":  # of packages that whoever calls them has
            continue
        for node in ast.walk(tree):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            for name in {one.partition(".")[0] for one in names}:
                # IPython is there if a notebook runs the code, which it then asks, and the service
                # where `affinity serve` exists.
                if name not in (*sys.stdlib_module_names, "affinity_bandits_service", "IPython"):
                    packages = {normal(owner) for owner in owners[name]}
                    assert packages & known, f"{os.path.relpath(path, ROOT)} imports {name}"
