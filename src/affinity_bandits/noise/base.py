"""What every noise offers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.noise.laws import QUANTILE_GATED, QUANTILE_REDRAWN, QUANTILE_SCALED

MECHANISMS = ("scaled", "shifted", "gated", "redrawn")
"""How a weight enters: the three transformations of Section 2, feature (iv), named (a), (b) and (c)
there, and one that is not in the paper, a value drawn from the noise's own law at the mean mu W."""
MOST_NODES = 17
"""Scores at which a continuous law is looked at."""


class FiniteLaws(NamedTuple):
    """The law of each arm's true value where it is one of a list; empty where it is not."""

    values: FloatArray  # mapped to [0, 1], ascending
    cumulative: FloatArray  # [arm, value]: the probability of this value or a lower one
    conditional: FloatArray  # [arm, value]: the probability of this one, given no lower one


def no_quantile(parameters: FloatArray, mean: float, u: float) -> float:
    """Stand for the kernel of a noise that the loops know by its law; a kernel."""
    return math.nan


def grid(lowest: float, highest: float) -> tuple[float, ...]:
    """Return evenly spaced scores, both ends included."""
    return tuple(float(x) for x in np.linspace(lowest, highest, MOST_NODES))


NOT_FINITE = FiniteLaws(np.empty(0), np.empty((0, 0)), np.empty((0, 0)))


@dataclass(frozen=True)
class Noise:
    """What every noise offers; the noises of this room are its subclasses.

    People give scores from `lowest` to `highest`. Policies see them mapped to [0, 1], as in a
    live campaign, where 0 is the lowest score, and true means are on that scale, too, because a
    weight multiplies what lies above the lowest score. A noise without a range is left as it is.

    One of your own is a frozen dataclass with a name, settings that are numbers, a range, and a
    `kernel` that turns parameters (the settings in their order), a mean and a uniform number into a
    value. It is immutable, compares by value and, but for `CustomNoise`, is rebuilt from its JSON
    form by `noise_from_json`. `CustomNoise` takes a mere function.

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

    name: ClassVar[str]
    mechanisms: ClassVar[tuple[str, ...]] = ("gated", "scaled", "redrawn")
    """What can be done to it, the one that is taken if none is named first."""
    keeps_range: ClassVar[bool] = True
    """Whether all of them keep feedback between 0 and 1, which takes weights of at most 1."""

    @property
    def lowest(self) -> float:
        """The lowest score that there is."""
        return 0.0

    @property
    def highest(self) -> float:
        """The highest score that there is."""
        return 1.0

    @property
    def nodes(self) -> tuple[float, ...]:
        """The scores that there are or, where they are too many, a grid; none without a range."""
        return grid(self.lowest, self.highest)

    def mapped(self, scores: npt.ArrayLike) -> Any:
        """Return scores on the scale that policies see and true means are given on.

        >>> from affinity_bandits import Ordinal
        >>> Ordinal().mapped([1.0, 3.0, 5.0]).tolist()
        [0.0, 0.5, 1.0]
        """
        given = _numbers("scores", scores)
        if not self._has_range:
            return given
        return (given - self.lowest) / (self.highest - self.lowest)

    def as_scores(self, values: npt.ArrayLike) -> Any:
        """Return what `mapped` was given."""
        given = _numbers("values", values)
        return self.lowest + (self.highest - self.lowest) * given if self._has_range else given

    @property
    def _has_range(self) -> bool:
        return self.highest - self.lowest < math.inf

    def check_means(self, means: Sequence[float]) -> None:
        """Check that the arms can have these true means.

        Raises:
            InvalidInput: one of them lies outside of what the noise can have.
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

    @property
    def _mean_bounds(self) -> tuple[float, float]:
        """The smallest and the largest true mean."""
        return 0.0, 1.0

    def law_code(self, mechanism: str) -> int:
        """Return the number of the law of feedback, for kernels."""
        codes = {
            "scaled": QUANTILE_SCALED,
            "gated": QUANTILE_GATED,
            "redrawn": QUANTILE_REDRAWN,
        }
        return codes[mechanism]

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
            NotSupported: a noise of your own has to bring its own function.
        """
        raise NotSupported(
            f"noise {self.name} has no kernel: let it be a function from parameters, a mean and a "
            f"uniform number to a value"
        )

    def finite_laws(self, means: Sequence[float]) -> FiniteLaws:
        """Return each arm's law, where true values are one of a list."""
        return NOT_FINITE

    def ends(self, means: FloatArray) -> FloatArray:
        """Return the smallest and the largest true value of each arm, [end, arm]."""
        return np.array([means >= 1.0, means > 0.0], dtype=np.float64)

    def subgaussian(
        self, means: Sequence[float], mechanism: str, least: float, most: float
    ) -> float:
        """Return the subGaussian constant of feedback with weights from `least` to `most`.

        Half of the width of what feedback lies in always will do, and is what is taken for a
        noise of which no more is known.
        """
        return math.inf

    def law(self, mechanism: str, least: float, most: float) -> str | None:
        """Return the law of feedback if it is one of `feedback.LAWS`, else None."""
        return None

    def why_no_rounds(self, mechanism: str) -> str | None:
        """Return why the sum of a round's feedback cannot be drawn at once, or None if it can."""
        return f"sums of {self.name} scores have no law that can be drawn at once"

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data; `noise_from_json` takes it back."""
        return {"name": self.name} | {item.name: getattr(self, item.name) for item in fields(self)}

    def __str__(self) -> str:
        """Return what tables and pictures call it."""
        settings = [f"{item.name}={getattr(self, item.name):g}" for item in fields(self)]
        return f"{self.name}({', '.join(settings)})" if settings else self.name


def _numbers(parameter: str, given: npt.ArrayLike) -> FloatArray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(parameter, "a number or an array of them", given) from None
