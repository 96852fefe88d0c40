"""Mistakes of a user's own bias or noise that compiled code would hide; each is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Clipped, simulate
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bias import Bias
from affinity_bandits.model.noise import Noise

MEANS = [0.4, 0.6]


def half(code: int, parameters: FloatArray, share: float) -> float:
    return 0.5 * share


def outside(code: int, parameters: FloatArray, share: float) -> float:
    """Compiled, this reads foreign memory, and ended the process."""
    return 0.5 * share + (parameters[70_000_000] if 0.3 < share < 0.4 else 0.0)


def falling(code: int, parameters: FloatArray, share: float) -> float:
    return 1.0 - 0.5 * share


def negative(code: int, parameters: FloatArray, share: float) -> float:
    return share - 0.1


def undefined(code: int, parameters: FloatArray, share: float) -> float:
    return share if share < 0.5 else float("nan")


def other_numbers(code: int, parameters: FloatArray, share: float) -> float:
    return float(np.random.random())  # noqa: NPY002 - the mistake


def made(function: Callable[..., float]) -> Bias:
    @dataclass(frozen=True)
    class Own(Bias):
        name: ClassVar[str] = "own"
        lipschitz: ClassVar[float] = 1.0
        kernel = property(lambda self: function)

    return Own()


class Undecorated(Bias):
    """Settings that are no fields: results of different ones could be merged."""

    name: ClassVar[str] = "undecorated"
    lipschitz: ClassVar[float] = 1.0
    kernel = property(lambda self: half)

    def __init__(self, low: float) -> None:
        self._set(low=low)


MISTAKES = {
    outside: "one whose kernel raises nothing, got 'IndexError: index 70000000",
    falling: "nondecreasing on [0, 1], got 'own with f(0) = 1 and f(0.00390625) = 0.998047'",
    negative: "at least 0 and nondecreasing on [0, 1], got 'own with f(0) = -0.1",
    undefined: "got 'own with f(0.496094) = 0.496094 and f(0.5) = nan'",
    other_numbers: "bias must be finite, at least 0 and nondecreasing on [0, 1]",
}


@pytest.mark.parametrize("function", MISTAKES, ids=lambda one: one.__name__)
def test_a_function_that_is_no_bias_is_refused(function: Callable[..., float]) -> None:
    for bias in (made(function), Clipped(made(function), 0.0, 2.0)):
        if function is negative and isinstance(bias, Clipped):
            continue  # clipped, it is a bias
        with pytest.raises(InvalidInput) as refused:
            AffinityBandit(MEANS, bias=bias)
        assert MISTAKES[function].replace("own with", f"{bias} with") in str(refused.value)


def test_settings_of_a_bias_that_would_be_lost_are_refused() -> None:
    assert Undecorated(0.1) == Undecorated(0.2)  # what made their results look alike
    with pytest.raises(InvalidInput, match="low must be a field of class Undecorated"):
        AffinityBandit(MEANS, bias=Undecorated(0.1))


@pytest.mark.slow
def test_a_bias_without_a_mistake_runs() -> None:
    bandit = AffinityBandit(MEANS, bias=made(half))
    pulls = {
        engine: simulate(bandit, "ucb1", 300, 2, engine=engine, progress=False).pulls.tolist()
        for engine in ("python", "steps")
    }
    assert pulls["python"] == pulls["steps"]


def value_outside(parameters: FloatArray, mean: float, u: float) -> float:
    return float(parameters[70_000_000]) if u > 0.9 else mean


def value_undefined(parameters: FloatArray, mean: float, u: float) -> float:
    return float("nan") if u > 0.9 else mean


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (value_outside, "one whose kernel raises nothing, got 'IndexError"),
        (value_undefined, "returns a finite number, got 'nan at mean 0.4, u = 0.90625'"),
    ],
)
def test_a_function_that_is_no_noise_is_refused(function: Any, says: str) -> None:
    @dataclass(frozen=True)
    class Own(Noise):
        name: ClassVar[str] = "own"
        kernel = property(lambda self: function)

    with pytest.raises(InvalidInput) as refused:
        AffinityBandit(MEANS, noise=Own())
    assert says in str(refused.value)
