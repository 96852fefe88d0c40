"""Courses of two policies, for pages and for what they say."""

from __future__ import annotations

import pytest

from affinity_bandits import AffinityBandit, Power
from affinity_bandits.plots.loop import Course, course

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])


@pytest.fixture(scope="module")
def courses() -> list[Course]:
    return [
        course(BANDIT, policy, 2_000, name=policy, seed=3) for policy in ("ucb1", "elimination")
    ]
