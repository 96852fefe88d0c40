"""A few scores: stars, marks, answers from "not at all" to "very much"."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.displays import one_line
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray
from affinity_bandits.noise.finite import FiniteNoise

MOST_SCORES = 100
SAME = 1e-9
"""How far probabilities may be from adding up to 1, and their mean from the true mean."""


@dataclass(frozen=True)
class Ordinal(FiniteNoise):
    """One of a few scores, five stars unless told otherwise.

    Args:
        scores: that can be given, ascending; a whole number n is 1, 2, ..., n.
        shape: their probabilities, tilted to each arm's true mean (`FiniteNoise`); all alike if
            left out.
        probabilities: instead of a shape, those of each arm, a row an arm. The true means have to
            be theirs, mapped to [0, 1].

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
            given = range(1, checks.integer("scores", given, low=2, high=MOST_SCORES) + 1)
        scores = checks.numbers_list("scores", given, low=-1e9, high=1e9)
        if not 2 <= len(scores) <= MOST_SCORES:
            raise InvalidInput("scores", f"a list of 2 to {MOST_SCORES} scores", len(scores))
        if any(right <= left for left, right in pairwise(scores)):
            raise InvalidInput("scores", "ascending", list(scores))
        object.__setattr__(self, "scores", scores)
        if self.shape is not None:
            if self.probabilities is not None:
                raise InvalidInput("shape", "left out where probabilities are given", self.shape)
            object.__setattr__(self, "shape", _chances("shape", self.shape, len(scores)))
        if self.probabilities is not None:
            rows = checks.sequence(
                "probabilities", self.probabilities, "a list of lists, one an arm"
            )
            found = tuple(
                _chances(f"probabilities[{i}]", row, len(scores)) for i, row in enumerate(rows)
            )
            object.__setattr__(self, "probabilities", found)

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
        data: dict[str, Any] = {"name": self.name, "scores": list(self.values)}
        if self.shape is not None:
            data["shape"] = list(self.shape)
        if self.probabilities is not None:
            data["probabilities"] = [list(row) for row in self.probabilities]
        return data

    def __str__(self) -> str:
        return f"Ordinal({len(self.values)} scores, {self.lowest:g} to {self.highest:g})"


def _chances(parameter: str, given: object, count: int) -> tuple[float, ...]:
    """Return probabilities that add up to 1, one for each score."""
    found = checks.numbers_list(parameter, given, low=0.0, high=1.0)
    if len(found) != count:
        raise InvalidInput(parameter, f"as long as scores ({count})", f"{len(found)} entries")
    total = sum(found)
    if abs(total - 1.0) > SAME:
        raise InvalidInput(parameter, "probabilities that add up to 1", f"a sum of {total:.12g}")
    return found
