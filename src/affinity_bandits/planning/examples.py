"""Instances inside the assumptions that people would recognise, to show what a plan costs on each.

Nothing is certified on them: whether a plan is enough is judged in worlds that are harder than all
of them (`affinity_bandits.planning.hardest`), and how often it fails is proven.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Constant, PiecewisePower, Power, Sigmoid
from affinity_bandits.displays import one_line
from affinity_bandits.noise import Gaussian
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hardest import initial_members

SIGMOID_STEEPNESS = 0.27
"""The largest x f'(x)/f(x) of 1/(1 + exp(-x)) on (0, 1], at x = 1, rounded up."""
SMALLEST_SHARE = 1e-12
"""Below this share a power stays flat: no run of a plan gets there."""

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
        bandit: the instance, with scores mapped to [0, 1]; the best group is the last.
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
    noise = "bernoulli" if given.bounded else Gaussian(given.sigma)
    found = []
    for words, bias in _biases(given):
        fair = bias.weight(1.0 / given.groups)
        # Scores of at most 1 leave no room for a mean above the weight itself.
        level = min(given.best_mean, fair) if given.bounded else given.best_mean
        if level < given.smallest_difference or level > LARGEST_MEAN * fair:
            continue
        shown = f"the best group scores {assumptions.lowest + assumptions.span * level:.3g}"
        for favoured, initial in initial_members(given):
            for rivals, scores in _scores(given, level):
                bandit = AffinityBandit(
                    # Rounding must not lift a true mean above 1.
                    [min(1.0, score / fair) if given.bounded else score / fair for score in scores],
                    bias=bias,
                    initial_pulls=initial,
                    noise=noise,
                )
                found.append(Example(words, favoured, f"{shown} at equal shares", rivals, bandit))
    return found


def _biases(assumptions: Assumptions) -> Iterable[tuple[str, Bias]]:
    """Yield biases no steeper than assumed, the flattest first."""
    groups, steepness = assumptions.groups, assumptions.steepness
    offered: list[tuple[str, float, Bias]] = [
        ("not at all", 0.0, Constant()),
        ("not at all, all cut to 0.3", 0.0, Constant(0.3)),
        ("a gentle rise", SIGMOID_STEEPNESS, Sigmoid()),
        ("as the share", 1.0, Power(1.0)),
    ]
    if steepness > 0.0:
        growth = "as the share" if steepness == 1.0 else f"as share^{steepness:g}"
        fair = 1.0 / groups
        # Where the power would be too small for a number, it stays flat, too.
        lowest = max(SMALLEST_SHARE, 1e-299 ** (1.0 / steepness))
        throughout = PiecewisePower([lowest, 1.0], [lowest**steepness, 1.0])
        below = fair * max(SMALLEST_SHARE / fair, 1e-299 ** (1.0 / steepness))
        ramp = PiecewisePower([below, fair], [(below / fair) ** steepness, 1.0])
        if steepness != 1.0:
            offered.append((growth, steepness, throughout))
        offered.append((f"{growth}, up to equal", steepness, ramp))
    for words, needed, bias in offered:
        limit = assumptions.lipschitz
        slope = bias.lipschitz / bias.weight(1.0 / groups)
        if needed <= steepness and (limit is None or slope <= limit):
            yield words, bias


def _scores(assumptions: Assumptions, best: float) -> Iterable[tuple[str, list[float]]]:
    """Yield mean scores at equal shares; the first group is always a close rival."""
    groups = assumptions.groups
    close = max(0.0, best - assumptions.smallest_difference)
    yield "all rivals close", [close] * (groups - 1) + [best]
    if groups > 2 and close > 0.0:
        yield "one close rival, the others far", [close] + [0.5 * close] * (groups - 2) + [best]
