"""Compiled runs under every noise agree pull for pull with an independent literal implementation.

The twin finds its own tilted probabilities (scipy's root finder) and Beta quantiles (scipy's), so
cumulative probabilities and values differ in the last digits: a choice differs with a probability
of about 1e-12 a pull, and policies whose indices nearly tie are left to the other suites.
"""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from affinity_bandits import AffinityBandit, InGroupBonus, Noise, Ordinal, policy_from_json
from affinity_bandits.simulation import Environment
from tests.support.instances import DecidedByRounding, biases, compiled_run, naive_run
from tests.support.naive.biases import naive_bias
from tests.support.naive.environment import NaiveEnvironment

from .examples import NOISES, named

POLICIES = ["ucb1", "ucb-v", "thompson-gaussian", "elimination", "handicap-elimination"]
SCORED = [noise for noise in NOISES if noise.keeps_range]


@pytest.mark.slow
@pytest.mark.parametrize("noise", SCORED, ids=named)
@settings(max_examples=10)
@given(data=st.data())
def test_agrees_on_random_instances(noise: Noise, data: st.DataObject) -> None:
    arms = data.draw(st.integers(2, 5), label="arms")
    low, high = (0.15, 0.85) if len(noise.nodes) == 9 else (0.0, 1.0)
    bandit = AffinityBandit(
        # Three digits: nearer to an end the twin's root finder gives up.
        [round(data.draw(st.floats(low, high)), 3) for _ in range(arms)],
        bias=data.draw(biases(arms)),
        initial_pulls=data.draw(st.lists(st.integers(1, 60), min_size=arms, max_size=arms)),
        noise=noise,
        mechanism=data.draw(st.sampled_from(noise.mechanisms)),
        memory=data.draw(st.none() | st.integers(1, 80)),
    )
    policy = policy_from_json(data.draw(st.sampled_from(POLICIES)))
    horizon = data.draw(st.integers(1, 200), label="horizon")
    seed = data.draw(st.integers(0, 2**64), label="seed")
    try:
        expected = naive_run(bandit, policy, horizon, seed, 3)
    except DecidedByRounding:
        reject()
    assert compiled_run(bandit, policy, horizon, seed, 3) == expected


def environments(noise: Noise, mechanism: str, seed: int) -> tuple[Environment, NaiveEnvironment]:
    bandit = AffinityBandit(
        [0.3, 0.7], InGroupBonus(2.0), [5, 2], noise=noise, mechanism=mechanism, memory=40
    )
    description = bandit.to_json()
    return Environment(bandit, seed, replicate=4), NaiveEnvironment(
        means=description["true_means"],
        bias=naive_bias(description["bias"]),
        initial_pulls=description["initial_pulls"],
        noise=description["noise"],
        mechanism=mechanism,
        memory=40,
        seed=seed,
        replicate=4,
        sampler=getattr(noise, "sampler", None),
    )


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES, ids=named)
def test_feedback_is_the_twins_at_every_pull(noise: Noise) -> None:
    for mechanism in noise.mechanisms:
        ours, twin = environments(noise, mechanism, 9)
        for t in range(500):
            arm = (t * t + t // 7) % 2
            assert ours.pull(arm) == pytest.approx(twin.pull(arm), abs=1e-11)


def test_a_twin_of_another_noise_is_told_apart() -> None:
    """The negative control: another shape of the same mean."""
    ours, _ = environments(Ordinal(5), "gated", 9)
    _, twin = environments(Ordinal(5, shape=[0.4, 0.1, 0.0, 0.1, 0.4]), "gated", 9)
    assert any(ours.pull(t % 2) != twin.pull(t % 2) for t in range(500))
