"""Comparisons as they come in practice, and what an ordinary test of each would take.

Fourteen that were chosen, and a hold-out of 120 that were drawn. The hold-out is fixed by its seed
and was committed before any policy was tuned on the fourteen; nothing is to be tuned on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from affinity_bandits.kernels.kernel import FloatArray

STARS = np.linspace(0.0, 1.0, 5)
"""Five stars on the scale from 0 to 1."""
MILD = (0.02, 0.06, 0.22, 0.45, 0.25)
"""How often each number of stars is given: a mean of .71, a standard deviation of .23."""
SPLIT = (0.15, 0.05, 0.10, 0.20, 0.50)
"""The same with two camps: a mean of .71, a standard deviation of .36."""
FAILURE = 0.05
POWER = 0.95
HOLDOUT_SEED = 20_261_115
HOLDOUT_SIZE = 120


@dataclass(frozen=True)
class Scenario:
    """A comparison: who is on the committee, how good the groups are, how they are scored.

    Attributes:
        name: what it is called in tables.
        initial_pulls: members of each group to begin with.
        means: the groups' true means, on the scale from 0 to 1.
        bonus: a rater of a group's own group scores it higher by this part b:
            f(x) = (1 + b x)/(1 + b); infinity for f(x) = x.
        levels: how often each number of stars is given; tilted exponentially until the mean is
            right. None: scores are 0 or 1.
    """

    name: str
    initial_pulls: tuple[int, ...]
    means: tuple[float, ...]
    bonus: float
    levels: tuple[float, ...] | None

    @property
    def ordinary_test(self) -> int:
        """Choices in all that the usual test takes, by somebody who believes in no bias.

        Of fixed size, every other group against the best, one-sided at .05/(K - 1), power 95%.
        """
        best = max(self.means)
        others = list(self.means)
        others.remove(best)
        reach = float(norm.isf(FAILURE / len(others)) + norm.isf(1.0 - POWER))
        top = variance(best, self.levels)
        sizes = [
            reach**2 * (top + variance(mean, self.levels)) / (best - mean) ** 2 for mean in others
        ]
        return len(self.means) * math.ceil(max(sizes))


def tilted(levels: tuple[float, ...], mean: float) -> FloatArray:
    """Return the level probabilities, tilted exponentially to a mean strictly between 0 and 1."""

    def at(tilt: float) -> FloatArray:
        exponents = tilt * STARS
        weights = np.array(levels) * np.exp(exponents - exponents.max())
        return np.asarray(weights / weights.sum())

    return at(brentq(lambda tilt: float(at(tilt) @ STARS) - mean, -200.0, 200.0, xtol=1e-12))


def variance(mean: float, levels: tuple[float, ...] | None) -> float:
    """Return the variance of scores with that mean."""
    if levels is None:
        return mean * (1.0 - mean)
    return float(tilted(levels, mean) @ STARS**2) - mean * mean


def _chosen(
    name: str, pulls: tuple[int, ...], means: tuple[float, ...], bonus: float, *, stars: bool
) -> Scenario:
    return Scenario(name, pulls, means, bonus, MILD if stars else None)


SHARE = math.inf
SCENARIOS = (
    _chosen("2 stars .70 .60, bonus .1", (60, 40), (0.70, 0.60), 0.1, stars=True),
    _chosen("2 stars .65 .75, bonus .25", (60, 40), (0.65, 0.75), 0.25, stars=True),
    _chosen("2 stars .65 .70, bonus .1", (30, 10), (0.65, 0.70), 0.1, stars=True),
    _chosen("2 stars .60 .75, bonus 1", (60, 40), (0.60, 0.75), 1.0, stars=True),
    _chosen("2 yes/no .6 .4, bonus .25", (60, 40), (0.6, 0.4), 0.25, stars=False),
    _chosen("2 yes/no .50 .65, bonus 1", (30, 10), (0.5, 0.65), 1.0, stars=False),
    _chosen("3 stars .7 .6 .6, bonus .1", (30, 10, 10), (0.7, 0.6, 0.6), 0.1, stars=True),
    _chosen("3 stars .60 .75 .65, bonus .25", (80, 10, 10), (0.6, 0.75, 0.65), 0.25, stars=True),
    _chosen("3 stars .75 .65 .60, bonus 1", (80, 10, 10), (0.75, 0.65, 0.6), 1.0, stars=True),
    _chosen("3 yes/no .5 .6 .4, bonus .25", (30, 10, 10), (0.5, 0.6, 0.4), 0.25, stars=False),
    _chosen(
        "5 stars .6 .7 .6 .55 .6, bonus .25",
        (30, 10, 10, 10, 10),
        (0.6, 0.7, 0.6, 0.55, 0.6),
        0.25,
        stars=True,
    ),
    _chosen(
        "5 yes/no .4 .3 .6 .4 .3, bonus 1",
        (60, 40, 10, 10, 10),
        (0.4, 0.3, 0.6, 0.4, 0.3),
        1.0,
        stars=False,
    ),
    _chosen("2 stars .6 .7, f = share", (60, 40), (0.6, 0.7), SHARE, stars=True),
    _chosen("3 yes/no .4 .6 .4, f = share", (30, 10, 10), (0.4, 0.6, 0.4), SHARE, stars=False),
)


def holdout() -> tuple[Scenario, ...]:
    """Return the hold-out: two to six groups, of any strength, any committee, any kind of score.

    The best group's mean is between .45 and .85, the second best .05 to .2 below it, the others
    up to twice as far. One in ten has f(x) = x, the others a bonus of .1, .25, .5 or 1.
    """
    drawn = np.random.default_rng(HOLDOUT_SEED)
    found = []
    for number in range(HOLDOUT_SIZE):
        groups = int(drawn.integers(2, 7))
        top, gap = drawn.uniform(0.45, 0.85), drawn.uniform(0.05, 0.2)
        means = top - gap * drawn.uniform(1.0, 2.0, groups)
        best, second = drawn.permutation(groups)[:2]
        means[best], means[second] = top, top - gap
        pulls = drawn.integers(1, 101, groups)
        kind = int(drawn.integers(10))
        bonus = SHARE if kind == 0 else float(drawn.choice([0.1, 0.25, 0.5, 1.0]))
        levels = (MILD, SPLIT, None)[number % 3]
        found.append(
            Scenario(
                f"hold-out {number + 1}",
                tuple(int(pull) for pull in pulls),
                tuple(round(float(max(mean, 0.05)), 3) for mean in means),
                bonus,
                levels,
            )
        )
    return tuple(found)
