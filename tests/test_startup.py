"""Nobody waits for what they do not use.

Measured in time of the processor, not on the clock, and as a multiple of importing numpy in the
same minute: a busy machine slows both. At the time of writing the import of a policy takes 1.8
times what numpy's does, that of the package 0.2, and the second small simulation 10 to 12 times;
each limit leaves a third to spare.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bench.startup import COMMAND, POLICY, SMALL, least, program, seconds

pytestmark = pytest.mark.slow  # each test starts processes or compiles

PACKAGE = 0.4
IMPORT = 2.5
SIMULATION = 20.0
NUMPY = "import numpy"


def times_numpy(statement: str) -> float:
    """How many times as long as numpy a statement takes, without the interpreter's start."""
    nothing, numpy, this = least(program("pass"), program(NUMPY), program(statement))
    return (this - nothing) / (numpy - nothing)


def test_importing_costs_less_than_numpy() -> None:
    assert times_numpy("import affinity_bandits") < PACKAGE


def test_the_model_and_the_policies_cost_little_more_than_numpy() -> None:
    assert times_numpy(POLICY) < IMPORT


def test_a_heavy_import_is_seen() -> None:
    assert times_numpy(f"{POLICY}; import scipy.stats") > IMPORT
    assert times_numpy("import affinity_bandits, numpy") > PACKAGE


def test_the_second_small_simulation_starts_quickly() -> None:
    numpy, simulate = least(program(NUMPY), program(COMMAND, *SMALL), repetitions=3)
    assert simulate < SIMULATION * numpy


def test_a_simulation_that_compiles_again_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (numpy,) = least(program(NUMPY), repetitions=3)
    monkeypatch.setitem(os.environ, "NUMBA_CACHE_DIR", str(tmp_path))
    assert seconds(program(COMMAND, *SMALL)) > SIMULATION * numpy
