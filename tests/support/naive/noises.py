"""True values on the scale from 0, the lowest score, to 1, the highest, from a uniform number."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, isnan
from typing import Any

from scipy.optimize import brentq
from scipy.special import betaincinv

TrueValues = Callable[[int, float, float], float]
"""From arm, mean and uniform number to a value."""


def true_values(
    description: dict[str, Any],
    means: Sequence[float],
    sampler: Callable[[float, float], float] | None = None,
) -> TrueValues:
    """Return how values are drawn under the noise that a description names."""
    name = description["name"]
    if name == "ordinal":
        scores = description["scores"]
        points = on_unit_scale(scores, scores[0], scores[-1])
        if "probabilities" in description:
            rows = description["probabilities"]
        else:
            shape = description.get("shape", [1.0 / len(scores)] * len(scores))
            rows = [tilted(points, shape, mu) for mu in means]
        return from_lists(points, rows)
    lowest, highest = description["lowest"], description["highest"]
    if name == "empirical":
        counted = sorted(Counter(description["column"]).items())
        points = on_unit_scale([score for score, _ in counted], lowest, highest)
        shape = [count / len(description["column"]) for _, count in counted]
        return from_lists(points, [tilted(points, shape, mu) for mu in means])
    if name == "beta":
        return beta(description["concentration"])
    if name == "custom" and sampler is not None:
        span = highest - lowest
        return lambda arm, mu, u: (sampler(lowest + span * mu, u) - lowest) / span
    raise ValueError(f"no noise is called {name!r}")


def on_unit_scale(scores: Sequence[float], lowest: float, highest: float) -> list[float]:
    """Return scores with 0 for the lowest and 1 for the highest."""
    return [(score - lowest) / (highest - lowest) for score in scores]


def tilted(points: Sequence[float], shape: Sequence[float], mu: float) -> list[float]:
    """Return p_j proportional to q_j exp(theta x_j) with sum_j p_j x_j = mu."""
    possible = [x for x, q in zip(points, shape, strict=True) if q > 0]
    for end in (possible[0], possible[-1]):
        if mu == end:
            return [float(x == end) for x in points]

    def at(theta: float) -> list[float]:
        top = max(theta * x for x in points)
        weights = [q * exp(theta * x - top) for x, q in zip(points, shape, strict=True)]
        return [weight / sum(weights) for weight in weights]

    def miss(theta: float) -> float:
        return sum(p * x for p, x in zip(at(theta), points, strict=True)) - mu

    return at(float(brentq(miss, -5000.0, 5000.0, xtol=1e-14, rtol=1e-15)))


def from_lists(points: Sequence[float], rows: Sequence[Sequence[float]]) -> TrueValues:
    """Return the first point up to which the probabilities add up to more than u."""

    def value(arm: int, mu: float, u: float) -> float:
        total = 0.0
        for x, p in zip(points, rows[arm], strict=True):
            total += p
            if u < total:
                return x
        return max(x for x, p in zip(points, rows[arm], strict=True) if p > 0)

    return value


def beta(concentration: float) -> TrueValues:
    """Return the quantile of u under Beta(mu c, (1 - mu) c)."""

    def value(arm: int, mu: float, u: float) -> float:
        if mu <= 0 or mu >= 1:
            return float(mu >= 1)
        found = float(betaincinv(mu * concentration, (1 - mu) * concentration, u))
        return 0.0 if isnan(found) else found  # scipy gives up on some that are next to 0

    return value
