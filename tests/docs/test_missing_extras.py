"""Without extras: whatever needs one says in one line which, and nothing ends in a traceback."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from typer.main import get_command

from affinity_bandits.cli.app import app
from affinity_bandits.service import NEEDED
from tests.docs.environments import ROOT, environment
from tests.docs.pages import Needs

slow = pytest.mark.slow  # makes an environment

INSTANCE = "--means 0.4,0.6 --horizon 100 --replicates 2"
CAMPAIGN = "04fb60b3-1b4b-4ba1-a528-32b9962d4532"
WORKS = None
COMMANDS = {
    f"simulate {INSTANCE}": WORKS,
    f"simulate {INSTANCE} --plot regret.png": "plot",
    "plan --groups 2 --horizon 1e4 --smallest-difference 0.3 --head-start 10 --plot p.png": "plot",
    "policies": WORKS,
    "biases": WORKS,
    "paper list": WORKS,
    "paper show figure-3": WORKS,
    "paper run figure-3 --quick": "plot",
    "sweep run s.toml": "experiments",
    "sweep status s.toml": WORKS,
    "sweep show s.toml": "plot",
    "sweep export s.toml cells.csv": WORKS,
    "sweep export s.toml cells.parquet": "experiments",
    "serve": "service",
    "serve migrate": "service",
    f"serve verify {CAMPAIGN}": "service",
    "serve keys add --tenant a --name b --scopes ask": "service",
    "serve keys list": "service",
    "serve keys revoke 0123456789abcdef": "service",
}
"""Every command, and the extra that it asks for first."""
SWEEP = """
replicates = 1
axes.policy = ["ucb1"]
axes.horizon = [100, 200]
fixed."bandit.true_means" = [0.4, 0.6]
"""


def leaves(command: object, *path: str) -> set[str]:
    inner = getattr(command, "commands", {})
    return {leaf for name in inner for leaf in leaves(inner[name], *path, name)} or {" ".join(path)}


def test_every_command_is_tried() -> None:
    wanted = leaves(get_command(app)) | {"serve"}
    assert {
        name for name in wanted if not any(given.startswith(name) for given in COMMANDS)
    } == set()


def tried(needs: Needs, words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "s.toml").write_text(SWEEP, encoding="utf-8")
    (folder / "s.store").mkdir()  # so that the commands that look at one go on
    return subprocess.run(
        [environment(needs) / "bin" / "affinity", *words.split()],
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@slow
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_works_or_names_its_extra_in_one_line(words: str, tmp_path: Path) -> None:
    done = tried(Needs(), words, tmp_path)
    extra = COMMANDS[words]
    if extra is WORKS:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 2
    said = rf"affinity: \w+ is not installed; install it with: pip install '{named(extra)}'\n"
    assert re.fullmatch(said, done.stderr)


def named(extra: str) -> str:
    return re.escape(f"affinity-bandits[{extra}]")


@slow
@pytest.mark.parametrize("words", ["paper run figure-3 --quick", "sweep run s.toml"])
def test_ray_is_asked_for_by_those_who_ask_for_it(words: str, tmp_path: Path) -> None:
    needs = Needs(("experiments", "plot"))
    done = tried(needs, f"{words} --executor ray", tmp_path)
    assert done.stderr == f"affinity: {missing('ray', 'ray')}\n"


def missing(package: str, extra: str) -> str:
    return f"{package} is not installed; install it with: pip install 'affinity-bandits[{extra}]'"


def documented_modules() -> list[str]:
    """Every module that the reference or a page's example names."""
    found: set[str] = set()
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"(?:automodule::|from|import) (affinity_bandits[\w.]*)", text))
        members = re.findall(r"auto(?:class|function):: (affinity_bandits[\w.]*)", text)
        found |= {name.rpartition(".")[0] for name in members}
    return sorted(found)


IMPORTS = """
import importlib, sys
from affinity_bandits.errors import MissingExtra
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except MissingExtra as error:
        print(name, error)
"""


@slow
def test_what_the_docs_import_is_there_or_names_its_extra() -> None:
    names = documented_modules()
    assert {"affinity_bandits.client", "affinity_bandits.service.verify"} <= set(names)
    done = subprocess.run(
        [environment(Needs()) / "bin" / "python", "-c", IMPORTS, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    refused = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    for name, said in refused.items():
        room = name.split(".")[1]
        assert room in ("client", "service")
        assert said.endswith(f"pip install 'affinity-bandits[{room}]'")


def test_the_service_looks_for_all_that_its_extra_installs() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extra = tomllib.load(file)["project"]["optional-dependencies"]["service"]
    modules = {Requirement(line).name.lower().replace("-", "_") for line in extra}
    assert set(NEEDED) == modules
