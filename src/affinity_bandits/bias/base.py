"""The base class of bias models."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, fields
from typing import Any, ClassVar, overload

import numpy as np
import numpy.typing as npt

from affinity_bandits.bias.weights import CUSTOM, KNOWN, weight
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.kernels import FloatArray, Function

UNCLIPPED = float(np.finfo(np.float64).max)
"""Where there is no clip: the outermost float, because JSON has no infinity."""


@dataclass(frozen=True)
class Bias:
    """The base class of bias models, each a nondecreasing function f from share to weight.

    A model is immutable, compares by value and, but for `Custom`, is rebuilt from its JSON form
    by `bias_from_json`. One of your own is a frozen dataclass with a name, settings that are
    numbers, a Lipschitz constant and a `kernel`, a plain function that reads the settings in their
    order from place 2 on. `Custom` takes a mere function.

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

    name: ClassVar[str]
    smooth: ClassVar[bool] = True

    @property
    def code(self) -> int:
        """The number by which the kernel `weight` knows this model's formula, if it does."""
        return CUSTOM

    @property
    def own_parameters(self) -> tuple[float, ...]:
        """The formula's own numbers, after the two clips: the settings, in their order."""
        settings = (getattr(self, item.name) for item in fields(self))
        return tuple(float(one) for one in settings if isinstance(one, numbers.Real))

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant L, infinite if there is none.

        See `assump:multBias`.
        """
        raise NotImplementedError

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Shares inside (0, 1) at which f is not smooth, ascending."""
        return ()

    @property
    def clips(self) -> tuple[float, float]:
        """Lower and upper clip; the largest floats where there is none, as JSON has no infinity."""
        return (-UNCLIPPED, UNCLIPPED)

    @property
    def parameters(self) -> FloatArray:
        """All numbers that `weight` reads, in its order."""
        return np.array([*self.clips, *self.own_parameters, 0.0, 0.0], dtype=np.float64)

    @property
    def kernel(self) -> Function:
        """The plain function (code, parameters, share) -> weight that evaluates this model.

        Raises:
            NotSupported: a model with a code of its own has to bring its own function.
        """
        if self.code not in KNOWN:
            raise NotSupported(
                f"bias {self.name} has code {self.code}, which is no formula of bias/weights.py: "
                f"let the model's kernel be a function of its own"
            )
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

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data; `bias_from_json` reads it back."""
        return {"name": self.name} | {item.name: getattr(self, item.name) for item in fields(self)}

    def __str__(self) -> str:
        """Return the formula, as tables and pictures show it."""
        settings = [f"{item.name}={getattr(self, item.name):g}" for item in fields(self)]
        return f"{self.name}({', '.join(settings)})" if settings else self.name
