"""The first use of a policy: it says that it compiles, and progress does not count that as work.

Each test runs processes of its own on a cache of its own, where nothing is compiled yet.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.processes import run_python
from tests.support.quiet import without_heartbeat

pytestmark = pytest.mark.slow

COMMAND = (
    "from affinity_bandits.base import progress; progress.SOON = progress.EVERY = 0.02; "
    "from affinity_bandits.cli import main; main()"
)
SMALL = ("simulate", "--means", "0.4,0.6", "--policy", "ucb1", "--horizon", "100")
PROGRESS = """
import json, time
{change}
from affinity_bandits import AffinityBandit, simulate
seen = [(time.process_time(), 0.0)]
told = lambda part: seen.append((time.process_time(), part))
simulate(AffinityBandit([0.4, 0.6]), ["ucb1"], 1_000_000, 30, progress=told)
print(json.dumps(seen))
"""
IN_THE_LOOP = """
import affinity_bandits.simulation.engines as engines
engines.StepEngine.compile = lambda self: None
"""


def test_compiling_is_reported_and_done_once(tmp_path: Path) -> None:
    first = run_python("-c", COMMAND, *SMALL, NUMBA_CACHE_DIR=str(tmp_path))
    compiled = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    second = run_python("-c", COMMAND, *SMALL, NUMBA_CACHE_DIR=str(tmp_path))
    assert "compiling once for this machine, " in first.stderr
    assert "compiling" not in second.stderr
    assert compiled
    assert compiled == {path: path.stat().st_mtime_ns for path in compiled}
    assert without_heartbeat(first.stderr) == without_heartbeat(second.stderr) == ""
    assert second.stdout == first.stdout


def expected_and_taken(cache: Path, change: str = "") -> tuple[float, float]:
    """How long it takes in all, as estimated after the first tenth, and as it was."""
    seen = json.loads(
        run_python("-c", PROGRESS.format(change=change), NUMBA_CACHE_DIR=str(cache)).stdout
    )
    marks = [(at, part) for at, part in seen[1:] if part == 0.0] or seen[:1]
    began = marks[-1][0]
    at, part = next((at, part) for at, part in seen if part >= 0.1)
    return (at - began) / part, seen[-1][0] - began


def test_estimates_after_the_first_tenth_are_right_within_a_factor_of_two(tmp_path: Path) -> None:
    """In time of the processor, so that what others do on the machine does not count."""
    expected, taken = expected_and_taken(tmp_path)
    assert taken / 2.0 < expected < 2.0 * taken


def test_a_loop_that_compiles_at_its_first_pull_is_seen(tmp_path: Path) -> None:
    """The negative control: as it was, the first part of the work seems to take seconds."""
    expected, taken = expected_and_taken(tmp_path, IN_THE_LOOP)
    assert expected > 2.0 * taken
