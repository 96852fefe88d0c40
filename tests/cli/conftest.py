"""Runners of `affinity plan`, with caches that nobody else uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from .plan_runner import InsideRunner, Runner


@pytest.fixture(scope="module")
def affinity(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """The command, with a cache that tests share."""
    return Runner(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def inside(tmp_path: Path) -> Runner:
    """The command in this process, with a cache that has nothing in it."""
    return InsideRunner(tmp_path / "cache")
