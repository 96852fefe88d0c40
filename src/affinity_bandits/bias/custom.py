"""A bias given as a user's own function."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import CLIPPED, CUSTOM, clipped
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function, bind, unbound

function: Function = unbound
GRID = 4097
"""Points at which a user's own function is checked: 2**12 cells, ends included."""


def custom_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return a user's own f(share), clipped; `function` is bound to the user's function."""
    value = function(share)
    return clipped(parameters, value) if code >= CLIPPED else float(value)


@dataclass(frozen=True)
class Custom(Bias):
    """Your own function, from Python.

    It is checked on a grid for the rules of `assump:multBias`.

    Args:
        function: takes a share in [0, 1] as a float, returns a weight. Plain arithmetic and
            `math` only: the compiled loops translate it.
        lipschitz_constant: the declared L; a slope beyond it on the grid is refused.
        label: how tables and saved descriptions call it.
    """

    name: ClassVar[str] = "custom"
    smooth: ClassVar[bool] = False
    function: Callable[[float], float]
    lipschitz_constant: float
    label: str = "custom"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInput("function", "a function of one share", self.function)
        if not isinstance(self.function, FunctionType) or self.function.__code__.co_freevars:
            raise InvalidInput(
                "function",
                "a plain Python function that reads no variable of an enclosing function",
                self.function,
            )
        if not isinstance(self.label, str):
            raise InvalidInput("label", "a word", self.label)
        object.__setattr__(
            self,
            "lipschitz_constant",
            checks.number("lipschitz_constant", self.lipschitz_constant, low=0.0),
        )
        grid = np.linspace(0.0, 1.0, GRID)
        values = np.array([_finite_weight(self.function, float(x)) for x in grid])
        steps = np.diff(values)
        worst = int(np.argmin(steps))
        if steps[worst] < 0.0:
            raise InvalidInput(
                "function",
                "nondecreasing on (0, 1]",
                f"f({grid[worst]:g}) = {values[worst]:g} > "
                f"f({grid[worst + 1]:g}) = {values[worst + 1]:g}",
            )
        if values[0] < 0.0:
            raise InvalidInput("function", "at least 0 on (0, 1]", f"f(0) = {values[0]:g}")
        steepest = float(steps.max() * (GRID - 1))
        # Rounding of the difference quotient: values carry eps each, the cells are 1/4096 wide.
        if steepest > self.lipschitz_constant + 1e-9 * (1.0 + float(values[-1])):
            raise InvalidInput(
                "lipschitz_constant",
                f"at least {steepest:g}, the steepest slope found",
                self.lipschitz_constant,
            )

    @property
    def code(self) -> int:
        return CUSTOM

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return ()

    @property
    def lipschitz(self) -> float:
        return self.lipschitz_constant

    @property
    def kernel(self) -> Function:
        return bind(custom_weight, function=self.function)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "lipschitz_constant": self.lipschitz_constant,
        }

    def __str__(self) -> str:
        return self.label


def _finite_weight(function: Callable[[float], float], share: float) -> float:
    try:
        found = function(share)
    except Exception as error:
        raise InvalidInput(
            "function", f"defined on all of [0, 1]; at {share:g} it raised", error
        ) from error
    if not isinstance(found, numbers.Real):
        raise InvalidInput("function", "a function that returns a number", found)
    value = float(found)
    if not math.isfinite(value):
        raise InvalidInput("function", "bounded on (0, 1]", f"f({share:g}) = {value}")
    return value
