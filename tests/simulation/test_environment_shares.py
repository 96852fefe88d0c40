"""A subclass of `Environment` that has other shares gives the feedback of those shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Environment, Gaussian, Power
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray

# Shifted by mu (f(x) - 1) = 2 (x - 1): feedback shows the share to the bit of its noise.
BANDIT = AffinityBandit(
    [2.0, 2.0], bias=Power(1.0), initial_pulls=[3, 1], noise=Gaussian(1e-9), mechanism="shifted"
)


class Swapped(Environment):
    """The judges of each arm are those of the other."""

    def shares(self) -> FloatArray:
        return super().shares()[::-1]


def test_the_shares_of_a_subclass_are_used() -> None:
    plain, swapped = Environment(BANDIT, seed=1), Swapped(BANDIT, seed=1)
    expected = {Environment: [3 / 4, 1 / 5, 4 / 6], Swapped: [1 / 4, 4 / 5, 2 / 6]}
    for environment in (plain, swapped):
        seen = [environment.pull(arm) for arm in (0, 1, 0)]
        # The noise is 1e-9: ten deviations.
        assert np.allclose(seen, 2.0 * np.array(expected[type(environment)]), atol=1e-8, rtol=0.0)


def test_so_are_those_that_are_set_on_an_environment() -> None:
    environment: Any = Environment(BANDIT)
    environment.shares = lambda: [0.5, 1.0]
    assert environment.pull(1) == pytest.approx(2.0, abs=1e-8)
    assert environment.pull(0) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("wrong", [[0.5], [0.5, 1.5], [0.5, -0.1], [0.5, float("nan")], 0.5, "ab"])
def test_what_is_no_shares_is_refused(wrong: Any) -> None:
    environment: Any = Environment(BANDIT)
    environment.shares = lambda: wrong
    with pytest.raises(InvalidInput, match="shares"):
        environment.pull(1)
