"""From columns as they are read to numbers, yes and no, and groups, each cell checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from affinity_bandits.audit.log import BoolArray
from affinity_bandits.audit.reading.places import Place
from affinity_bandits.errors import InvalidInput, UnknownName
from affinity_bandits.kernels import FloatArray, IntArray

YES, NO = ("yes", "y", "true", "1"), ("no", "n", "false", "0")
FLAGS = {**dict.fromkeys(YES, 1), **dict.fromkeys(NO, 0)}
"""In any letter case."""
_WRONG_NUMBERS = (
    (re.compile(r"\s*[+-]?[\d.,'\s]*\d\s*%\s*"), "without a percent sign"),
    (re.compile(r"\s*[+-]?\d+,\d*\s*"), "with a point, not a comma"),
    (re.compile(r"\s*[+-]?\d{1,3}([,.' \u00a0\u202f]\d{3})+([.,]\d*)?\s*"), "without separators"),
)
"""What people write for numbers, and what to say of it."""


def plain(array: Any, place: Place) -> Any:
    """Return an arrow array without a dictionary, in which no cell is empty."""
    import pyarrow as arrow
    from pyarrow import types

    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if types.is_null(array.type) and len(array):
        raise place.fault(0, "given", None)
    if types.is_nested(array.type):
        rule = "a column of plain values"
        raise InvalidInput(place.named(0).split(" in ")[0], rule, str(array.type))
    if array.null_count:
        row = int(np.argmax(np.asarray(array.is_null())))
        raise place.fault(row, "given", None)
    return array.cast(arrow.string()) if _is_other_text(array.type) else array


def is_text(kind: Any) -> bool:
    """Return whether cells are text."""
    from pyarrow import types

    return bool(types.is_string(kind)) or _is_other_text(kind)


def _is_other_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_large_string(kind) or types.is_string_view(kind))


def numbers(
    array: Any, place: Place, low: float, high: float, *, text: bool, slack: float = 0.0
) -> FloatArray:
    """Return a column of numbers from low to high.

    Args:
        array: of arrow.
        place: of the column.
        low: the least that is allowed.
        high: the most.
        text: whether numbers are written as text, as they are in CSV.
        slack: how far beyond the ends is still taken for rounding.
    """
    rule = f"a number from {low:g} to {high:g}"
    cells = plain(array, place)
    found = floats(cells, place, rule, text=text)
    wrong = ~((found >= low - slack) & (found <= high + slack))  # nan is wrong, too
    place.none_of(wrong, rule, lambda row: cells[row].as_py())
    return found


def floats(cells: Any, place: Place, rule: str, *, text: bool) -> FloatArray:
    """Return numbers of any size; those that are not finite are for the caller to find."""
    import pyarrow as arrow
    from pyarrow import compute, types

    kind = cells.type
    if text and is_text(kind):
        try:
            found = compute.cast(cells, arrow.float64())
        except arrow.ArrowInvalid:
            found = _parsed(cells, place, rule)
    elif types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        found = compute.cast(cells, arrow.float64(), safe=False)
    else:
        name = place.named(0).split(" in ")[0]
        raise InvalidInput(name, "a column of numbers", str(kind))
    return np.asarray(found.to_numpy(zero_copy_only=False))


def _parsed(cells: Any, place: Place, rule: str) -> Any:
    """Return numbers written with spaces around them; raise for the first that is none."""
    import pyarrow as arrow
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(cells)
    try:
        return compute.cast(trimmed, arrow.float64())
    except arrow.ArrowInvalid:
        pass
    low, high = 0, len(trimmed)  # the first wrong one is in [low, high)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            compute.cast(trimmed[low:middle], arrow.float64())
            low = middle
        except arrow.ArrowInvalid:
            high = middle
    value = cells[low].as_py()
    if not value.strip():
        raise place.fault(low, "given", value)
    for pattern, words in _WRONG_NUMBERS:
        if pattern.fullmatch(value):
            raise place.fault(low, f"{rule}, {words}", value)
    raise place.fault(low, rule, value)


def flags(array: Any, place: Place) -> BoolArray:
    """Return a column of yes and no."""
    from pyarrow import types

    if types.is_boolean(array.type):
        return np.asarray(plain(array, place).to_numpy(zero_copy_only=False))
    rule = "yes or no (or true or false, 1 or 0)"
    codes, names = _coded(array, place, rule)
    known = [FLAGS.get(name.strip().lower(), -1) for name in names]
    found = np.array(known, dtype=np.int64)[codes]
    place.none_of(found < 0, rule, lambda row: array[row].as_py())
    return np.asarray(found == 1)


def groups(
    array: Any, place: Place, known: Mapping[str, int], read: Callable[[str], str] | None = None
) -> IntArray:
    """Return the numbers of groups.

    Args:
        array: of arrow, text or whole numbers.
        place: of the column.
        known: the number of each group.
        read: from a cell to a name, if they are not the same.
    """
    codes, names = _coded(array, place, "the name of a group")
    numbers = [known.get(name if read is None else read(name), -1) for name in names]
    found = np.array(numbers, dtype=np.int64)[codes]
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        raise UnknownName(place.named(row), array[row].as_py(), known)
    return found


def _coded(array: Any, place: Place, rule: str) -> tuple[IntArray, list[str]]:
    """Return for each cell the number of what is in it, and what that is, as text."""
    from pyarrow import types

    is_coded = types.is_dictionary(array.type) and not array.dictionary.null_count
    cells = array if is_coded and not array.null_count else plain(array, place)
    kind = cells.type.value_type if is_coded else cells.type
    if not (is_text(kind) or types.is_integer(kind)):
        name = place.named(0).split(" in ")[0]
        raise InvalidInput(name, f"a column of texts or whole numbers: {rule}", str(kind))
    coded = cells if is_coded else cells.dictionary_encode()
    codes = np.asarray(coded.indices.to_numpy(zero_copy_only=False))
    return codes, [str(value) for value in coded.dictionary.to_pylist()]
