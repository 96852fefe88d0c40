"""A run is a pure function of (bandit, policy, horizon, seed, replicate): the same bits always."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Clipped, Gaussian, Power, StepRun, simulate
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.model.streams import generator, stream_key
from affinity_bandits.policies import POLICIES
from affinity_bandits.policies.state import state_to_json
from affinity_bandits.simulation.draws import philox
from tests.support.instances import TOLD_JUDGES, policy_examples
from tests.support.processes import run_python

BANDIT = AffinityBandit(
    [0.35, 0.6, 0.5],
    bias=Clipped(Power(1.5), low=0.05),
    initial_pulls=[40, 10, 25],
    noise=Gaussian(0.5),
    mechanism="gated",
)
BOUNDED = AffinityBandit([0.35, 0.6, 0.5], bias=Power(1.0), initial_pulls=[40, 10, 25], memory=50)


def final_state(run: StepRun) -> str:
    return json.dumps([run.pulls.tolist(), state_to_json(run.state)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "segment"), list(zip(POLICIES, itertools.cycle([1, 7, 4096]), strict=False))
)
def test_cutting_a_run_into_segments_changes_nothing(name: str, segment: int) -> None:
    """Saved to JSON and resumed in a new object between any two segments."""
    bandit = BOUNDED if segment == 7 and name not in TOLD_JUDGES else BANDIT
    policy = policy_examples(name, bandit)[0]
    horizon = {1: 60, 7: 1_001, 4096: 20_000}[segment]
    whole = StepRun(bandit, policy, horizon, seed=3, replicate=5)
    whole.advance(horizon)
    cut = StepRun(bandit, policy, horizon, seed=3, replicate=5)
    while cut.clock < horizon:
        cut.advance(min(horizon, cut.clock + segment))
        cut = StepRun.from_json(bandit, policy, cut.to_json())
    assert final_state(cut) == final_state(whole)


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


@pytest.mark.slow
def test_a_million_replicates_have_a_million_streams() -> None:
    """By construction they read disjoint counters of one key; their first words differ, too.

    Were the streams random, two of 10**6 first words of 64 bits would agree with probability
    10**12 / 2 / 2**64 = 3e-8.
    """
    key = np.array(stream_key(0, "noise"), dtype=np.uint64)
    words = first_words(key, 10**6)
    assert len(np.unique(words)) == 10**6


def collect(key: np.ndarray, out: np.ndarray) -> None:
    for replicate in range(len(out)):
        out[replicate] = philox(key, np.uint64(replicate), np.uint64(0))[0]


def first_words(key: np.ndarray, replicates: int) -> np.ndarray:
    out = np.empty(replicates, dtype=np.uint64)
    compile_kernel(collect)(key, out)
    return out


def test_keys_differ_by_seed_role_and_policy() -> None:
    keys = {
        stream_key(seed, role, policy)
        for seed in (0, 1, 2**100)
        for role in ("noise", "gate", "round", "policy")
        for policy in (None, {"name": "ucb1"}, {"name": "exp3", "rate": 0.1})
    }
    assert len(keys) == 3 * 4 * 3


def test_a_policys_stream_is_numpys() -> None:
    first = generator(stream_key(1, "policy", {"name": "exp3"}), 3).random(5)
    again = generator(stream_key(1, "policy", {"name": "exp3"}), 3).random(5)
    other = generator(stream_key(1, "policy", {"name": "exp3"}), 4).random(5)
    np.testing.assert_array_equal(first, again)
    assert not np.intersect1d(first, other).size
