"""A sweep's content is the same whoever runs it, on how many machines, cut as they like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from affinity_bandits.experiments import (
    Executor,
    ProcessExecutor,
    RayExecutor,
    SerialExecutor,
)
from tests.experiments.conftest import content

RAY = [pytest.mark.nightly, pytest.mark.one_at_a_time("ray")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("executor", "shard_size"),
    [
        pytest.param(SerialExecutor, 17, id="serial"),
        pytest.param(lambda: ProcessExecutor(2), 17, id="processes"),
        pytest.param(lambda: RayExecutor(workers=2), None, id="ray", marks=RAY),
    ],
)
def test_whoever_runs_it(
    tmp_path: Path, expected: str, executor: Callable[[], Executor], shard_size: int | None
) -> None:
    assert content(tmp_path, executor(), shard_size) == expected
