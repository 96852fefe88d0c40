"""The executor on Ray uses a cluster that Ray is connected to, and leaves it running."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from affinity_bandits.experiments import (
    RayExecutor,
)
from tests.experiments.conftest import content


@pytest.mark.nightly
@pytest.mark.one_at_a_time("ray")
@pytest.mark.slow
def test_a_cluster_that_ray_is_connected_to_is_used_and_left_alone(
    tmp_path: Path, expected: str
) -> None:
    import ray

    ray.init("local", num_cpus=1, log_to_driver=False, logging_level=logging.ERROR)
    try:
        assert content(tmp_path, RayExecutor(), 17) == expected
        assert ray.is_initialized()
    finally:
        ray.shutdown()
