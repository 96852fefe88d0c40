"""Whoever only calls the service, or only runs it, installs little, and it works there."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

import affinity_bandits
from tests.support.clients import Service
from tests.support.databases import made_database
from tests.support.elsewhere import VARIABLE
from tests.support.environments import (
    CLIENT,
    FOR_TESTS,
    ROOT,
    SERVICE,
    SIMULATION,
    Needs,
    copied,
    environment,
    pip,
    wheels,
)
from tests.support.served import served, until

pytestmark = pytest.mark.slow  # makes environments

MEGABYTE = 10**6
KEYS = 12
"""Fewer than the tests of the client use, so that the command makes some as well."""
SIMULATOR = {"llvmlite", "matplotlib", "numba", "pandas", "pyarrow", "ray", "scipy", "xarray"}
SERVER = {"asyncpg", "fastapi", "numpy", "typer", "uvicorn"}
CLIENT_TESTS = (
    "tests/client/test_client.py",
    "tests/client/test_client_imports.py",
    "tests/client/test_client_tries.py",
)
SERVICE_TESTS = (
    "tests/service/core/test_campaigns.py",
    "tests/service/core/test_keys.py",
    "tests/service/core/test_scores.py",
)


def site_packages(place: Path) -> Path:
    (found,) = place.glob("lib/python*/site-packages")
    return found


@pytest.mark.parametrize(
    ("needs", "megabytes", "absent"),
    [(CLIENT, 20, SIMULATOR | SERVER), (SERVICE, 150, SIMULATOR | {"httpx"})],
    ids=["client", "service"],
)
def test_an_environment_is_small(needs: Needs, megabytes: int, absent: set[str]) -> None:
    place = environment(needs)  # has no pip
    packages = site_packages(place)
    # As pip leaves it: the harness does without compiling. Bytecode names its source by its path,
    # and the size must not depend on where this checkout is: it says a usual one.
    command = [place / "bin" / "python", "-m", "compileall", "-q", "-f", "-s", place, "-p", "/venv"]
    subprocess.run([*command, packages], check=True, capture_output=True)
    assert {path.name for path in packages.iterdir()} & absent == set()
    sizes = Counter[str]()
    for path in packages.rglob("*"):
        if path.is_file():
            sizes[path.relative_to(packages).parts[0]] += path.stat().st_size
    assert sizes.total() < megabytes * MEGABYTE, sizes.most_common(8)


def test_the_client_passes_its_tests_there_against_a_service_that_runs_in_the_other() -> None:
    affinity = str(environment(SERVICE) / "bin" / "affinity")
    with made_database(f"affinity_install_{os.getpid()}") as dsn:
        migrate = [affinity, "serve", "--dsn", dsn, "migrate"]
        subprocess.run(migrate, check=True, capture_output=True)
        with served(dsn, "--quiet", command=[affinity]) as server:
            until("ready", lambda: httpx.get(f"{server.url}/readyz").status_code == 200)
            supply = [Service(server.url, dsn).key() for _ in range(KEYS)]
            there = {"url": server.url, "dsn": dsn, "command": affinity, "keys": supply}
            passes(CLIENT, CLIENT_TESTS, **{VARIABLE: json.dumps(there)})


def test_the_service_passes_tests_of_its_core_there() -> None:
    passes(SERVICE, SERVICE_TESTS)


def passes(needs: Needs, tests: tuple[str, ...], **variables: str) -> None:
    """Run tests where nothing is installed but this and what runs tests."""
    python = environment(Needs(needs.extras, FOR_TESTS)) / "bin" / "python"
    kept = {name: os.environ[name] for name in ("AFFINITY_DSN", "PATH") if name in os.environ}
    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *tests],
        cwd=ROOT,
        env={**kept, **variables, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_affinity_bandits_is_the_core_with_the_simulator_and_forwards_its_extras(
    tmp_path: Path,
) -> None:
    core, named = wheels(tmp_path)
    this = f"=={affinity_bandits.__version__}"
    asked = requirements(named, tmp_path / "named")
    assert asked.pop("") == {f"affinity-bandits-core[simulation]{this}"}
    extras = set(requirements(core, tmp_path / "core"))
    assert "" not in extras  # nothing is needed by all
    assert asked == {extra: {f"affinity-bandits-core[{extra}]{this}"} for extra in extras}
    place = copied(SIMULATION, tmp_path / "environment")
    pip(place, "install", "--no-index", "--find-links", tmp_path, "affinity-bandits")
    pip(place, "check")
    words = "simulate --means 0.4,0.6 --horizon 100 --replicates 2 --policy ucb1"
    done = subprocess.run(
        [place / "bin" / "affinity", *words.split()], check=True, text=True, capture_output=True
    )
    assert "ucb1" in done.stdout


def requirements(wheel: Path, folder: Path) -> dict[str, set[str]]:
    """What a wheel asks for, by extra; "" is what it always does."""
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    (info,) = folder.glob("*.dist-info")
    found: dict[str, set[str]] = {}
    for line in metadata.PathDistribution(info).requires or ():
        what, _, marker = line.partition("; extra == ")
        found.setdefault(marker.strip("'\""), set()).add(what)
    return found
