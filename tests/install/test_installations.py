"""The wheel, installed plainly and to study; pages run there, too.

`packages/*/tests/test_package.py` install the other packages.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import affinity_bandits
from affinity_bandits.policies import POLICIES
from tests.support.environments import PLAIN, ROOT, STUDY, Needs, environment

pytestmark = pytest.mark.slow  # makes environments

SIMULATE = "simulate --means 0.4,0.6 --horizon 100 --replicates 2 --policy ucb1"


VERSION = "from importlib.metadata import version; print(version('affinity-bandits'))"


def printed_by(needs: Needs, program: str, *words: str) -> str:
    command = [environment(needs) / "bin" / program, *words]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def test_an_installation_to_study_simulates() -> None:
    assert "ucb1" in printed_by(STUDY, "affinity", *SIMULATE.split())


STUDIES = {"numba", "llvmlite", "scipy", "xarray", "pandas"}
"""Packages of the extra `study`."""
TOLD = ("debiased-ucb-v", "oracle", "weighted-ucb")
"""Policies that must be told facts of the model, so that nobody can run them live."""
RUN = """
import sys
import numpy as np
from affinity_bandits import Live
from affinity_bandits.policies import POLICIES
for name in sorted(POLICIES):
    if name in sys.argv:
        continue
    live = Live(next(iter(POLICIES[name].examples()), None) or POLICIES[name](), 3, 300)
    generator = np.random.default_rng(3)
    chosen = []
    for _ in range(300):
        if live.awaits_judges:
            live.meet([4, 4, 4])
        chosen.append(live.ask())
        live.tell(chosen[-1], float(generator.random() < (0.4, 0.6, 0.5)[chosen[-1]]))
    print(name, *chosen)
"""


def test_every_policy_runs_in_a_plain_installation() -> None:
    """The service and its image need no more: a policy takes numpy alone."""
    printed = printed_by(PLAIN, "python", "-c", RUN, *TOLD)
    assert [line.split()[0] for line in printed.splitlines()] == sorted(set(POLICIES) - set(TOLD))
    assert printed == printed_by(STUDY, "python", "-c", RUN, *TOLD)


def test_an_installation_is_found_by_name_and_version() -> None:
    for words in (("python", "-c", VERSION), ("affinity", "--version")):
        assert printed_by(PLAIN, *words).strip() == affinity_bandits.__version__


def test_an_installation_has_no_more_than_was_asked_for() -> None:
    (packages,) = environment(PLAIN).glob("lib/python*/site-packages")
    there = {path.name for path in packages.iterdir()}
    assert "numpy" in there
    assert not there & STUDIES
    assert not there & {"asyncpg", "fastapi", "httpx2", "matplotlib", "pyarrow", "pytest", "ray"}
    assert sum(path.stat().st_size for path in packages.rglob("*")) < 120e6


@pytest.mark.parametrize("page", ["README.md", "docs/start/install.md"])
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
