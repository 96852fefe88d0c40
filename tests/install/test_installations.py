"""The wheel, installed plainly and with the extras of the service; pages run in both, too."""

from __future__ import annotations

import subprocess

import pytest

import affinity_bandits
from tests.support.environments import PLAIN, SERVICE, Needs, environment

pytestmark = pytest.mark.slow  # makes environments

SIMULATE = "simulate --means 0.4,0.6 --horizon 100 --replicates 2 --policy ucb1"


VERSION = "from importlib.metadata import version; print(version('affinity-bandits'))"


def printed_by(needs: Needs, program: str, *words: str) -> str:
    command = [environment(needs) / "bin" / program, *words]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def test_a_plain_installation_simulates() -> None:
    assert "ucb1" in printed_by(PLAIN, "affinity", *SIMULATE.split())


def test_an_installation_is_found_by_name_and_version() -> None:
    for words in (("python", "-c", VERSION), ("affinity", "--version")):
        assert printed_by(PLAIN, *words).strip() == affinity_bandits.__version__


def test_an_installation_has_no_more_than_was_asked_for() -> None:
    (packages,) = environment(PLAIN).glob("lib/python*/site-packages")
    there = {path.name for path in packages.iterdir()}
    assert "numba" in there
    assert not there & {"asyncpg", "fastapi", "httpx", "matplotlib", "pyarrow", "pytest", "ray"}


def test_the_service_starts_where_only_its_extras_are() -> None:
    assert "--port" in printed_by(SERVICE, "affinity", "serve", "--help")
