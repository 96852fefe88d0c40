"""One or more of each noise, for the tests of this folder."""

from __future__ import annotations

from affinity_bandits import (
    Bernoulli,
    Beta,
    CustomNoise,
    Empirical,
    Gaussian,
    Noise,
    Ordinal,
)


def spread_evenly(mean: float, u: float) -> float:
    """Evenly around the mean, as wide as the scores from 0 to 10 allow."""
    width = min(mean, 10.0 - mean)
    return mean + (2.0 * u - 1.0) * width


EVENLY = CustomNoise(spread_evenly, 0.0, 10.0, "evenly")
MARKS = [52.0, 58.0, 58.0, 61.5, 70.0, 70.0, 70.0, 77.0, 83.0, 91.0, 30.0, 12.0]
NOISES: list[Noise] = [
    Bernoulli(),
    Gaussian(0.3),
    Ordinal(),
    Ordinal(7, shape=[0.02, 0.03, 0.1, 0.2, 0.3, 0.25, 0.1]),
    Ordinal([0, 1, 3, 10], shape=[0.5, 0.2, 0.2, 0.1]),
    Ordinal(3, shape=[0.6, 0.0, 0.4]),
    Beta(10.0),
    Beta(0.7, 1.0, 5.0),
    Beta(400.0, 0.0, 100.0),
    Empirical(MARKS, 0.0, 100.0),
    Empirical([i / 300.0 for i in range(301)]),
    EVENLY,
]


def named(noise: Noise) -> str:
    """What a test is called."""
    return f"{noise}-{NOISES.index(noise)}"
