"""A run under any noise is the same to the bit however it is cut, spread and compiled."""

from __future__ import annotations

import pytest

from affinity_bandits import AffinityBandit, Clipped, Noise, Power, StepRun, policy_from_json
from affinity_bandits import simulate as run_simulation
from affinity_bandits.kernels.compile import runs_interpreted
from affinity_bandits.policies.state import state_to_json
from tests.model.noise.examples import NOISES, named
from tests.support.without_compiler import value_without_compiler

SCORED = [noise for noise in NOISES if noise.keeps_range]
POLICIES = ["ucb1", "exp3", "elimination", "head-start-elimination"]


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
    assert not runs_interpreted()
    plain = value_without_compiler(__name__, f"found(SCORED[{SCORED.index(noise)}])")
    assert plain == found(noise)
