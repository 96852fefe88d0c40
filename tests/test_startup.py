"""A second simulation starts quickly, because its compiled loop is cached.

Measured in CPU time, as a multiple of importing numpy in the same minute: a busy machine slows
both. A small simulation takes 10 to 12 times as long as that import; the limit leaves a third.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checks.bench.startup import COMMAND, SMALL, least, program, seconds

pytestmark = pytest.mark.slow  # starts processes and compiles

SIMULATION = 20.0
NUMPY = "import numpy"


def test_the_second_small_simulation_starts_quickly() -> None:
    numpy, simulate = least(program(NUMPY), program(COMMAND, *SMALL), repetitions=3)
    assert simulate < SIMULATION * numpy


def test_a_simulation_that_compiles_again_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (numpy,) = least(program(NUMPY), repetitions=3)
    monkeypatch.setitem(os.environ, "NUMBA_CACHE_DIR", str(tmp_path))
    assert seconds(program(COMMAND, *SMALL)) > SIMULATION * numpy
