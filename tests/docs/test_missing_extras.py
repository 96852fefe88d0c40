"""What needs a package that is not there says in one line what to install, without a traceback."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from typer.main import get_command

from affinity_bandits.cli.app import app
from affinity_bandits.errors import MissingExtra
from affinity_bandits.extras import NEEDED
from tests.docs.pages import EVERY_PAGE, parse_pip
from tests.support.environments import ROOT, SIMULATION, Needs, environment
from tests.support.quiet import quiet

slow = pytest.mark.slow  # makes an environment

INSTANCE = "--means 0.4,0.6 --horizon 100 --replicates 2"
CAMPAIGN = "04fb60b3-1b4b-4ba1-a528-32b9962d4532"
WORKS = None
COMMANDS = {
    f"simulate {INSTANCE}": WORKS,
    f"simulate {INSTANCE} --plot regret.png": "plot",
    "show": WORKS,
    "show --out loop.png": "plot",
    "plan --groups 2 --scale 0..1 --budget 1e4 --difference 0.3 --plot p.png": "plot",
    "audit log.csv --scale 1..5 --committee a:1,b:2 --report r.html": "audit",
    "policies": WORKS,
    "biases": WORKS,
    "noises": WORKS,
    "paper list": WORKS,
    "paper show figure-3": WORKS,
    "paper run figure-3 --quick": "plot",
    "study list": WORKS,
    "study show horizon": WORKS,
    "study run horizon --quick": "plot",
    "sweep run s.toml": "experiments",
    "sweep status s.toml": WORKS,
    "sweep show s.toml": "plot",
    "sweep export s.toml cells.csv": WORKS,
    "sweep export s.toml cells.parquet": "experiments",
    "serve": "service",
    "serve migrate": "service",
    "serve settings": "service",
    "serve roles": "service",
    f"serve archive {CAMPAIGN} --out folder": "service",
    "serve delete-tenant a --confirm a": "service",
    "serve removals": "service",
    f"serve verify {CAMPAIGN}": "service",
    f"serve export {CAMPAIGN} --out t.csv": "service",
    f"serve digest {CAMPAIGN}": "service",
    "serve keys add --tenant a --name b --scopes ask": "service",
    "serve keys list": "service",
    "serve keys revoke 0123456789abcdef": "service",
}
"""Every command, and the extra that it asks for first where the simulator is installed."""
NOTHING = Needs()
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
    done = subprocess.run(
        [environment(needs) / "bin" / "affinity", *words.split()],
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return quiet(done)


@slow
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_works_or_names_its_extra_in_one_line(words: str, tmp_path: Path) -> None:
    done = tried(SIMULATION, words, tmp_path)
    extra = COMMANDS[words]
    if extra is WORKS:
        assert done.returncode == 0, done.stderr
        return
    assert_names(done, extra)


@slow
@pytest.mark.parametrize("words", [*COMMANDS, "--help", "--version", ""])
def test_without_any_package_a_command_names_what_it_needs(words: str, tmp_path: Path) -> None:
    done = tried(NOTHING, words, tmp_path)
    assert_names(done, "service" if words.startswith("serve") else "simulation")


@slow
@pytest.mark.parametrize("words", [name for name in COMMANDS if not name.startswith("serve")])
def test_where_only_the_service_is_installed_the_simulator_is_asked_for(
    words: str, tmp_path: Path
) -> None:
    done = tried(Needs(("service",)), words, tmp_path)
    if words in ("policies", "biases", "noises"):  # the service has the policies, and numpy
        assert done.returncode == 0, done.stderr
        return
    # A plan needs the simulator before anybody looks for what draws it.
    drawn = words.startswith("simulate") and "--plot" in words
    assert_names(done, "plot" if drawn else "simulation")


def assert_names(done: subprocess.CompletedProcess[str], extra: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    package, _, rest = done.stderr.removeprefix("affinity: ").partition(" ")
    assert package.isidentifier(), done.stderr
    assert rest == f"is not installed; install it with: pip install {TO_INSTALL[extra]}\n"


TO_INSTALL = {
    "client": "'affinity-bandits-core[client]'",
    "service": "'affinity-bandits-core[service]'",
    "simulation": "affinity-bandits",
    "plot": "'affinity-bandits[plot]'",
    "audit": "'affinity-bandits[audit]'",
    "experiments": "'affinity-bandits[experiments]'",
    "gym": "'affinity-bandits[gym]'",
    "otel": "'affinity-bandits-core[service,otel]'",
    "ray": "'affinity-bandits[ray]'",
}


@slow
@pytest.mark.parametrize("words", ["paper run figure-3 --quick", "sweep run s.toml"])
def test_ray_is_asked_for_by_those_who_ask_for_it(words: str, tmp_path: Path) -> None:
    needs = Needs(("experiments", "plot", "simulation"))
    assert_names(tried(needs, f"{words} --executor ray", tmp_path), "ray")


def test_what_a_message_says_to_install_is_there_to_install() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    assert set(TO_INSTALL) == set(extras) - {"docs", "dev"}
    for extra, words in TO_INSTALL.items():
        assert str(MissingExtra("x", extra)).endswith(f"pip install {words}")
        assert parse_pip(f"pip install {words}").covers(Needs((extra,)))


def documented_modules() -> list[str]:
    """Every module that the reference or a page's example names."""
    found: set[str] = set()
    for path in EVERY_PAGE:
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


def refused(needs: Needs) -> dict[str, str]:
    """What is said to whoever imports each documented module where it cannot be had."""
    names = documented_modules()
    assert {"affinity_bandits.client", "affinity_bandits.service.trail.verify"} <= set(names)
    done = subprocess.run(
        [environment(needs) / "bin" / "python", "-c", IMPORTS, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


OF_THEIR_OWN = ("client", "gym", "service")
"""Rooms that need an extra of the same name."""


@slow
@pytest.mark.parametrize(
    ("needs", "there"),
    [
        (NOTHING, {"errors"}),
        (Needs(("client",)), {"errors", "client"}),
        (
            Needs(("service",)),
            {
                *("errors", "service", "bandit", "bias", "catalogue", "feedback", "noise"),
                *("policies", "theory"),
            },
        ),
        (SIMULATION, None),
    ],
    ids=lambda given: "-".join(given.extras) if isinstance(given, Needs) else "",
)
def test_what_the_docs_import_is_there_or_names_its_extra(
    needs: Needs, there: set[str] | None
) -> None:
    rooms = {name.partition(".")[2].partition(".")[0] for name in documented_modules()} - {""}
    missing = set(OF_THEIR_OWN) if there is None else rooms - there
    said = refused(needs)
    assert {name.split(".")[1] for name in said} == missing
    for name, words in said.items():
        room = name.split(".")[1]
        extra = room if room in OF_THEIR_OWN else "simulation"
        assert words.endswith(f"pip install {TO_INSTALL[extra]}")


@pytest.mark.parametrize("extra", NEEDED)
def test_what_an_extra_installs_is_what_its_rooms_look_for(extra: str) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        lines = tomllib.load(file)["project"]["optional-dependencies"][extra]
    modules = {Requirement(line).name.lower().replace("-", "_") for line in lines}
    assert set(NEEDED[extra]) == modules
