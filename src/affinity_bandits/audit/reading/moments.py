"""When rows were decided: numbers, dates or timestamps that never fall."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from affinity_bandits.audit.log import BoolArray
from affinity_bandits.audit.reading.places import Place
from affinity_bandits.audit.reading.values import floats, is_text, plain
from affinity_bandits.errors import InvalidInput

RULE = "a number, or an ISO date or timestamp (2025-03-31, 2025-03-31T14:05)"
KINDS = {
    "a number": re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"),
    "an ISO date": re.compile(r"\d{4}-\d\d-\d\d"),
    "an ISO timestamp without a time zone": re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?"
    ),
    "an ISO timestamp with a time zone": re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)"
    ),
}
_DAY_FIRST = re.compile(r"\s*\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b.*", re.DOTALL)


class Clock:
    """The moments of rows that come in parts of any length.

    Args:
        sorts: whether rows are put in order afterwards, so that they may come in any.
    """

    def __init__(self, *, sorts: bool = False) -> None:
        self._sorts = sorts
        self._kind: str | None = None
        self._last: Any = None

    def moments(self, array: Any, place: Place) -> Any:
        """Return an array of numbers that compare as the moments do."""
        cells = plain(array, place)
        found = self._numbers(cells, place)
        if found.dtype.kind == "f":
            place.none_of(~np.isfinite(found), RULE, lambda row: cells[row].as_py())
        if not self._sorts:
            falls = np.zeros(len(found), dtype=np.bool_)
            falls[1:] = found[1:] < found[:-1]
            falls[:1] = self._last is not None and found[:1] < self._last
            rule = "not before that of the row above it (or let rows be sorted)"
            place.none_of(falls, rule, lambda row: cells[row].as_py())
        return found

    def opens(self, found: Any) -> BoolArray:
        """Return whether a moment begins with each row, which follow those before."""
        opens = np.ones(len(found), dtype=np.bool_)
        opens[1:] = found[1:] != found[:-1]
        if len(found):
            opens[0] = self._last is None or found[0] != self._last
            self._last = found[-1]
        return opens

    def _numbers(self, cells: Any, place: Place) -> Any:
        """Return the moments as whole numbers, or as others if they are written so."""
        import pyarrow as arrow
        from pyarrow import types

        kind = cells.type
        if is_text(kind):
            return self._read(cells, place)
        if types.is_date32(kind):
            return _numpy(cells.cast(arrow.int32()).cast(arrow.int64()))
        if types.is_timestamp(kind) or types.is_date(kind):
            return _numpy(cells.cast(arrow.int64()))
        if types.is_integer(kind) and not types.is_uint64(kind):
            return _numpy(cells.cast(arrow.int64()))
        try:
            return floats(cells, place, RULE, text=False)
        except InvalidInput as error:
            raise InvalidInput(error.parameter, RULE, error.value) from None

    def _read(self, cells: Any, place: Place) -> Any:
        """Return the moments that are written as text, all in the way of the first."""
        import pyarrow as arrow

        if len(cells) and self._kind is None:
            first = cells[0].as_py()
            self._kind = kind_of(first)
            if self._kind is None:
                raise place.fault(0, _rule_for(first), first)
        try:
            return _numpy(_converted(cells, self._kind))
        except arrow.ArrowInvalid:
            raise self._fault(cells, place) from None

    def _fault(self, cells: Any, place: Place) -> InvalidInput:
        """Return what is wrong with the first cell that cannot be read as the others."""
        import pyarrow as arrow

        for row in range(len(cells)):
            value = cells[row].as_py()
            try:
                _converted(cells[row : row + 1], self._kind)
            except arrow.ArrowInvalid:
                kind = kind_of(value)
                if kind is None:
                    return place.fault(row, _rule_for(value), value)
                if kind != self._kind:
                    return place.fault(row, f"{self._kind}, as in the first row", value)
                return place.fault(row, f"{self._kind} that there is", value)
        return place.fault(0, RULE, cells[0].as_py())


def kind_of(value: str) -> str | None:
    """Return how a moment is written, in words; None if it is none."""
    for kind, pattern in KINDS.items():
        if pattern.fullmatch(value):
            return kind
    return None


def _rule_for(value: str) -> str:
    if not value.strip():
        return "given"
    if _DAY_FIRST.fullmatch(value):
        return "an ISO date, the year first (2025-03-31): others can be read in two ways"
    return RULE


def _converted(cells: Any, kind: str | None) -> Any:
    """Return texts as whole numbers, or as others."""
    import pyarrow as arrow
    from pyarrow import compute

    if kind == "a number":
        trimmed = compute.utf8_trim_whitespace(cells)
        try:
            return compute.cast(trimmed, arrow.int64())
        except arrow.ArrowInvalid:
            return compute.cast(trimmed, arrow.float64())
    if kind == "an ISO date":
        return compute.cast(cells, arrow.date32()).cast(arrow.int32()).cast(arrow.int64())
    zone = "UTC" if kind == "an ISO timestamp with a time zone" else None
    return compute.cast(cells, arrow.timestamp("ns", tz=zone)).cast(arrow.int64())


def _numpy(array: Any) -> Any:
    return array.to_numpy(zero_copy_only=False)
