"""The base class of bias models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, overload

import numpy as np
import numpy.typing as npt

from affinity_bandits.bias.weights import KNOWN, weight
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.kernels import FloatArray, Function

UNCLIPPED = float(np.finfo(np.float64).max)
"""Where there is no clip: the outermost float, because JSON has no infinity."""


@dataclass(frozen=True)
class Bias:
    """The base class of bias models, each a nondecreasing function f from share to weight.

    A model is immutable, compares by value and, but for `Custom`, is rebuilt from its JSON form
    by `bias_from_json`.
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = True

    @property
    def code(self) -> int:
        """The number by which the kernel `weight` knows this model's formula."""
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
                f"add it there, or let the model's kernel be a function of its own"
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
        return {"name": self.name}

    def __str__(self) -> str:
        """Return the formula, as tables and pictures show it."""
        raise NotImplementedError
