"""Evidence that may be looked at after every round: bets whose beginning is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.001
"""The probability, over a whole campaign, with which a check may find a fault where none is."""

Array = NDArray[np.float64]


def threshold() -> float:
    """Return the logarithm of the evidence from which on a check says something."""
    return -float(np.log(LEVEL))


def start_prior(number: int) -> float:
    """Return the weight of the hypothesis that a fault begins with this round.

    Half of it is on the first round; the weights of all rounds sum to 1.

    >>> start_prior(0), start_prior(1), start_prior(2)
    (0.5, 0.25, 0.08333333333333333)
    """
    return 0.5 if number == 0 else 0.5 / (number * (number + 1))


class HasArms(Protocol):
    """A round of some arms."""

    @property
    def arms(self) -> tuple[int, ...]: ...


def by_arm(rounds: Sequence[HasArms], arms: int, values: Sequence[Sequence[float]]) -> Array:
    """Return what each round has of each arm as a table; 0 where an arm took no part."""
    table = np.zeros((len(rounds), arms))
    for place, (one, own) in enumerate(zip(rounds, values, strict=True)):
        table[place, list(one.arms)] = own
    return table


def evidence(steps: Array, numbers: list[int]) -> Array:
    """Return the logarithm of each bet's evidence after each round, over all possible beginnings.

    Where earlier rounds are left out, so are the beginnings before them: the evidence is smaller
    then, never larger.

    Args:
        steps: by what each round multiplies each bet, as logarithms: rounds first.
        numbers: of the rounds, in increasing order.
    """
    held = np.full(steps.shape[1:], -np.inf)
    after = np.empty_like(steps)
    for place, number in enumerate(numbers):
        held = np.logaddexp(held, np.log(start_prior(number))) + steps[place]
        after[place] = held
    return after


def log_sum(values: Array, axes: tuple[int, ...]) -> Array:
    """Return the logarithm of the sum of exponentials over some axes."""
    top = values.max(axis=axes, keepdims=True)
    total = np.exp(values - top).sum(axis=axes, keepdims=True)
    found: Array = np.squeeze(top + np.log(total), axis=axes)
    return found
