"""Codes of the laws of feedback, noise and mechanism in one, for kernels."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks, registry
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.base.registry import Description
from affinity_bandits.kernels.kernel import FloatArray, Function, bind, kernel, unbound

BERNOULLI_SCALED, BERNOULLI_SHIFTED, BERNOULLI_GATED = range(3)
GAUSSIAN_SCALED, GAUSSIAN_SHIFTED, GAUSSIAN_GATED = range(3, 6)
FINITE_SCALED, FINITE_GATED = range(6, 8)
QUANTILE_SCALED, QUANTILE_GATED, QUANTILE_REDRAWN = range(8, 11)


@kernel
def is_normal(law: int) -> bool:
    """Return whether a law reads standard normal numbers instead of uniform ones."""
    return GAUSSIAN_SCALED <= law <= GAUSSIAN_GATED


@kernel
def reads_gate(law: int) -> bool:
    """Return whether a law reads a second number, for the gate."""
    return law in (GAUSSIAN_GATED, FINITE_GATED, QUANTILE_GATED)


MECHANISMS = ("scaled", "shifted", "gated", "redrawn")
"""How a weight enters: transformations (a), (b) and (c) of Section 2, feature (iv), and one that is
not in the paper, a value drawn from the noise's own law at the mean mu W."""
MOST_NODES = 17
"""Scores in the grid of a continuous law."""


class FiniteLaws(NamedTuple):
    """The law of each arm's true value if it is discrete; else empty."""

    values: FloatArray  # mapped to [0, 1], ascending
    cumulative: FloatArray  # [arm, value]: the probability of this value or a lower one
    conditional: FloatArray  # [arm, value]: the probability of this one, given no lower one


@kernel
def no_quantile(parameters: FloatArray, mean: float, u: float) -> float:
    """Stand for the kernel of a noise that the loops know by its law code."""
    return math.nan


def grid(lowest: float, highest: float) -> tuple[float, ...]:
    """Return evenly spaced scores, both ends included."""
    return tuple(float(x) for x in np.linspace(lowest, highest, MOST_NODES))


NOT_FINITE = FiniteLaws(np.empty(0), np.empty((0, 0)), np.empty((0, 0)))


@dataclass(frozen=True)
class Noise(Description):
    """The base class of noises.

    People give scores from `lowest` to `highest`. Policies see them mapped to [0, 1], the scale of
    true means, because a weight multiplies the part of a score above the lowest one. Unbounded
    scores are not mapped.

    A noise of your own is a frozen dataclass with a name, settings that are numbers, a range, and a
    `kernel` that turns parameters (the settings in order), a mean and a uniform number into a
    value. `CustomNoise` takes only a function.

    >>> from affinity_bandits.testing import check_noise
    >>> def around(parameters, mean, u):
    ...     return mean + (2.0 * u - 1.0) * parameters[0] * min(mean, 1.0 - mean)
    >>> @dataclass(frozen=True)
    ... class Around(Noise):
    ...     name: ClassVar[str] = "around"
    ...     part: float = 1.0  # of the way to the nearer end of the range
    ...     kernel = property(lambda self: around)
    >>> check_noise(Around(0.5))
    >>> str(Around(0.5))
    'around(part=0.5)'
    """

    mechanisms: ClassVar[tuple[str, ...]] = ("gated", "scaled", "redrawn")
    """The mechanisms that it supports, the default first."""
    laws: ClassVar[Mapping[str, int]] = {
        "scaled": QUANTILE_SCALED,
        "gated": QUANTILE_GATED,
        "redrawn": QUANTILE_REDRAWN,
    }
    keeps_range: ClassVar[bool] = True
    """Whether all mechanisms keep feedback in [0, 1], which requires weights of at most 1."""

    @property
    def lowest(self) -> float:
        """The lowest score."""
        return 0.0

    @property
    def highest(self) -> float:
        """The highest score."""
        return 1.0

    @property
    def nodes(self) -> tuple[float, ...]:
        """The scores or, if they are too many, a grid; empty for an unbounded noise."""
        return grid(self.lowest, self.highest)

    def mapped(self, scores: npt.ArrayLike) -> Any:
        """Map scores to the scale of policies and true means.

        >>> from affinity_bandits import Ordinal
        >>> Ordinal().mapped([1.0, 3.0, 5.0]).tolist()
        [0.0, 0.5, 1.0]
        """
        given = _numbers("scores", scores)
        if not self._has_range:
            return given
        return (given - self.lowest) / (self.highest - self.lowest)

    def as_scores(self, values: npt.ArrayLike) -> Any:
        """Return scores; the inverse of `mapped`."""
        given = _numbers("values", values)
        return self.lowest + (self.highest - self.lowest) * given if self._has_range else given

    @property
    def _has_range(self) -> bool:
        return self.highest - self.lowest < math.inf

    def check_means(self, means: Sequence[float]) -> None:
        """Check that the noise allows these true means.

        Raises:
            InvalidInput: a mean is out of range.
        """
        low, high = self._mean_bounds
        for place, mean in enumerate(means):
            if not low <= mean <= high:
                rule = f"a number in [{low:.6g}, {high:.6g}]"
                if (self.lowest, self.highest) != (0.0, 1.0):
                    rule += (
                        f", the part of the scores {self.lowest:g} to {self.highest:g} that "
                        f"lies below it (noise.mapped)"
                    )
                raise InvalidInput(f"true_means[{place}]", rule, mean)

    def check_own(self, means: Sequence[float]) -> None:
        """Check a noise whose class is a user's own, whose mistakes compiled code would hide.

        Raises:
            InvalidInput: its settings are lost, or its kernel raises or returns no number.
        """
        if not registry.is_own(type(self)) or self.laws is not Noise.laws:
            return
        self.to_json()
        kernel, parameters = self.kernel, self.parameters
        grid = [
            (mean, at / OWN_GRID)
            for mean in sorted(set(means))[:OWN_MEANS]
            for at in range(OWN_GRID)
        ]
        values = registry.own(
            "noise", "kernel", lambda: [float(kernel(parameters, *point)) for point in grid]
        )
        for (mean, u), value in zip(grid, values, strict=True):
            if not math.isfinite(value):
                rule = "one whose kernel returns a finite number"
                raise InvalidInput("noise", rule, f"{value} at mean {mean:g}, u = {u:g}")

    @property
    def _mean_bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def law_code(self, mechanism: str) -> int:
        """Return the code of the law of feedback, for kernels."""
        return self.laws[mechanism]

    @property
    def parameters(self) -> FloatArray:
        """The numbers that `kernel` reads: the settings, in their order."""
        settings = (getattr(self, item.name) for item in fields(self))
        found = [float(one) for one in settings if isinstance(one, numbers.Real)]
        return np.array(found or [0.0])

    @property
    def kernel(self) -> Function:
        """The plain function (parameters, mean, u) -> value, both between 0 and 1.

        For u uniform in [0, 1) the value has that mean.

        Raises:
            NotSupported: a noise of your own needs its own function.
        """
        if self.laws is not Noise.laws:
            return no_quantile
        raise NotSupported(
            f"noise {self.name} has no kernel: let it be a function from parameters, a mean and a "
            f"uniform number to a value"
        )

    def finite_laws(self, means: Sequence[float]) -> FiniteLaws:
        """Return each arm's law, if true values are discrete."""
        return NOT_FINITE

    def ends(self, means: FloatArray) -> FloatArray:
        """Return the smallest and the largest true value of each arm, [end, arm]."""
        return np.array([means >= 1.0, means > 0.0], dtype=np.float64)

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        """Return the subGaussian constant of feedback with weights from `least` to `most`.

        Infinite if unknown: half of the width of the feedback's range is used then.
        """
        return math.inf

    def law(self, mechanism: str, least: float, most: float) -> str | None:
        """Return the law of feedback if it is one of `feedback.LAWS`."""
        return None

    def why_no_rounds(self, mechanism: str) -> str | None:
        """Return why the sum of a round's feedback cannot be drawn at once; None if it can."""
        return f"sums of {self.name} scores have no law that can be drawn at once"

    def _check_range(self) -> None:
        self._check(checks.number, "lowest", low=-1e9, high=1e9)
        self._check(checks.number, "highest", low=self.lowest, high=1e9, open_low=True)


def _numbers(parameter: str, given: npt.ArrayLike) -> FloatArray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(parameter, "a number or an array of them", given) from None


OWN_MEANS, OWN_GRID = 16, 64
"""Means, and uniform numbers for each, at which the kernel of a user's own noise is evaluated."""
sampler: Function = unbound
GRID = 1024
"""Uniform numbers with which the sampler is checked at each node."""
TOLERANCE = 1e-3
"""Tolerance for its mean, in parts of the range: twice the error of the grid."""


@kernel
def custom_value(parameters: FloatArray, mean: float, u: float) -> float:
    """Return a score, mapped to [0, 1]; `sampler` is bound to the user's function."""
    lowest, span = parameters[0], parameters[1]
    value = (sampler(lowest + span * mean, u) - lowest) / span
    return float(min(1.0, max(0.0, value)))


@dataclass(frozen=True)
class CustomNoise(Noise):
    """Your own sampler, from Python.

    It is checked on a grid: its scores must lie in the range and have the given mean.

    Args:
        sampler: takes a mean, a score from `lowest` to `highest`, and a number that is uniform in
            [0, 1); returns a score. It is compiled, so it may use only arithmetic and `math`.
        lowest: the lowest score.
        highest: the highest score.
        label: its name in tables and saved descriptions.

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
        self._check_range()
        lowest, highest = self.lowest, self.highest
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

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "lowest": self.lowest,
            "highest": self.highest,
            "label": self.label,
        }

    def __str__(self) -> str:
        return self.label
