"""Which instances a plan is tried on: the families that are searched for the worst one.

An instance is put together from four choices: how the bias looks, who has the head start, how
high the best group's true mean is, and where the other groups lie. Every combination that the
assumptions allow is tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from affinity_bandits.bandit import AffinityBandit, Gaussian
from affinity_bandits.bias import Bias, Clipped, Constant, Power, Sigmoid
from affinity_bandits.policies import Assumptions

SIGMOID_STEEPNESS = 0.27
"""The largest x f'(x)/f(x) of 1/(1 + exp(-x)) on (0, 1], at x = 1, rounded up."""


@dataclass(frozen=True)
class Family:
    """One instance inside the assumptions, with each choice in words.

    Attributes:
        bias: how scores depend on a group's share.
        favoured: who has the head start.
        level: how high the best group's true mean is.
        rivals: where the other groups lie.
        bandit: the instance; the best group is the last.
    """

    bias: str
    favoured: str
    level: str
    rivals: str
    bandit: AffinityBandit

    def __str__(self) -> str:
        return f"{self.bias}; {self.favoured}; {self.level}; {self.rivals}"


def families(assumptions: Assumptions) -> list[Family]:
    """Return every instance that is tried, in a fixed order."""
    noise = "bernoulli" if assumptions.bounded else Gaussian(assumptions.sigma)
    found = []
    for bias_words, bias in _biases(assumptions):
        for favoured, initial in _initial(assumptions):
            for level, best in _levels(assumptions):
                for rivals, means in _means(assumptions, best):
                    bandit = AffinityBandit(means, bias=bias, initial_pulls=initial, noise=noise)
                    found.append(Family(bias_words, favoured, level, rivals, bandit))
    return found


def _biases(assumptions: Assumptions) -> Iterable[tuple[str, Bias]]:
    """Yield biases no steeper than assumed, the flattest first."""
    groups, steepness = assumptions.groups, assumptions.steepness
    offered: list[tuple[str, float, Bias]] = [
        ("no bias", 0.0, Constant()),
        ("scores that rise gently with a group's share", SIGMOID_STEEPNESS, Sigmoid()),
        ("scores in proportion to a group's share", 1.0, Power(1.0)),
    ]
    if steepness > 1.0:
        steepest = Power(steepness)
        growth = f"scores that grow as {_power(steepness)} of a group's share"
        fair = 1.0 / groups
        offered += [
            (growth, steepness, steepest),
            (
                f"{growth}, but not below half a fair share",
                steepness,
                Clipped(steepest, low=(0.5 * fair) ** steepness),
            ),
        ]
        if groups > 2:
            levelled = Clipped(steepest, high=(2.0 * fair) ** steepness)
            offered.append((f"{growth}, but not above twice a fair share", steepness, levelled))
    for words, needed, bias in offered:
        limit = assumptions.lipschitz
        if needed <= steepness and (limit is None or bias.lipschitz <= limit):
            yield words, bias


def _power(steepness: float) -> str:
    return {2.0: "the square", 3.0: "the cube"}.get(steepness, f"the power {steepness:g}")


def _initial(assumptions: Assumptions) -> Iterable[tuple[str, list[int]]]:
    """Yield who sits on the committee at first: one member each, and head starts."""
    groups, ahead = assumptions.groups, 1 + assumptions.head_start
    yield "nobody has a head start", [1] * groups
    if ahead > 1:
        yield "one rival has the whole head start", [ahead] + [1] * (groups - 1)
        if groups > 2:
            yield "all rivals have the whole head start", [ahead] * (groups - 1) + [1]
        yield "the best group has the whole head start", [1] * (groups - 1) + [ahead]


def _levels(assumptions: Assumptions) -> Iterable[tuple[str, float]]:
    """Yield true means of the best group."""
    largest, smallest = assumptions.largest_mean, assumptions.smallest_difference
    yield f"the best group is worth {largest:g}", largest
    middle = 0.5 * (largest + smallest)
    # Levels that read the same are the same for all that matters.
    if len({f"{level:g}" for level in (smallest, middle, largest)}) == 3:
        yield f"the best group is worth {middle:g}", middle
        yield f"the best group is worth {smallest:g}", smallest


def _means(assumptions: Assumptions, best: float) -> Iterable[tuple[str, list[float]]]:
    """Yield true means; the first group is always a close rival."""
    groups = assumptions.groups
    close = max(0.0, best - assumptions.smallest_difference)
    yield "all rivals close", [close] * (groups - 1) + [best]
    if groups > 2 and close > 0.0:
        yield "one close rival, the others far", [close] + [0.5 * close] * (groups - 2) + [best]
