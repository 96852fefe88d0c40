"""Scores that were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.displays import one_line
from affinity_bandits.errors import InvalidInput
from affinity_bandits.noise.finite import FiniteNoise

MOST_SCORES = 100_000


@dataclass(frozen=True)
class Empirical(FiniteNoise):
    """One of the scores of a column, the more often the more often it is in there.

    Args:
        column: scores that were given. Their frequencies are tilted to each arm's true mean
            (`FiniteNoise`).
        lowest: the lowest score that could have been given.
        highest: the highest one.

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
        lowest = checks.number("lowest", self.lowest, low=-1e9, high=1e9)
        highest = checks.number("highest", self.highest, low=lowest, high=1e9, open_low=True)
        column = checks.numbers_list("column", self.column, low=lowest, high=highest)
        if not 1 <= len(column) <= MOST_SCORES:
            raise InvalidInput("column", f"a list of 1 to {MOST_SCORES:,} scores", len(column))
        for name, value in (("column", column), ("lowest", lowest), ("highest", highest)):
            object.__setattr__(self, name, value)

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

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "column": list(self.column),
            "lowest": self.lowest,
            "highest": self.highest,
        }

    def __str__(self) -> str:
        return f"Empirical({len(self.column):,} scores, {self.lowest:g} to {self.highest:g})"
