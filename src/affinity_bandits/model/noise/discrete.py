"""The base class of noises with discrete scores."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.feedback import bernoulli_proxy, gated_finite_proxy
from affinity_bandits.model.noise.base import (
    BERNOULLI_GATED,
    BERNOULLI_SCALED,
    BERNOULLI_SHIFTED,
    FINITE_GATED,
    FINITE_SCALED,
    MOST_NODES,
    FiniteLaws,
    Noise,
    grid,
)

MOST_TALLIED = 20
"""Most different scores whose counts are drawn at once: each takes a binomial number."""
MOST_NUMBERS = 2_000_000
"""Largest number of arms times different scores."""
MOST_PROVEN = 4_000
"""Arms times different scores up to which the subGaussian constant is computed, in a second."""


@dataclass(frozen=True)
class FiniteNoise(Noise):
    """True values are one of a list, each arm's with probabilities of its own.

    The probabilities of one shape are tilted to each arm's true mean mu: that of value x is
    multiplied by exp(theta x). Of all laws on the list with mean mu this is the nearest to the
    shape in relative entropy.
    """

    mechanisms: ClassVar[tuple[str, ...]] = ("gated", "scaled")
    laws: ClassVar[Mapping[str, int]] = {"scaled": FINITE_SCALED, "gated": FINITE_GATED}

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
    return tilt(noise.mapped(noise.values), np.array(noise.weights), np.array(means))


@lru_cache(maxsize=64)
def _proxy(noise: FiniteNoise, means: tuple[float, ...], least: float, most: float) -> float:
    values = noise.mapped(noise.values)
    different = np.unique(noise.probabilities_at(means), axis=0)
    return max(gated_finite_proxy(values, chances, least, most) for chances in different)


def tilt(values: FloatArray, weights: FloatArray, means: FloatArray) -> FloatArray:
    """Return weights times exp(theta values), normalized, with theta such that the mean is right.

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


@dataclass(frozen=True)
class Bernoulli(Noise):
    """True values are 0 or 1: X ~ Bernoulli(mu)."""

    name: ClassVar[str] = "bernoulli"
    mechanisms: ClassVar[tuple[str, ...]] = ("gated", "scaled", "shifted")
    laws: ClassVar[Mapping[str, int]] = {
        "scaled": BERNOULLI_SCALED,
        "shifted": BERNOULLI_SHIFTED,
        "gated": BERNOULLI_GATED,
    }
    keeps_range: ClassVar[bool] = False
    nodes = (0.0, 1.0)

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        # The largest constant belongs to the probability nearest to 1/2.
        chances = np.array(means, dtype=np.float64)
        if mechanism == "gated":
            chances = np.clip(0.5, chances * least, chances * most)
        fairest = float(chances[np.argmin(np.abs(chances - 0.5))])
        sigma = math.sqrt(bernoulli_proxy(fairest))
        return most * sigma if mechanism == "scaled" else sigma

    def law(self, mechanism: str, least: float, most: float) -> str | None:
        untouched = least == most == 1.0
        return "bernoulli" if untouched or mechanism == "gated" else None

    def why_no_rounds(self, mechanism: str) -> str | None:
        if mechanism == "scaled":
            return "a weighted sum of indicators has no law that can be drawn at once"
        return None

    def __str__(self) -> str:
        return "Bernoulli"


MOST_ORDINAL_SCORES = 100
SAME = 1e-9
"""Tolerance for the sum of probabilities and for their mean."""


@dataclass(frozen=True)
class Ordinal(FiniteNoise):
    """One of a few scores, five stars unless told otherwise.

    Args:
        scores: the possible scores, ascending; a whole number n is 1, 2, ..., n.
        shape: their probabilities, tilted to each arm's true mean (`FiniteNoise`); by default
            equal.
        probabilities: instead of a shape, one row of probabilities per arm. The true means must be
            theirs, mapped to [0, 1].

    >>> stars = Ordinal(shape=[0.1, 0.1, 0.2, 0.4, 0.2])
    >>> stars.probabilities_at(stars.mapped([3.5])).round(3).tolist()
    [[0.1, 0.1, 0.2, 0.4, 0.2]]
    """

    name: ClassVar[str] = "ordinal"
    scores: Sequence[float] | int = 5
    shape: Sequence[float] | None = None
    probabilities: Sequence[Sequence[float]] | None = None

    __repr__ = one_line

    def __post_init__(self) -> None:
        given = self.scores
        if isinstance(given, numbers.Real):
            given = range(1, checks.integer("scores", given, low=2, high=MOST_ORDINAL_SCORES) + 1)
        scores = checks.numbers_list("scores", given, low=-1e9, high=1e9)
        if not 2 <= len(scores) <= MOST_ORDINAL_SCORES:
            raise InvalidInput(
                "scores", f"a list of 2 to {MOST_ORDINAL_SCORES} scores", len(scores)
            )
        if any(right <= left for left, right in pairwise(scores)):
            raise InvalidInput("scores", "ascending", list(scores))
        self._set(scores=scores)
        if self.shape is not None:
            if self.probabilities is not None:
                raise InvalidInput("shape", "left out where probabilities are given", self.shape)
            self._set(shape=_chances("shape", self.shape, len(scores)))
        if self.probabilities is not None:
            rule = "a list of lists, one an arm"
            rows = enumerate(checks.sequence("probabilities", self.probabilities, rule))
            chances = (_chances(f"probabilities[{i}]", row, len(scores)) for i, row in rows)
            self._set(probabilities=tuple(chances))

    @property
    def values(self) -> tuple[float, ...]:
        assert isinstance(self.scores, tuple)  # since __post_init__
        return self.scores

    @property
    def weights(self) -> tuple[float, ...]:
        alike = (1.0 / len(self.values),) * len(self.values)
        return alike if self.shape is None else tuple(self.shape)

    @property
    def lowest(self) -> float:
        return self.values[0]

    @property
    def highest(self) -> float:
        return self.values[-1]

    @property
    def nodes(self) -> tuple[float, ...]:
        return self.values

    @property
    def true_means(self) -> list[float]:
        """The true means of `probabilities`, for a bandit."""
        if self.probabilities is None:
            raise InvalidInput("probabilities", "given, to have true means", None)
        means: list[float] = (np.array(self.probabilities) @ self.mapped(self.values)).tolist()
        return means

    def check_means(self, means: Sequence[float]) -> None:
        super().check_means(means)
        if self.probabilities is None:
            return
        if len(means) != len(self.probabilities):
            rule = f"as long as probabilities of the noise ({len(self.probabilities)} arms)"
            raise InvalidInput("true_means", rule, f"{len(means)} entries")
        for place, (mean, own) in enumerate(zip(means, self.true_means, strict=True)):
            if abs(mean - own) > SAME:
                rule = f"{own:.12g}, the mean of probabilities[{place}] mapped to [0, 1]"
                raise InvalidInput(f"true_means[{place}]", rule, mean)

    def probabilities_at(self, means: Sequence[float]) -> FloatArray:
        if self.probabilities is None:
            return super().probabilities_at(means)
        return np.array(self.probabilities, dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in super().to_json().items() if value is not None}

    def __str__(self) -> str:
        return f"Ordinal({len(self.values)} scores, {self.lowest:g} to {self.highest:g})"


def _chances(parameter: str, given: object, count: int) -> tuple[float, ...]:
    found = checks.numbers_list(parameter, given, low=0.0, high=1.0)
    if len(found) != count:
        raise InvalidInput(parameter, f"as long as scores ({count})", f"{len(found)} entries")
    total = sum(found)
    if abs(total - 1.0) > SAME:
        raise InvalidInput(parameter, "probabilities that add up to 1", f"a sum of {total:.12g}")
    return found


MOST_EMPIRICAL_SCORES = 100_000


@dataclass(frozen=True)
class Empirical(FiniteNoise):
    """One of the scores of a column, as often as it occurs there.

    Args:
        column: observed scores. Their frequencies are tilted to each arm's true mean
            (`FiniteNoise`).
        lowest: the lowest possible score.
        highest: the highest possible score.

    >>> marks = Empirical([55, 70, 70, 90], lowest=0, highest=100)
    >>> marks.probabilities_at([0.7125]).round(3).tolist()
    [[0.25, 0.5, 0.25]]
    """

    name: ClassVar[str] = "empirical"
    column: Sequence[float]
    lowest: float = 0.0
    highest: float = 1.0

    __repr__ = one_line

    def __post_init__(self) -> None:
        self._check_range()
        self._check(checks.numbers_list, "column", low=self.lowest, high=self.highest)
        if not 1 <= len(self.column) <= MOST_EMPIRICAL_SCORES:
            raise InvalidInput(
                "column", f"a list of 1 to {MOST_EMPIRICAL_SCORES:,} scores", len(self.column)
            )

    @cached_property
    def _counted(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        values, counts = np.unique(np.array(self.column), return_counts=True)
        return tuple(values.tolist()), tuple((counts / len(self.column)).tolist())

    @property
    def values(self) -> tuple[float, ...]:
        return self._counted[0]

    @property
    def weights(self) -> tuple[float, ...]:
        return self._counted[1]

    def __str__(self) -> str:
        return f"Empirical({len(self.column):,} scores, {self.lowest:g} to {self.highest:g})"
