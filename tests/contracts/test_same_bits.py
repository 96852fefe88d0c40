"""A run is a pure function of (bandit, policy, horizon, seed, replicate): the same bits always."""

from __future__ import annotations

import json

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Clipped, Gaussian, Power, simulate
from affinity_bandits.policies import POLICIES
from tests.support.instances import policy_examples
from tests.support.processes import run_python

BANDIT = AffinityBandit(
    [0.35, 0.6, 0.5],
    bias=Clipped(Power(1.5), low=0.05),
    initial_pulls=[40, 10, 25],
    noise=Gaussian(0.5),
    mechanism="gated",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_replicates_do_not_depend_on_their_neighbors(name: str) -> None:
    """Together, one at a time, in parts, and beside another policy."""
    policy = policy_examples(name, BANDIT)[0]
    together = simulate(BANDIT, policy, 500, replicates=9, seed=2)
    alone = [
        simulate(BANDIT, policy, 500, replicates=1, seed=2, first_replicate=r) for r in range(9)
    ]
    np.testing.assert_array_equal(together.pulls, np.concatenate([a.pulls for a in alone], axis=1))
    beside = simulate(BANDIT, {"other": "thompson-beta", "this": policy}, 500, 9, seed=2)
    np.testing.assert_array_equal(beside.pulls[1], together.pulls[0])
    np.testing.assert_array_equal(beside.candidates[1], together.candidates[0])


@pytest.mark.slow
def test_a_second_process_finds_the_same() -> None:
    program = (
        "from tests.contracts.test_same_bits import BANDIT; from affinity_bandits import simulate; "
        "print(simulate(BANDIT, ['ucb1', 'exp3', 'elimination'], 2000, 5, seed=4).pulls.tolist())"
    )
    other = run_python("-c", program)
    here = simulate(BANDIT, ["ucb1", "exp3", "elimination"], 2000, 5, seed=4)
    assert json.loads(other.stdout) == here.pulls.tolist()


@pytest.mark.slow
def test_checkpoints_do_not_change_a_run() -> None:
    few = simulate(BANDIT, ["ucb1", "elimination"], 3000, 4, seed=1, checkpoints=[7, 2999])
    many = simulate(BANDIT, ["ucb1", "elimination"], 3000, 4, seed=1, checkpoints=range(1, 3001))
    np.testing.assert_array_equal(few.pulls, many.pulls[:, :, [6, 2998, 2999]])
    assert (many.pulls.sum(axis=-1) == many.checkpoints).all()
