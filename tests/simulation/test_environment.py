"""The environment: shares of a subclass are used, and judges are told first and seated as said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Environment,
    Gaussian,
    InvalidInput,
    Live,
    Power,
)
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.policies import RoundPolicy
from tests.simulation.test_seating import CASES

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


@pytest.mark.parametrize("policy", [CASES["told"][2], CASES["panel"][2]])
def test_in_a_loop_of_ones_own_the_judges_are_told_first(policy: RoundPolicy) -> None:
    live = Live(policy, 2, 100)
    with pytest.raises(InvalidInput, match="before the first pull of a round"):
        live.ask()
    for wrong in ([3], [3, -1], "ab"):
        with pytest.raises(InvalidInput, match="judges"):
            live.meet(wrong)  # type: ignore[arg-type]
    live.meet([3, 1])
    assert not live.awaits_judges
    with pytest.raises(InvalidInput, match="told once"):
        live.meet([3, 1])
    arm = live.ask()
    live = Live.from_json(policy, live.to_json())
    assert live.ask() == arm
    live.tell(arm, 0.5)
    assert not live.awaits_judges


def test_the_leader_is_to_have_the_fewest_seats() -> None:
    live = Live(CASES["panel"][2], 2, 100)
    assert live.fewest_seats is None
    for _ in range(4):
        for arm in range(2):
            if live.awaits_judges:
                live.meet([1, 1])
            live.tell(live.ask(), float(arm))
    assert live.awaits_judges
    assert live.fewest_seats == 1
