"""What noises have in common whose scores are one of a list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.noise.base import MOST_NODES, FiniteLaws, Noise, grid, no_quantile
from affinity_bandits.noise.laws import FINITE_GATED, FINITE_SCALED
from affinity_bandits.subgaussian import gated_finite_proxy

MOST_TALLIED = 20
"""Different scores up to which a round's are counted: each takes a binomial number."""
MOST_NUMBERS = 2_000_000
"""Arms times different scores: what a table of laws holds."""
MOST_PROVEN = 4_000
"""Arms times different scores up to which the subGaussian constant is computed: a second."""


@dataclass(frozen=True)
class FiniteNoise(Noise):
    """True values are one of a list, each arm's with probabilities of its own.

    The probabilities of one shape are tilted to each arm's true mean mu: that of value x is
    multiplied by exp(theta x), the same theta for all x. Of all laws on the list with mean mu this
    is the nearest to the shape (in relative entropy), it leaves the shape as it is where mu is its
    mean, and a larger mu makes every high score more likely.
    """

    mechanisms: ClassVar[tuple[str, ...]] = ("gated", "scaled")

    @property
    def values(self) -> tuple[float, ...]:
        """The different scores, ascending."""
        raise NotImplementedError

    @property
    def weights(self) -> tuple[float, ...]:
        """The probabilities of the shape, one for each of the values."""
        raise NotImplementedError

    @property
    def nodes(self) -> tuple[float, ...]:
        few = len(self.values) <= MOST_NODES
        return self.values if few else grid(self.lowest, self.highest)

    @property
    def _mean_bounds(self) -> tuple[float, float]:
        found = self.mapped(self.values)[np.array(self.weights) > 0.0]
        return float(found[0]), float(found[-1])

    def check_means(self, means: Sequence[float]) -> None:
        super().check_means(means)
        if len(means) * len(self.values) > MOST_NUMBERS:
            raise InvalidInput(
                "true_means",
                f"at most {MOST_NUMBERS // len(self.values):,} with {len(self.values):,} scores",
                len(means),
            )

    def law_code(self, mechanism: str) -> int:
        return {"scaled": FINITE_SCALED, "gated": FINITE_GATED}[mechanism]

    @property
    def kernel(self) -> Function:
        return no_quantile

    def probabilities_at(self, means: Sequence[float]) -> FloatArray:
        """Return the probability of each score for arms of these true means, [arm, score]."""
        return _tilted_shape(self, tuple(means))

    def finite_laws(self, means: Sequence[float]) -> FiniteLaws:
        chances = self.probabilities_at(means)
        places = np.arange(chances.shape[1])
        last = np.max(np.where(chances > 0.0, places, 0), axis=1, keepdims=True)
        # Sums that rounding left below 1 would leave a gap that no score fills.
        cumulative = np.where(places >= last, 1.0, np.cumsum(chances, axis=1))
        tails = np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
        conditional = np.divide(chances, tails, out=np.zeros_like(chances), where=tails > 0.0)
        return FiniteLaws(self.mapped(self.values), cumulative, conditional)

    def ends(self, means: FloatArray) -> FloatArray:
        values = self.mapped(self.values)
        possible = self.probabilities_at(tuple(means.tolist())) > 0.0
        lowest = np.min(np.where(possible, values, math.inf), axis=1)
        highest = np.max(np.where(possible, values, -math.inf), axis=1)
        return np.array([lowest, highest])

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        if len(means) * len(self.values) > MOST_PROVEN:
            return super().subgaussian(means, mechanism, least, most)
        if mechanism == "gated":
            return math.sqrt(_proxy(self, tuple(means), least, most))
        return most * math.sqrt(_proxy(self, tuple(means), 1.0, 1.0))

    def why_no_rounds(self, mechanism: str) -> str | None:
        if mechanism == "scaled":
            return "a weighted sum of scores has no law that can be drawn at once"
        if len(self.values) > MOST_TALLIED:
            return f"of more than {MOST_TALLIED} different scores a round's are not counted"
        return None


@lru_cache(maxsize=4)
def _tilted_shape(noise: FiniteNoise, means: tuple[float, ...]) -> FloatArray:
    return tilted(noise.mapped(noise.values), np.array(noise.weights), np.array(means))


@lru_cache(maxsize=64)
def _proxy(noise: FiniteNoise, means: tuple[float, ...], least: float, most: float) -> float:
    """Return the largest proxy of any arm."""
    values = noise.mapped(noise.values)
    different = np.unique(noise.probabilities_at(means), axis=0)
    return max(gated_finite_proxy(values, chances, least, most) for chances in different)


def tilted(values: FloatArray, weights: FloatArray, means: FloatArray) -> FloatArray:
    """Return weights times exp(theta values), normalised, with theta so that the mean is right.

    Args:
        values: ascending.
        weights: at least 0, one for each value.
        means: between the first and the last value that has a positive weight.

    Returns:
        Probabilities, [mean, value].
    """
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    inside = values[weights > 0.0]
    free = (means > inside[0]) & (means < inside[-1])
    low, high = np.full(len(means), -1.0), np.full(len(means), 1.0)
    # The mean rises with theta: first find two thetas that it lies between.
    for _ in range(1100):
        short = free & (_means_at(values, logs, high) < means)
        far = free & (_means_at(values, logs, low) > means)
        if not (short.any() or far.any()):
            break
        high, low = np.where(short, 2.0 * high, high), np.where(far, 2.0 * low, low)
    for _ in range(1100):
        middle = 0.5 * (low + high)
        if not np.any(free & (middle > low) & (middle < high)):
            break
        less = _means_at(values, logs, middle) < means
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    found = _at(values, logs, high)
    # The ends of the list are had by nothing but themselves.
    found[means <= inside[0]] = values == inside[0]
    found[means >= inside[-1]] = values == inside[-1]
    return found


def _at(values: FloatArray, logs: FloatArray, theta: FloatArray) -> FloatArray:
    exponents = logs + theta[:, None] * values
    chances: FloatArray = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _means_at(values: FloatArray, logs: FloatArray, theta: FloatArray) -> FloatArray:
    return _at(values, logs, theta) @ values
