"""Policy states: named tuples of numbers and one-dimensional arrays.

Numbers never change during a run (they are settings and what follows from them); arrays do, in
place. Such a tuple can be read by a compiled loop, written as JSON and read back to the bit, and
laid over two flat buffers so that a whole state is copied with two assignments.

A number that came later has a default, with which the policy does as it did before, and is written
only where it differs: what was saved before that is read, and goes on as it began.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from affinity_bandits.errors import StateMismatch, shown
from affinity_bandits.kernels import FloatArray, IntArray

LINE = 8
"""Numbers of eight bytes in a cache line."""

StateT = TypeVar("StateT", bound=tuple[Any, ...])


def counts(size: int, value: int = 0) -> IntArray:
    """Return an array of whole numbers for a state."""
    return np.full(size, value, dtype=np.int64)


def reals(size: int, value: float = 0.0) -> FloatArray:
    """Return an array of real numbers for a state."""
    return np.full(size, value, dtype=np.float64)


class Packed(NamedTuple):
    """A state whose arrays are views into two flat buffers."""

    state: Any
    whole: IntArray
    real: FloatArray


def pack(state: Any) -> Packed:
    """Return the same state with its arrays laid over fresh flat buffers, values copied."""
    sizes = {np.dtype(np.int64): 0, np.dtype(np.float64): 0}
    for array in _arrays(state):
        sizes[array.dtype] += _in_lines(array.size)
    whole = _aligned(sizes[np.dtype(np.int64)], np.int64)
    real = _aligned(sizes[np.dtype(np.float64)], np.float64)
    return Packed(_laid_over(state, whole, real, {"whole": 0, "real": 0}), whole, real)


def copy_state(state: StateT) -> StateT:
    """Return a state with the same values and arrays of its own."""
    copied: StateT = _with_arrays(state, lambda array: array.copy())
    return copied


def state_to_json(state: Any) -> dict[str, Any]:
    """Return the state's fields as JSON-ready data, exact to the bit."""
    data: dict[str, Any] = {}
    defaults = _later(state)
    for name, value in zip(state._fields, state, strict=True):
        if name in defaults and value == defaults[name]:
            continue
        if isinstance(value, tuple):
            data[name] = state_to_json(value)
        elif isinstance(value, np.ndarray):
            data[name] = value.tolist()
        else:
            data[name] = value
    return data


def as_begun(fresh: Any, data: Mapping[str, Any]) -> Any:
    """Return a fresh state with the defaults of the numbers that a saved one does not have."""
    older = {name: value for name, value in _later(fresh).items() if name not in data}
    for name, value in zip(fresh._fields, fresh, strict=True):
        if isinstance(value, tuple) and isinstance(data.get(name), Mapping):
            older[name] = as_begun(value, data[name])
    return fresh._replace(**older)


def state_from_json(template: Any, data: Mapping[str, Any]) -> Any:
    """Return the saved state; the template (a fresh state) says which fields, types and sizes."""
    fields = set(template._fields)
    if not isinstance(data, Mapping) or set(data) | set(_later(template)) != fields:
        raise StateMismatch(
            f"the saved state has fields {sorted(data)}, this policy's has {sorted(fields)}"
        )
    values: list[Any] = []
    template = as_begun(template, data)
    for name, value in zip(template._fields, template, strict=True):
        saved = data.get(name, value)
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
    """Return a saved run as data, after checking its format and that nothing is missing."""
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


def _later(state: Any) -> dict[str, Any]:
    """Return the defaults of the state's numbers that have one."""
    found = state._field_defaults.items()
    return {name: value for name, value in found if isinstance(value, int | float)}


def _in_lines(size: int) -> int:
    """Return the size rounded up to whole cache lines, so that no two arrays share one."""
    return -(-size // LINE) * LINE


def _aligned(size: int, kind: type[np.int64] | type[np.float64]) -> Any:
    """Return zeros that begin at a cache line; a pull takes a tenth longer where they do not."""
    buffer = np.zeros(size + LINE, dtype=kind)
    skip = (-buffer.ctypes.data // 8) % LINE
    return buffer[skip : skip + size]


def _arrays(state: Any) -> list[Any]:
    found = []
    for value in state:
        if isinstance(value, tuple):
            found.extend(_arrays(value))
        elif isinstance(value, np.ndarray):
            if value.ndim != 1 or value.dtype not in (np.int64, np.float64):
                raise TypeError("arrays of a state are one-dimensional, of int64 or float64")
            found.append(value)
    return found


def _with_arrays(state: Any, change: Any) -> Any:
    return type(state)(
        *(
            _with_arrays(value, change)
            if isinstance(value, tuple)
            else change(value)
            if isinstance(value, np.ndarray)
            else value
            for value in state
        )
    )


def _laid_over(state: Any, whole: IntArray, real: FloatArray, used: dict[str, int]) -> Any:
    def view(array: Any) -> Any:
        name, buffer = ("whole", whole) if array.dtype == np.int64 else ("real", real)
        part = buffer[used[name] : used[name] + array.size]
        used[name] += _in_lines(array.size)
        part[:] = array
        return part

    return _with_arrays(state, view)
