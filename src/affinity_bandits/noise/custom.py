"""A user's own sampler."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function, bind, unbound
from affinity_bandits.noise.base import Noise

sampler: Function = unbound
GRID = 1024
"""Uniform numbers with which a user's own sampler is tried at each node."""
TOLERANCE = 1e-3
"""How far its mean may be off, in parts of the range: twice what so fine a grid can be wrong by."""


def custom_value(parameters: FloatArray, mean: float, u: float) -> float:
    """Return a user's own score, mapped to [0, 1]; `sampler` is bound to the user's function."""
    lowest, span = parameters[0], parameters[1]
    value = (sampler(lowest + span * mean, u) - lowest) / span
    return float(min(1.0, max(0.0, value)))


@dataclass(frozen=True)
class CustomNoise(Noise):
    """Your own sampler, from Python.

    It is tried on a grid: its scores have to lie in the range and to have the mean asked for.

    Args:
        sampler: takes a mean, a score from `lowest` to `highest`, and a number that is uniform in
            [0, 1); returns a score. Plain arithmetic and `math` only: the compiled loops
            translate it.
        lowest: the lowest score.
        highest: the highest score.
        label: how tables and saved descriptions call it.

    >>> def two_sided(mean, u):
    ...     width = min(mean, 1.0 - mean)
    ...     return mean + (2.0 * u - 1.0) * width
    >>> CustomNoise(two_sided, label="uniform").nodes[:3]
    (0.0, 0.0625, 0.125)
    """

    name: ClassVar[str] = "custom"
    sampler: Callable[[float, float], float]
    lowest: float = 0.0
    highest: float = 1.0
    label: str = "custom"

    def __post_init__(self) -> None:
        if not callable(self.sampler):
            raise InvalidInput("sampler", "a function of a mean and a number", self.sampler)
        if not isinstance(self.sampler, FunctionType) or self.sampler.__code__.co_freevars:
            raise InvalidInput(
                "sampler",
                "a plain Python function that reads no variable of an enclosing function",
                self.sampler,
            )
        if not isinstance(self.label, str):
            raise InvalidInput("label", "a word", self.label)
        lowest = checks.number("lowest", self.lowest, low=-1e9, high=1e9)
        highest = checks.number("highest", self.highest, low=lowest, high=1e9, open_low=True)
        object.__setattr__(self, "lowest", lowest)
        object.__setattr__(self, "highest", highest)
        slack = 1e-9 * (highest - lowest)
        for mean in self.nodes:
            scores = np.array([self._tried(mean, (i + 0.5) / GRID) for i in range(GRID)])
            for found in (float(scores.min()), float(scores.max())):
                if not lowest - slack <= found <= highest + slack:
                    rule = f"a function whose scores lie in [{lowest:g}, {highest:g}]"
                    raise InvalidInput("sampler", rule, f"{found:g} at mean {mean:g}")
            if abs(float(scores.mean()) - mean) > TOLERANCE * (highest - lowest):
                rule = "a function whose scores have the mean that it is given"
                raise InvalidInput("sampler", rule, f"{scores.mean():g} at mean {mean:g}")

    def _tried(self, mean: float, u: float) -> float:
        try:
            found = self.sampler(mean, u)
        except Exception as error:
            raise InvalidInput(
                "sampler", f"defined for all means and numbers; at {mean:g}, {u:g} it raised", error
            ) from error
        if not isinstance(found, numbers.Real) or not math.isfinite(found):
            raise InvalidInput("sampler", "a function that returns a finite number", found)
        return float(found)

    @property
    def parameters(self) -> FloatArray:
        return np.array([self.lowest, self.highest - self.lowest])

    @property
    def kernel(self) -> Function:
        return bind(custom_value, sampler=self.sampler)

    def ends(self, means: FloatArray) -> FloatArray:
        # A mean at an end is had by nothing but that end.
        return np.array([means >= 1.0, means > 0.0], dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "lowest": self.lowest,
            "highest": self.highest,
        }

    def __str__(self) -> str:
        return self.label
