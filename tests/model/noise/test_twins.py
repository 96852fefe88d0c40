"""Feedback under every noise is that of an independent literal implementation at every pull.

`tests/contracts/test_logs.py` compares whole runs.
"""

from __future__ import annotations

import pytest

from affinity_bandits import AffinityBandit, InGroupBonus, Noise, Ordinal
from affinity_bandits.simulation import Environment
from tests.model.noise.examples import NOISES, named
from tests.support.naive.biases import naive_bias
from tests.support.naive.environment import NaiveEnvironment


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
