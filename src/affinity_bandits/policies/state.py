"""Policy states: named tuples of numbers, one-dimensional arrays and nested states.

Arrays change during a run, in place; numbers are constant. A compiled loop can read such a tuple,
it survives JSON to the bit, and its arrays can share two flat buffers, so that a whole state is
copied with two assignments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from affinity_bandits.base.errors import StateMismatch, shown
from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel

LINE = 8
"""Numbers of eight bytes per cache line."""

StateT = TypeVar("StateT", bound=tuple[Any, ...])


def counts(size: int, value: int = 0) -> IntArray:
    """Return an array of whole numbers for a state."""
    return np.full(size, value, dtype=np.int64)


def reals(size: int, value: float = 0.0) -> FloatArray:
    """Return an array of real numbers for a state."""
    return np.full(size, value, dtype=np.float64)


class SumsState(NamedTuple):
    """Pulls and sums of feedback per arm, and one setting of the policy."""

    setting: float
    clock: IntArray  # [0]: pulls made
    pulls: IntArray
    sums: FloatArray


@kernel
def add_feedback(state: Any, arm: int, feedback: float) -> None:
    """Count a pull and its feedback."""
    state.clock[0] += 1
    state.pulls[arm] += 1
    state.sums[arm] += feedback


class Packed(NamedTuple):
    """A state whose arrays are views into two flat buffers."""

    state: Any
    whole: IntArray
    real: FloatArray


def pack(state: Any) -> Packed:
    """Return a copy of a state whose arrays are views into two new flat buffers."""
    arrays: list[Any] = []
    _map_arrays(state, arrays.append)
    if any(one.ndim != 1 or one.dtype not in (np.int64, np.float64) for one in arrays):
        raise TypeError("arrays of a state are one-dimensional, of int64 or float64")
    kinds = (np.dtype(np.int64), np.dtype(np.float64))
    sizes = [sum(_in_lines(one.size) for one in arrays if one.dtype == kind) for kind in kinds]
    buffers = {kind: _aligned(size, kind) for kind, size in zip(kinds, sizes, strict=True)}
    used = dict.fromkeys(kinds, 0)

    def place(array: Any) -> Any:
        kind, start = array.dtype, used[array.dtype]
        view = buffers[kind][start : start + array.size]
        used[kind] += _in_lines(array.size)
        view[:] = array
        return view

    return Packed(_map_arrays(state, place), *buffers.values())


def copy_state(state: StateT) -> StateT:
    """Return a state with the same values and arrays of its own."""
    copied: StateT = _map_arrays(state, np.copy)
    return copied


def state_to_json(state: Any) -> dict[str, Any]:
    """Return the state's fields as JSON-ready data, exact to the bit."""
    data = _map_arrays(state, np.ndarray.tolist)._asdict()
    return {
        name: state_to_json(value) if isinstance(value, tuple) else value
        for name, value in data.items()
    }


def state_from_json(template: Any, data: Any) -> Any:
    """Return a saved state.

    Args:
        template: a fresh state, which determines fields, types and sizes.
        data: the fields from `state_to_json`.

    Raises:
        StateMismatch: the saved state does not fit the template.
    """
    found, wanted = sorted(data) if isinstance(data, Mapping) else data, sorted(template._fields)
    if found != wanted:
        raise StateMismatch(
            f"the saved state has fields {shown(found)}, this policy's has {wanted}"
        )
    values: list[Any] = []
    for name, value in zip(template._fields, template, strict=True):
        saved = data[name]
        if isinstance(value, tuple):
            values.append(state_from_json(value, saved))
        elif isinstance(value, np.ndarray):
            try:
                array = np.array(saved, dtype=value.dtype)
            except (TypeError, ValueError, OverflowError):
                raise StateMismatch(f"field {name} of the saved state is not numbers") from None
            if array.shape != value.shape:
                raise StateMismatch(
                    f"field {name} of the saved state has shape {array.shape}, "
                    f"this policy's has {value.shape}"
                )
            values.append(array)
        elif saved != value:
            raise StateMismatch(
                f"field {name} of the saved state is {saved!r}, this policy's is {value!r}"
            )
        else:
            values.append(value)
    return type(template)(*values)


def read_saved(text: str, version: int, keys: Iterable[str]) -> dict[str, Any]:
    """Return a saved run as data, after checking its format and its keys."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError) as error:
        raise StateMismatch(f"the saved run is not JSON: {error}") from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != version:
        raise StateMismatch(
            f"the saved run has format {shown(found)}, this version reads {version}"
        )
    for key in (*keys, "policy", "version", "arms", "horizon", "state"):
        if key not in data:
            raise StateMismatch(f"the saved run lacks {key!r}")
    return dict(data)


def _in_lines(size: int) -> int:
    """Return the size rounded up to whole cache lines, so that each array has its own."""
    return -(-size // LINE) * LINE


def _aligned(size: int, kind: Any) -> Any:
    """Return zeros that begin at a cache line, which makes a pull a tenth faster."""
    buffer = np.zeros(size + LINE, dtype=kind)
    skip = (-buffer.ctypes.data // 8) % LINE
    return buffer[skip : skip + size]


def _map_arrays(state: Any, change: Any) -> Any:
    changed = []
    for value in state:
        if isinstance(value, tuple):
            changed.append(_map_arrays(value, change))
        else:
            changed.append(change(value) if isinstance(value, np.ndarray) else value)
    return type(state)(*changed)
