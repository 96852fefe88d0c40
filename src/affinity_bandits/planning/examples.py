"""Instances inside the assumptions that people would recognise, to show what a plan costs on each.

Nothing is certified on them: whether a plan is enough is judged in worlds that are harder than all
of them (`affinity_bandits.planning.hardest`), and how often it fails is proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Constant, InGroupBonus, PiecewisePower, Power, Sigmoid
from affinity_bandits.committee import Joining, Judges
from affinity_bandits.displays import one_line
from affinity_bandits.noise import Bernoulli, Gaussian, Noise, Ordinal
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hardest import committees

SIGMOID_STEEPNESS = 0.27
"""The largest x f'(x)/f(x) of 1/(1 + exp(-x)) on (0, 1], at x = 1, rounded up."""
SMALLEST_SHARE = 1e-12
"""Below this share a power stays flat: no run of a plan gets there."""

LEVELS = 17
"""Scores of a scale on which a spread is stated: those that policies tell apart."""
NARROWEST = 0.03
"""The least width of a bell of scores: half of the distance between two of them."""
LARGEST_MEAN = 1e9
"""The largest true value of an instance."""


@dataclass(frozen=True)
class Example:
    """One instance inside the assumptions, with each choice in words.

    Attributes:
        bias: how scores depend on a group's share.
        favoured: who has the head start.
        level: how high the best group scores at equal shares.
        rivals: where the other groups lie.
        bandit: the instance, with scores mapped to [0, 1].
    """

    bias: str
    favoured: str
    level: str
    rivals: str
    bandit: AffinityBandit

    __repr__ = one_line

    def __str__(self) -> str:
        return f"{self.bias}; {self.favoured}; {self.level}; {self.rivals}"


def examples(assumptions: Assumptions) -> list[Example]:
    """Return every example that the assumptions allow, in a fixed order."""
    given = assumptions.on_unit_scale()
    moving = given.judges == "committee"
    some = not moving or given.joining < 1.0
    found = []
    for words, bias in _biases(given):
        fair = bias.weight(1.0 / given.groups)
        level = _level(given, fair)
        if level < given.smallest_difference or level > LARGEST_MEAN * fair:
            continue
        shown = f"the best group scores {assumptions.lowest + assumptions.span * level:.3g}"
        for favoured, initial, best in committees(given)[: None if moving else 1]:
            for rivals, scores in _scores(given, level):
                if best != given.groups - 1:
                    scores[best], scores[-1] = scores[-1], scores[best]
                bandit = AffinityBandit(
                    # Rounding must not lift a true mean above 1.
                    [min(1.0, score / fair) if given.bounded else score / fair for score in scores],
                    bias=bias,
                    initial_pulls=[max(1, number) for number in initial],
                    noise=_noise(given, level, fair),
                    joining=Joining(given.joining, when="next round") if some else Joining(),
                    judges=_judges(given, initial),
                )
                found.append(Example(words, favoured, f"{shown} at equal shares", rivals, bandit))
    return found


def _level(given: Assumptions, fair: float) -> float:
    """Return the best group's score at equal shares."""
    if not given.bounded:
        return given.best_mean
    # Scores of at most 1 leave no room for a mean above the weight itself.
    highest = min(given.best_mean, fair)
    if given.spread is None:
        return highest
    # Only around the middle of a scale can scores spread as they usually do.
    return min(highest, 0.5 * (1.0 + given.smallest_difference))


def _judges(given: Assumptions, initial: Sequence[int]) -> Judges:
    if given.judges == "panel":
        return Judges("panel", seats=given.groups * max(1, min(initial)))
    return Judges(given.judges)


def _noise(given: Assumptions, level: float, fair: float) -> Noise:
    """Return how scores vary: as much as they can, unless a spread is stated."""
    if not given.bounded:
        return Gaussian(given.sigma)
    if given.spread is None:
        return Bernoulli()
    # A weight makes some scores the lowest, so true values spread less. They have the shape of a
    # bell, which is cut off at the ends of the scale.
    wanted = (given.spread**2 + level**2) / fair - (level / fair) ** 2
    at = np.linspace(-0.5, 0.5, LEVELS)
    low, high = NARROWEST, 1e3
    for _ in range(60):
        width = math.sqrt(low * high)
        shape = np.exp(-0.5 * (at / width) ** 2)
        shape /= shape.sum()
        low, high = (width, high) if shape @ at**2 < wanted else (low, width)
    return Ordinal([place / (LEVELS - 1) for place in range(LEVELS)], shape=shape.tolist())


def _biases(assumptions: Assumptions) -> Iterable[tuple[str, Bias]]:
    """Yield biases inside the assumptions, the flattest first."""
    groups, bonus = assumptions.groups, assumptions.bonus
    if bonus is None:
        offered = _of_any_strength(groups, assumptions.steepest)
    else:
        offered = _with_a_bonus(groups, assumptions.steepest, bonus)
    for words, needed, bias in offered:
        limit = assumptions.lipschitz
        slope = bias.lipschitz / bias.weight(1.0 / groups)
        if needed <= assumptions.steepest and (limit is None or slope <= limit):
            yield words, bias


Offered = list[tuple[str, float, Bias]]
"""Biases in words, with the steepness that each needs."""


def _of_any_strength(groups: int, steepness: float) -> Offered:
    offered: Offered = [
        ("not at all", 0.0, Constant()),
        ("not at all, all cut to 0.3", 0.0, Constant(0.3)),
        ("a gentle rise", SIGMOID_STEEPNESS, Sigmoid()),
        ("as the share", 1.0, Power(1.0)),
    ]
    if steepness > 0.0:
        growth = "as the share" if steepness == 1.0 else f"as share^{steepness:.3g}"
        fair = 1.0 / groups
        # Where the power would be too small for a number, it stays flat, too.
        lowest = max(SMALLEST_SHARE, 1e-299 ** (1.0 / steepness))
        throughout = PiecewisePower([lowest, 1.0], [lowest**steepness, 1.0])
        below = fair * max(SMALLEST_SHARE / fair, 1e-299 ** (1.0 / steepness))
        ramp = PiecewisePower([below, fair], [(below / fair) ** steepness, 1.0])
        if steepness != 1.0:
            offered.append((growth, steepness, throughout))
        offered.append((f"{growth}, up to equal", steepness, ramp))
    return offered


def _with_a_bonus(groups: int, steepness: float, bonus: float) -> Offered:
    offered: Offered = [("not at all", 0.0, Constant())]
    if bonus > 0.0:
        percent = f"{100.0 * bonus:.3g}%"
        own = InGroupBonus(bonus)
        offered.append((f"own kind {percent} higher", own.lipschitz, own))
    if bonus > 0.0 and steepness > 0.0:
        # As steep as may be, around equal shares.
        width = (1.0 + bonus) ** (0.5 / steepness)
        low, high = max(SMALLEST_SHARE, 1.0 / (groups * width)), min(1.0, width / groups)
        rise = min(1.0 + bonus, (high / low) ** steepness)
        ramp = PiecewisePower([low, high], [1.0 / rise, 1.0])
        offered.append((f"{percent}, around equal shares", steepness, ramp))
    return offered


def _scores(assumptions: Assumptions, best: float) -> Iterable[tuple[str, list[float]]]:
    """Yield mean scores at equal shares; the first group is always a close rival."""
    groups = assumptions.groups
    close = max(0.0, best - assumptions.smallest_difference)
    yield "all rivals close", [close] * (groups - 1) + [best]
    if groups > 2 and close > 0.0:
        yield "one close rival, the others far", [close] + [0.5 * close] * (groups - 2) + [best]
