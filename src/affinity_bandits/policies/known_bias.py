"""What policies share that are told the bias and the initial pulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.policies.policy import require


class KnownBias(Protocol):
    """What a policy needs of the bias it is told; every model of the package offers it."""

    @property
    def code(self) -> int: ...
    @property
    def parameters(self) -> FloatArray: ...
    @property
    def kernel(self) -> Function: ...
    @property
    def breakpoints(self) -> tuple[float, ...]: ...
    @property
    def smooth(self) -> bool: ...
    def to_json(self) -> dict[str, Any]: ...


def check_bias(bias: object) -> None:
    """Raise InvalidInput unless it is a bias model."""
    wanted = ("code", "parameters", "kernel", "breakpoints", "smooth")
    if isinstance(bias, type) or not all(hasattr(bias, name) for name in wanted):
        raise InvalidInput("bias", "a bias model such as Power(1.0)", bias)


def checked_initial_pulls(pulls: Sequence[int] | None) -> Sequence[int] | None:
    """Return the initial pulls as they are kept, each at least 1; None, one of each group, stays.

    Raises:
        InvalidInput: one of them, or their sum, is out of range.
    """
    if pulls is None:
        return None
    found = checks.integers_list("initial_pulls", pulls, low=1)
    checks.integer("sum of initial_pulls", sum(found), low=1)
    return found


def initial_committee(pulls: Sequence[int] | None, arms: int) -> tuple[int, ...]:
    """Return the members of each arm before the first pull.

    Raises:
        InvalidInput: there are not as many as arms.
    """
    initial = (1,) * arms if pulls is None else tuple(pulls)
    require(
        len(initial) == arms,
        "initial_pulls",
        f"as long as there are arms ({arms})",
        f"{len(initial)} entries",
    )
    return initial
