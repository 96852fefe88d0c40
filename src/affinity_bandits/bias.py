"""Bias models: from an arm's share of past choices to the weight its feedback is multiplied with.

The paper's Assumption `assump:multBias` asks of f that it be bounded, nondecreasing and
L-Lipschitz on (0, 1]. Every class here is a frozen description that knows its Lipschitz constant
and turns into plain numbers (`code`, `parameters`) for the function `weight`, which the compiled
loops and plain Python share.

The value at share 0 matters only for committees with bounded memory, where a group can have no
member left; there f is continued to 0 by its own formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, overload

import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput, UnknownName
from affinity_bandits.kernels import FloatArray, Function, bind, unbound

CONSTANT, IDENTITY, SQUARE, CUBE, POWER, SIGMOID, PLATEAU, CUSTOM = range(8)

function: Function = unbound
UNCLIPPED = float(np.finfo(np.float64).max)
GRID = 4097
"""Points at which a user's own function is checked: 2**12 cells, ends included."""


def weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return f(share) for the bias model given as numbers.

    `parameters` is (lower clip, upper clip, then the model's own); small whole powers have codes
    of their own because a general power doubles the cost of a simulated pull.
    """
    if code == IDENTITY:
        value = share
    elif code == CONSTANT:
        value = parameters[2]
    elif code == SQUARE:
        value = share * share
    elif code == CUBE:
        value = share * share * share
    elif code == POWER:
        value = share ** parameters[2]
    elif code == SIGMOID:
        value = 1.0 / (1.0 + math.exp(-share))
    elif share <= parameters[2]:
        value = parameters[3] ** 10.0
    else:
        value = (share - parameters[2] + parameters[3]) ** 10.0
    if value < parameters[0]:
        return float(parameters[0])
    if value > parameters[1]:
        return float(parameters[1])
    return value


def custom_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return a user's own f(share), clipped; `function` is bound to the user's function."""
    value = function(share)
    if value < parameters[0]:
        return float(parameters[0])
    if value > parameters[1]:
        return float(parameters[1])
    return float(value)


@dataclass(frozen=True)
class Bias:
    """What every bias model offers; the models below are its subclasses.

    A model is immutable, compares by value and, but for `Custom`, is rebuilt from its JSON form
    by `bias_from_json`.
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = True

    @property
    def code(self) -> int:
        """Which formula of `weight` this is."""
        raise NotImplementedError

    @property
    def own_parameters(self) -> tuple[float, ...]:
        """The formula's own numbers, after the two clips."""
        return ()

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant L.

        See `assump:multBias`.
        """
        raise NotImplementedError

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Shares inside (0, 1) at which f is not smooth, ascending."""
        return ()

    @property
    def clips(self) -> tuple[float, float]:
        """Lower and upper clip; the outermost floats where there is none, which JSON can hold."""
        return (-UNCLIPPED, UNCLIPPED)

    @property
    def parameters(self) -> FloatArray:
        """All numbers that `weight` reads, in its order."""
        return np.array([*self.clips, *self.own_parameters, 0.0, 0.0], dtype=np.float64)

    @property
    def kernel(self) -> Function:
        """The plain function (code, parameters, share) -> weight that evaluates this model."""
        return weight

    @property
    def bounds(self) -> tuple[float, float]:
        """f(0) and f(1): the smallest and the largest weight, as f is nondecreasing."""
        return self.weight(0.0), self.weight(1.0)

    @overload
    def weight(self, share: float) -> float: ...
    @overload
    def weight(self, share: npt.ArrayLike) -> FloatArray | float: ...
    def weight(self, share: npt.ArrayLike) -> FloatArray | float:
        """Return W = f(share) (`assump:multBias`) for one share or an array of them.

        >>> Power(2.0).weight(0.5)
        0.25
        """
        shares = np.asarray(share, dtype=np.float64)
        if not np.all((shares >= 0.0) & (shares <= 1.0)):
            raise InvalidInput("share", "in [0, 1]", share)
        code, parameters, kernel = self.code, self.parameters, self.kernel
        values = np.array([float(kernel(code, parameters, float(x))) for x in shares.ravel()])
        return float(values[0]) if shares.ndim == 0 else values.reshape(shares.shape)

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data; `bias_from_json` takes it back."""
        return {"name": self.name}

    def __str__(self) -> str:
        """Return the formula, as tables and pictures show it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Bias):
    """f(x) = value: no affinity.

    `Constant()` is the ordinary bandit (Section 2, feature (i)).
    """

    name: ClassVar[str] = "constant"
    value: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", checks.number("value", self.value, low=0.0))

    @property
    def code(self) -> int:
        return CONSTANT

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return (self.value,)

    @property
    def lipschitz(self) -> float:
        return 0.0

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value}

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True)
class Power(Bias):
    """f(x) = x**alpha, alpha >= 1.

    It is alpha-Lipschitz (Section 2, feature (ii)).
    """

    name: ClassVar[str] = "power"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        # Below 1 the slope at 0 is infinite, so the Lipschitz condition fails.
        object.__setattr__(self, "alpha", checks.number("alpha", self.alpha, low=1.0))

    @property
    def code(self) -> int:
        return {1.0: IDENTITY, 2.0: SQUARE, 3.0: CUBE}.get(self.alpha, POWER)

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return (self.alpha,)

    @property
    def lipschitz(self) -> float:
        return self.alpha

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "alpha": self.alpha}

    def __str__(self) -> str:
        return "x" if self.alpha == 1.0 else f"x^{self.alpha:g}"


@dataclass(frozen=True)
class Sigmoid(Bias):
    """f(x) = 1 / (1 + exp(-x)).

    It is 1/4-Lipschitz (Section 2, feature (iii)).
    """

    name: ClassVar[str] = "sigmoid"

    @property
    def code(self) -> int:
        return SIGMOID

    @property
    def lipschitz(self) -> float:
        return 0.25

    def __str__(self) -> str:
        return "1/(1+e^-x)"


@dataclass(frozen=True)
class Plateau(Bias):
    """Nearly 0 up to a share of beta/K, then a steep rise.

    The counterexample of `rem:comparisonUpperLowerBound`:

    f(x) = K**-100 for x <= beta/K, and (x - beta/K + K**-10)**10 beyond: 10-Lipschitz and
    nondecreasing, yet f(mu x) <= mu**L' f(x) fails for every constant L', so the upper and lower
    bounds of the paper part.
    """

    name: ClassVar[str] = "plateau"
    arms: int = 2
    beta: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", checks.integer("arms", self.arms, low=2, high=10**6))
        object.__setattr__(
            self,
            "beta",
            checks.number("beta", self.beta, low=0.0, high=float(self.arms), open_low=True),
        )

    @property
    def code(self) -> int:
        return PLATEAU

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return (self.beta / self.arms, float(self.arms) ** -10.0)

    @property
    def lipschitz(self) -> float:
        # The slope is 10 (x - beta/K + K**-10)**9, largest at x = 1, where the bracket can pass
        # 1 only if beta < K**-9.
        return 10.0 * max(1.0, (1.0 - self.own_parameters[0] + self.own_parameters[1]) ** 9)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.own_parameters[0],) if self.own_parameters[0] < 1.0 else ()

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "arms": self.arms, "beta": self.beta}

    def __str__(self) -> str:
        return f"plateau to {self.own_parameters[0]:g}"


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
        if not hasattr(self.function, "__code__") or self.function.__code__.co_freevars:
            raise InvalidInput(
                "function",
                "a plain Python function that reads no variable of an enclosing function",
                self.function,
            )
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
    def lipschitz(self) -> float:
        return self.lipschitz_constant

    @property
    def kernel(self) -> Function:
        return bind(custom_weight, function=self.function)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "label": self.label, "lipschitz": self.lipschitz_constant}

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Clipped(Bias):
    """max(low, min(high, base(x))).

    Both clips of any model satisfy the assumption (Section 2, feature (iii)).
    """

    name: ClassVar[str] = "clipped"
    base: Bias
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.base, Bias):
            raise InvalidInput("base", "a bias model", self.base)
        if self.low is None and self.high is None:
            raise InvalidInput("low", "given, unless high is", None)
        for name in ("low", "high"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, checks.number(name, given, low=0.0))
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InvalidInput("low", f"at most high ({self.high:g})", self.low)

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether f is analytic between its breakpoints."""
        return self.base.smooth

    @property
    def code(self) -> int:
        return self.base.code

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return self.base.own_parameters

    @property
    def clips(self) -> tuple[float, float]:
        # Clipping what is clipped already: the inner bounds, themselves clipped.
        low = -UNCLIPPED if self.low is None else self.low
        high = UNCLIPPED if self.high is None else self.high
        inner_low, inner_high = self.base.clips
        return min(max(inner_low, low), high), min(max(inner_high, low), high)

    @property
    def lipschitz(self) -> float:
        return self.base.lipschitz

    @property
    def kernel(self) -> Function:
        return self.base.kernel

    @property
    def breakpoints(self) -> tuple[float, ...]:
        levels = [level for level in (self.low, self.high) if level is not None]
        crossings = (_crossing(self.base, level) for level in levels)
        inside = {x for x in (*self.base.breakpoints, *crossings) if x is not None}
        return tuple(sorted(inside))

    def to_json(self) -> dict[str, Any]:
        ends = {"low": self.low, "high": self.high}
        given = {name: value for name, value in ends.items() if value is not None}
        return {"name": self.name, "base": self.base.to_json(), **given}

    def __str__(self) -> str:
        text = str(self.base)
        text = text if self.high is None else f"min({self.high:g}, {text})"
        return text if self.low is None else f"max({self.low:g}, {text})"


BIASES: dict[str, type[Bias]] = {
    model.name: model for model in (Constant, Power, Sigmoid, Clipped, Plateau, Custom)
}
"""Every bias model by its name."""


def bias_from_json(
    data: Mapping[str, Any], functions: Mapping[str, Callable[[float], float]] | None = None
) -> Bias:
    """Rebuild a bias model from `Bias.to_json`.

    Args:
        data: the description.
        functions: a user's own functions by label; `custom` descriptions name one of them,
            because code is never rebuilt from data.
    """
    if not isinstance(data, Mapping) or "name" not in data:
        raise InvalidInput("bias", "a table with a 'name'", data)
    given = dict(data)
    name = given.pop("name")
    if name not in BIASES:
        raise UnknownName("bias", name, BIASES)
    if name == Custom.name:
        known = dict(functions or {})
        label = given.get("label")
        if label not in known:
            raise UnknownName("bias label", label, known or ["(no functions were handed in)"])
        return Custom(known[label], given.get("lipschitz", math.nan), label)
    if name == Clipped.name and "base" in given:
        given["base"] = bias_from_json(given["base"], functions)
    model = BIASES[name]
    allowed = [item.name for item in fields(model)]
    for key in given:
        if key not in allowed:
            raise UnknownName(f"parameter of bias {name}", key, allowed or ["(none)"])
    if name == Clipped.name and "base" not in given:
        raise InvalidInput("base", "given: the bias model to clip", None)
    return model(**given)


def _finite_weight(function: Callable[[float], float], share: float) -> float:
    try:
        value = float(function(share))
    except Exception as error:
        raise InvalidInput(
            "function", f"defined on all of [0, 1]; at {share:g} it raised", error
        ) from error
    if not math.isfinite(value):
        raise InvalidInput("function", "bounded on (0, 1]", f"f({share:g}) = {value}")
    return value


def _crossing(base: Bias, level: float) -> float | None:
    """Return the share at which a nondecreasing f reaches the level, if inside (0, 1)."""
    lower, upper = 0.0, 1.0
    if base.weight(lower) >= level or base.weight(upper) <= level:
        return None
    while True:
        middle = 0.5 * (lower + upper)
        if middle in (lower, upper):
            return upper
        if base.weight(middle) < level:
            lower = middle
        else:
            upper = middle
