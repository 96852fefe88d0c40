"""Figures 6 to 9: a rise is found, and chance is not taken for one."""

from __future__ import annotations

import numpy as np

from affinity_bandits.paper.algorithm_1 import never_rises


def test_a_rise_is_found_and_chance_is_not_taken_for_one() -> None:
    noise = np.random.default_rng(1).normal(size=(40, 50))
    risen = np.linspace(0.0, 5.0, 40)[:, None] + noise  # gaps descend, so pulls ascend
    assert never_rises(risen).holds
    risen[20] += 5.0
    assert not never_rises(risen).holds
