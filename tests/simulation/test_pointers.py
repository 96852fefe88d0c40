"""Kernels called through their address: the types are kept, exceptions arrive."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from affinity_bandits.kernels import Function, bind, unbound
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.pointers import Shared, Types, caller, types_of

call: Function = unbound


def add(numbers: np.ndarray, by: float) -> None:
    if by < 0.0:
        raise ValueError("by must be at least 0")
    for i in range(len(numbers)):
        numbers[i] += by


def add_through(address: int, numbers: np.ndarray, by: float) -> None:
    call(address, (numbers, by))


def shared() -> tuple[Shared, Types]:
    types = types_of(np.zeros(1), 0.0)
    return Shared(compiled(add, inlined=False, shared=True), types), types


def test_the_kernel_at_the_address_is_called() -> None:
    kernel, types = shared()
    numbers = np.zeros(3)
    compiled(bind(add_through, call=caller(types)))(kernel.address, numbers, 1.5)
    assert numbers.tolist() == [1.5, 1.5, 1.5]


def test_arguments_are_converted_to_the_types_of_the_kernel() -> None:
    """Without that, the bits of the whole number 2 would be taken for those of a float."""
    kernel, types = shared()
    numbers = np.zeros(2)
    compiled(bind(add_through, call=caller(types)))(kernel.address, numbers, 2)
    assert numbers.tolist() == [2.0, 2.0]


def test_arguments_that_cannot_be_converted_do_not_compile() -> None:
    kernel, types = shared()
    loop = compiled(bind(add_through, call=caller(types)))
    with pytest.raises(TypingError):
        loop(kernel.address, np.zeros(4)[::2], 1.0)  # not side by side
    with pytest.raises(TypingError):
        loop(kernel.address, np.zeros(4, dtype=np.int64), 1.0)


def test_an_exception_reaches_whoever_called_the_loop() -> None:
    kernel, types = shared()
    loop = compiled(bind(add_through, call=caller(types)))
    with pytest.raises(ValueError, match="at least 0"):
        loop(kernel.address, np.zeros(1), -1.0)
