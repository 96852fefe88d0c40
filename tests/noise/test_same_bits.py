"""A run under any noise is the same to the bit however it is cut, spread and compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Clipped, Noise, Power, StepRun, policy_from_json
from affinity_bandits import simulate as run_simulation
from affinity_bandits.experiments import (
    Cell,
    Experiment,
    ProcessExecutor,
    SerialExecutor,
    Store,
    run_cells,
)
from affinity_bandits.policies.state import state_to_json
from affinity_bandits.simulation.code_cache import interpreted
from tests.support.without_compiler import value_without_compiler

from .examples import NOISES, named

SCORED = [noise for noise in NOISES if noise.keeps_range]
POLICIES = ["ucb1", "exp3", "elimination", "handicap-elimination"]


def instances(noise: Noise) -> list[AffinityBandit]:
    return [
        AffinityBandit(
            [0.35, 0.6, 0.5],
            bias=Clipped(Power(1.5), low=0.05),
            initial_pulls=[40, 10, 25],
            noise=noise,
            mechanism=mechanism,
        )
        for mechanism in noise.mechanisms
    ]


@pytest.mark.parametrize("noise", SCORED, ids=named)
def test_cutting_a_run_into_segments_changes_nothing(noise: Noise) -> None:
    """Saved to JSON and resumed in a new object between any two segments."""
    policy = policy_from_json("ucb1")
    for bandit in instances(noise):
        whole = StepRun(bandit, policy, 2_500, seed=3, replicate=5)
        whole.advance(2_500)
        cut = StepRun(bandit, policy, 2_500, seed=3, replicate=5)
        for until in (1, 2, 700, 1_024, 1_025, 2_500):
            cut.advance(until)
            cut = StepRun.from_json(bandit, policy, cut.to_json())
        assert cut.pulls.tolist() == whole.pulls.tolist()
        assert state_to_json(cut.state) == state_to_json(whole.state)


def found(noise: Noise) -> list[object]:
    """What every instance of a noise gives, pull by pull and where it can be by rounds."""
    numbers: list[object] = []
    for bandit in instances(noise):
        steps = run_simulation(bandit, POLICIES, 400, 2, seed=7, engine="steps", progress=False)
        numbers.append([steps.pulls.tolist(), steps.candidates.tolist()])
        rounds = run_simulation(bandit, POLICIES[2:], 1_200, 2, seed=7, progress=False)
        engines = [run.engine for run in rounds.runs]
        numbers.append([engines, rounds.pulls.tolist(), rounds.candidates.tolist()])
    return numbers


@pytest.mark.nightly_but("Ordinal(5", "Empirical(301", "evenly")
@pytest.mark.slow
@pytest.mark.parametrize("noise", SCORED, ids=named)
def test_the_bits_are_those_of_machine_code(noise: Noise) -> None:
    assert not interpreted()
    plain = value_without_compiler(__name__, f"found(SCORED[{SCORED.index(noise)}])")
    assert plain == found(noise)


@pytest.mark.slow
def test_workers_find_what_one_process_finds(tmp_path: Path) -> None:
    """Every noise, a user's own sampler included, in shards of three and of one."""
    cells = [
        Cell(bandit, policy_from_json(name), 300, seed=2)
        for noise in SCORED
        for bandit in instances(noise)[:1]
        for name in ("ucb1", "elimination")
    ]
    hashes = []
    for executor, shard_size in ((SerialExecutor(), 3), (ProcessExecutor(2), 1)):
        store = Store(tmp_path / str(shard_size))
        summary = run_cells(Experiment(cells, 3, shard_size), store, executor)
        assert (summary.run, summary.failed) == (3 * len(cells), 0)
        hashes.append(store.content_hash())
    assert hashes[0] == hashes[1]
    alone = run_simulation(cells[0].bandit, "ucb1", 300, 3, cells[0].stream_seed, checkpoints=[300])
    np.testing.assert_array_equal(store.read(cells[0], 3).pulls, alone.pulls)
