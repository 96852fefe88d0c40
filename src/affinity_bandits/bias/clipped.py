"""Clips of another model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import UNCLIPPED, Bias
from affinity_bandits.bias.weights import CLIPPED, CUSTOM, clipped
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function, bind, unbound

inner: Function = unbound


def clipped_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Return the weight of a model that does not clip it, clipped; a kernel."""
    return clipped(parameters, inner(code, parameters, share))


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
        return self.base.code % CLIPPED + CLIPPED

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
        if self.base.code % CLIPPED != CUSTOM:
            return self.base.kernel
        # One with a kernel of its own need not know that it is clipped.
        return bind(clipped_weight, inner=self.base.kernel)

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
