"""The wheel, installed plainly and with the extras of the service; pages run in both, too."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import affinity_bandits
from tests.support.environments import PLAIN, ROOT, SERVICE, Needs, environment

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


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_the_printed_commands_make_an_environment_before_anything_is_installed(
    page: str, tmp_path: Path
) -> None:
    """Debian, Ubuntu and Homebrew refuse `pip install` outside of one."""
    text = (ROOT / page).read_text(encoding="utf-8")
    before_it = text.partition("$ pip install")[0]
    [commands] = re.findall(r"`(python3 -m venv [^`]+)`, then `([^`]+)`", before_it)
    asked = "python -c 'import sys; print(sys.prefix, sys.prefix != sys.base_prefix)'"
    command = " && ".join((*commands, asked))
    printed = subprocess.check_output(["bash", "-c", command], cwd=tmp_path, text=True)
    assert printed.split() == [str(tmp_path / ".venv"), "True"]


def test_the_service_starts_where_only_its_extras_are() -> None:
    assert "--port" in printed_by(SERVICE, "affinity", "serve", "--help")
