"""Bias models: the weight that a share of the committee gives to scores."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from types import FunctionType
from typing import Any, ClassVar, overload

import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks, registry
from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.base.registry import Description
from affinity_bandits.kernels.kernel import FloatArray, Function, bind, kernel, unbound

__all__ = [
    "BIASES",
    "Bias",
    "Clipped",
    "Constant",
    "Custom",
    "InGroupBonus",
    "PiecewisePower",
    "Plateau",
    "Power",
    "Root",
    "Sigmoid",
    "Step",
    "bias_from_json",
    "register",
]


CONSTANT, IDENTITY, SQUARE, CUBE, POWER, SIGMOID, PLATEAU, CUSTOM, PIECEWISE_POWER = range(9)
IN_GROUP_BONUS = 9
CLIPPED = 16
"""Added to the code of a formula that is clipped."""
FORMULAS = set(range(10)) - {CUSTOM}
QUICK = (CONSTANT, IDENTITY, SQUARE, CUBE, IN_GROUP_BONUS)
"""The formulas of `quick_weight`."""
KNOWN = frozenset((*FORMULAS, *(formula + CLIPPED for formula in FORMULAS)))
"""The codes that `weight` computes."""


@kernel
def weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return f(share) for the bias model with this code; nan for a code outside `KNOWN`.

    `parameters` is (lower clip, upper clip, then the model's own). Small whole powers have their
    own codes, because a general power doubles the time of a simulated pull.
    """
    if code == IDENTITY:
        return share
    formula = code % CLIPPED
    if formula <= CUBE or formula == IN_GROUP_BONUS:
        value = quick_weight(formula, parameters, share)
    elif formula == POWER:
        value = share ** parameters[2]
    elif formula == SIGMOID:
        value = 1.0 / (1.0 + math.exp(-share))
    elif formula == PIECEWISE_POWER:
        value = piecewise_power(parameters, share)
    elif formula != PLATEAU:
        value = math.nan
    elif share <= parameters[2]:
        value = parameters[3] ** 10.0
    else:
        value = (share - parameters[2] + parameters[3]) ** 10.0
    return clip(parameters, value) if code >= CLIPPED else float(value)


@kernel
def quick_weight(formula: int, parameters: FloatArray, share: float) -> float:
    """Return f(share) for a formula that takes less time than a call."""
    if formula == IDENTITY:
        return share
    if formula == SQUARE:
        return share * share
    if formula == CUBE:
        return share * share * share
    if formula == IN_GROUP_BONUS:
        return float((1.0 + parameters[2] * share) / (1.0 + parameters[2]))
    return float(parameters[2])


@kernel
def piecewise_power(parameters: FloatArray, share: float) -> float:
    """Return f(share) for a list of points, each (share, weight, exponent up to the next)."""
    points = int(parameters[2])
    at = 3
    while at < 3 * points and share >= parameters[at + 3]:
        at += 3
    # f is flat before the first point, and beyond the last, whose exponent is 0.
    if share <= parameters[at]:
        return float(parameters[at + 1])
    return float(parameters[at + 1] * (share / parameters[at]) ** parameters[at + 2])


@kernel
def clip(parameters: FloatArray, value: float) -> float:
    """Return the value cut to the two clips."""
    if value < parameters[0]:
        return float(parameters[0])
    if value > parameters[1]:
        return float(parameters[1])
    return float(value)


UNCLIPPED = float(np.finfo(np.float64).max)
"""Stands for no clip, because JSON has no infinity."""
MOST_POINTS = 100


@dataclass(frozen=True)
class Bias(Description):
    """The base class of bias models, each a nondecreasing function f from share to weight.

    A model of your own is a frozen dataclass with a name, settings that are numbers, a Lipschitz
    constant and a `kernel`, a plain function that reads the settings in their order from index 2
    on. `Custom` takes only a function.

    >>> from affinity_bandits.testing import check_bias
    >>> def ramp(code, parameters, share):
    ...     return min(1.0, parameters[2] * share)
    >>> @dataclass(frozen=True)
    ... class Ramp(Bias):
    ...     name: ClassVar[str] = "ramp"
    ...     smooth: ClassVar[bool] = False  # it has a corner
    ...     slope: float = 2.0
    ...     lipschitz = property(lambda self: self.slope)
    ...     kernel = property(lambda self: ramp)
    >>> check_bias(Ramp(3.0))
    >>> str(Ramp(3.0)), Ramp(3.0).weight(0.25)
    ('ramp(slope=3)', 0.75)
    """

    smooth: ClassVar[bool] = True
    """Whether the round engine may sum f by few points.

    It may where f has no corner between its breakpoints and changes gradually, on a scale of a
    twentieth of all shares or more. If in doubt, say False, which is slower and always right.
    """

    @property
    def code(self) -> int:
        """The code of this model's formula in the kernel `weight`."""
        return CUSTOM

    @property
    def own_parameters(self) -> tuple[float, ...]:
        """The parameters after the two clips: by default the settings, in their order."""
        settings = (getattr(self, item.name) for item in fields(self))
        return tuple(float(one) for one in settings if isinstance(one, numbers.Real))

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant L of the bias, possibly infinite."""
        raise NotImplementedError

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """The kinks of f: shares inside (0, 1), ascending."""
        return ()

    @property
    def clips(self) -> tuple[float, float]:
        """Lower and upper clip."""
        return (-UNCLIPPED, UNCLIPPED)

    @property
    def parameters(self) -> FloatArray:
        """All numbers that `weight` reads, in its order."""
        return np.array([*self.clips, *self.own_parameters, 0.0, 0.0], dtype=np.float64)

    @property
    def kernel(self) -> Function:
        """The plain function (code, parameters, share) -> weight that evaluates this model.

        Raises:
            NotSupported: the model needs a function of its own.
        """
        if self.code not in KNOWN:
            raise NotSupported(
                f"bias {self.name} has code {self.code}, which is no formula of model/bias.py: "
                f"let the model's kernel be a function of its own"
            )
        return weight

    @property
    def bounds(self) -> tuple[float, float]:
        """f(0) and f(1): the smallest and the largest weight."""
        return self.weight(0.0), self.weight(1.0)

    @overload
    def weight(self, share: float) -> float: ...
    @overload
    def weight(self, share: npt.ArrayLike) -> FloatArray | float: ...
    def weight(self, share: npt.ArrayLike) -> FloatArray | float:
        """Return W = f(share) (Assumption 2.1) for one share or an array of them.

        >>> from affinity_bandits import Power
        >>> Power(2.0).weight(0.5)
        0.25
        """
        try:
            shares = np.asarray(share, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput("share", "in [0, 1]", share) from None
        if not np.all((shares >= 0.0) & (shares <= 1.0)):
            raise InvalidInput("share", "in [0, 1]", share)
        code, parameters, kernel = self.code, self.parameters, self.kernel
        values = np.array([float(kernel(code, parameters, float(x))) for x in shares.ravel()])
        return float(values[0]) if shares.ndim == 0 else values.reshape(shares.shape)

    def check_own(self) -> None:
        """Check a model with a kernel of its own, whose mistakes compiled code would hide.

        Raises:
            InvalidInput: its settings are lost, its kernel raises, or f is no bias on a grid.
        """
        if self.code in KNOWN or isinstance(self, Custom):
            return
        self.to_json()
        grid = np.linspace(0.0, 1.0, OWN_GRID)
        values = np.asarray(registry.own("bias", "kernel", lambda: self.weight(grid)))
        falls = np.flatnonzero(~(np.diff(values) >= 0.0))
        if not np.all(np.isfinite(values)) or values[0] < 0.0 or len(falls):
            at = int(falls[0]) if len(falls) else 0
            told = [f"f({grid[i]:g}) = {values[i]:g}" for i in (at, at + 1)]
            rule = "finite, at least 0 and nondecreasing on [0, 1]"
            raise InvalidInput("bias", rule, f"{self} with {' and '.join(told)}")


OWN_GRID = 257
"""Shares at which a model with a kernel of its own is evaluated, ends included."""


@dataclass(frozen=True)
class Constant(Bias):
    """f(x) = value: the same weight for every group.

    `Constant()` is the ordinary bandit (Section 2, feature (i)).
    """

    name: ClassVar[str] = "constant"
    code = CONSTANT
    lipschitz = 0.0
    value: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.number, "value", low=0.0)

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True)
class InGroupBonus(Bias):
    """f(x) = (1 + bonus x) / (1 + bonus): judges raise the scores of their own group by the bonus.

    The mean factor 1 + bonus x of a committee with the share x is divided by 1 + bonus, so that
    f(1) = 1. It satisfies Assumption 2.1 with L = bonus / (1 + bonus), also its steepness.

    >>> InGroupBonus(0.25).weight(0.0), InGroupBonus(0.25).weight(1.0)
    (0.8, 1.0)
    """

    name: ClassVar[str] = "in-group-bonus"
    code = IN_GROUP_BONUS
    bonus: float = 0.1

    def __post_init__(self) -> None:
        self._check(checks.number, "bonus", low=0.0, high=1e9)

    @property
    def lipschitz(self) -> float:
        return self.bonus / (1.0 + self.bonus)

    def __str__(self) -> str:
        return f"(1+{self.bonus:g}x)/{1.0 + self.bonus:g}"


@dataclass(frozen=True)
class Power(Bias):
    """f(x) = x**alpha, alpha >= 1.

    It is alpha-Lipschitz (Section 2, feature (ii)).
    """

    name: ClassVar[str] = "power"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        # Below 1 the slope at 0 is infinite, so the Lipschitz condition fails.
        self._check(checks.number, "alpha", low=1.0)

    @property
    def code(self) -> int:
        whole = {1.0: IDENTITY, 2.0: SQUARE, 3.0: CUBE}
        return whole.get(self.alpha, POWER)

    @property
    def lipschitz(self) -> float:
        return self.alpha

    def __str__(self) -> str:
        return "x" if self.alpha == 1.0 else f"x^{self.alpha:g}"


@dataclass(frozen=True)
class Root(Bias):
    """f(x) = x**alpha, 0 < alpha < 1: steep where a group is rare.

    It is not Lipschitz continuous (Assumption 2.1), so the functions of `theory` refuse it.
    """

    name: ClassVar[str] = "root"
    smooth: ClassVar[bool] = False  # no derivative at 0, which series would need
    code = POWER
    lipschitz = math.inf
    alpha: float = 0.5

    def __post_init__(self) -> None:
        self._check(checks.number, "alpha", low=0.0, high=1.0, open_low=True, open_high=True)

    def __str__(self) -> str:
        return f"x^{self.alpha:g}"


@dataclass(frozen=True)
class Sigmoid(Bias):
    """f(x) = 1 / (1 + exp(-x)).

    It is 1/4-Lipschitz (Section 2, feature (iii)).
    """

    name: ClassVar[str] = "sigmoid"
    code = SIGMOID
    lipschitz = 0.25

    def __str__(self) -> str:
        return "1/(1+e^-x)"


@kernel
def step_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return the lower weight below the share of the step, the higher from there on."""
    return float(parameters[3]) if share < parameters[2] else float(parameters[4])


@dataclass(frozen=True)
class Step(Bias):
    """f(x) = low if x < at, else high: a majority counts.

    It is not continuous (Assumption 2.1), so the functions of `theory` refuse it. `PiecewisePower`
    is a continuous alternative.
    """

    name: ClassVar[str] = "step"
    smooth: ClassVar[bool] = False
    at: float = 0.5
    low: float = 0.5
    high: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.number, "at", low=0.0, high=1.0, open_low=True, open_high=True)
        self._check(checks.number, "low", low=0.0)
        self._check(checks.number, "high", low=self.low)

    @property
    def lipschitz(self) -> float:
        return math.inf if self.high > self.low else 0.0

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (self.at,)

    @property
    def kernel(self) -> Function:
        return step_weight

    def __str__(self) -> str:
        return f"{self.low:g} below {self.at:g}, then {self.high:g}"


@dataclass(frozen=True)
class PiecewisePower(Bias):
    """f through given points, a power of the share between two of them, flat beyond the ends.

    It satisfies Assumption 2.1: between points (x, w) and (y, v) it is w (s/x)**e with
    e = log(v/w) / log(y/x). It can approximate a root near 0, a step or a measured curve.

    Args:
        shares: ascending, in (0, 1].
        weights: f there, positive and nondecreasing.

    >>> ramp = PiecewisePower([0.01, 0.5], [0.1, 1.0])
    >>> ramp.weight(0.9), round(ramp.weight(0.05), 3)
    (1.0, 0.258)
    """

    name: ClassVar[str] = "piecewise-power"
    code = PIECEWISE_POWER
    shares: Sequence[float]
    weights: Sequence[float]

    __repr__ = one_line

    def __post_init__(self) -> None:
        # The ratio of any two weights must be a finite number: exponents contain its logarithm.
        self._check(checks.numbers_list, "shares", low=1e-18, high=1.0)
        self._check(checks.numbers_list, "weights", low=1e-300, high=1e8)
        shares, weights = self.shares, self.weights
        if not 1 <= len(shares) <= MOST_POINTS:
            raise InvalidInput("shares", f"a list of 1 to {MOST_POINTS} shares", len(shares))
        if len(weights) != len(shares):
            raise InvalidInput("weights", f"as long as shares ({len(shares)})", len(weights))
        if any(right <= left for left, right in pairwise(shares)):
            raise InvalidInput("shares", "ascending", list(shares))
        if any(right < left for left, right in pairwise(weights)):
            raise InvalidInput("weights", "nondecreasing", list(weights))

    @property
    def exponents(self) -> tuple[float, ...]:
        """The power between each point and the next; 0 after the last."""
        points = pairwise(zip(self.shares, self.weights, strict=True))
        return (*(_log_ratio(w, v) / _log_ratio(x, y) for (x, w), (y, v) in points), 0.0)

    @property
    def steepness(self) -> float:
        """The smallest e such that f(c x) <= c**e f(x) for every c > 1."""
        return max(self.exponents)

    @property
    def own_parameters(self) -> tuple[float, ...]:
        points = zip(self.shares, self.weights, self.exponents, strict=True)
        return (float(len(self.shares)), *(number for point in points for number in point))

    @property
    def lipschitz(self) -> float:
        # The slope e f(x) / x grows with x if e > 1 and falls if e < 1: largest at an end.
        slopes = [
            exponent * self.weights[end] / self.shares[end]
            for place, exponent in enumerate(self.exponents[:-1])
            for end in (place, place + 1)
        ]
        return max(slopes, default=0.0)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return tuple(share for share in self.shares if share < 1.0)

    def __str__(self) -> str:
        if len(self.shares) == 1:
            return f"{self.weights[0]:g}"
        low, high = self.weights[0], self.weights[-1]
        return f"from {low:.3g} to {high:.3g}, at most as steep as x^{self.steepness:.3g}"


@dataclass(frozen=True)
class Plateau(Bias):
    """Nearly 0 up to a share of beta/K, then a steep rise.

    The counterexample of Remark D.2: f(x) = K**-100 for x <= beta/K, and
    (x - beta/K + K**-10)**10 beyond. It is 10-Lipschitz and nondecreasing, but
    f(mu x) <= mu**L' f(x) fails for every constant L'.
    """

    name: ClassVar[str] = "plateau"
    code = PLATEAU
    arms: int = 2
    beta: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.integer, "arms", low=2, high=10**6)
        self._check(checks.number, "beta", low=0.0, high=float(self.arms), open_low=True)

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

    def __str__(self) -> str:
        return f"plateau to {self.own_parameters[0]:g}"


def _log_ratio(low: float, high: float) -> float:
    """Return log(high / low), precise also where the two are nearly equal."""
    return math.log1p((high - low) / low) if high < 2.0 * low else math.log(high / low)


function: Function = unbound
inner: Function = unbound
GRID = 4097
"""Points at which the user's function is checked: 2**12 cells, ends included."""


@kernel
def custom_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return f(share); `function` is bound to the user's function."""
    return float(function(share))


@dataclass(frozen=True)
class Custom(Bias):
    """Your own function, from Python.

    It is checked on a grid for the rules of Assumption 2.1.

    Args:
        function: takes a share in [0, 1] as a float, returns a weight. It is compiled, so it may
            use only arithmetic and `math`.
        lipschitz_constant: the declared L; a steeper slope on the grid raises an error.
        label: its name in tables and saved descriptions.
    """

    name: ClassVar[str] = "custom"
    smooth: ClassVar[bool] = False
    own_parameters = ()
    function: Callable[[float], float]
    lipschitz_constant: float
    label: str = "custom"

    @classmethod
    def measured(cls, function: Callable[[float], float]) -> Custom:
        """Return a bias whose L is the steepest slope of the function on the grid."""
        grid = np.linspace(0.0, 1.0, GRID)
        values = np.array([_finite_weight(function, float(x)) for x in grid])
        slope = float(np.abs(np.diff(values)).max()) * (GRID - 1)
        named = function.__name__.isidentifier()
        return cls(function, slope, function.__name__ if named else "custom")

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
        self._check(checks.number, "lipschitz_constant", low=0.0)
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


@kernel
def clipped_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return the weight of a model with its own kernel, clipped."""
    return clip(parameters, inner(code, parameters, share))


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
        self._check_optional(checks.number, "low", "high", low=0.0)
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InvalidInput("low", f"at most high ({self.high:g})", self.low)

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether f is analytic between its breakpoints."""
        return self.base.smooth

    @property
    def code(self) -> int:
        return self.base.code % CLIPPED + CLIPPED

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return self.base.own_parameters

    @property
    def clips(self) -> tuple[float, float]:
        # If the base is clipped too, its clips are clipped.
        low = -UNCLIPPED if self.low is None else self.low
        high = UNCLIPPED if self.high is None else self.high
        inner_low, inner_high = self.base.clips
        return min(max(inner_low, low), high), min(max(inner_high, low), high)

    @property
    def lipschitz(self) -> float:
        return self.base.lipschitz

    @property
    def kernel(self) -> Function:
        if self.base.code % CLIPPED != CUSTOM:
            return self.base.kernel
        return bind(clipped_weight, inner=self.base.kernel)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        levels = [level for level in (self.low, self.high) if level is not None]
        crossings = (_crossing(self.base, level) for level in levels)
        inside = {x for x in (*self.base.breakpoints, *crossings) if x is not None}
        return tuple(sorted(inside))

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in super().to_json().items() if value is not None}

    def __str__(self) -> str:
        text = str(self.base)
        text = text if self.high is None else f"min({self.high:g}, {text})"
        return text if self.low is None else f"max({self.low:g}, {text})"


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


BIASES: registry.Registry[type[Bias]] = registry.Registry(
    "bias",
    Bias,
    "a class of bias models",
    (
        Constant,
        InGroupBonus,
        Power,
        Root,
        Sigmoid,
        Step,
        Clipped,
        PiecewisePower,
        Plateau,
        Custom,
    ),
)
"""Every bias model by its name."""
register = BIASES.register


def bias_from_json(
    data: Mapping[str, Any] | str,
    functions: Mapping[str, Callable[[float], float]] | None = None,
    *,
    imports: bool = False,
) -> Bias:
    """Rebuild a bias model from its name or from `Bias.to_json`.

    Args:
        data: the name, or a table with a "name" and settings.
        functions: the user's functions by label, for `custom` models.
        imports: whether a name may be "module:Class", which is then imported. Only for trusted
            input.

    >>> bias_from_json("power") == Power(1.0)
    True
    """
    if isinstance(data, Mapping) and data.get("name") == Clipped.name and "base" in data:
        data = {**data, "base": bias_from_json(data["base"], functions, imports=imports)}
    model: Bias = BIASES.build(data, functions, imports=imports)
    return model
