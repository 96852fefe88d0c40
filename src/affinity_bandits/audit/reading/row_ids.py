"""Whether a row is in a file twice, by the column that says which row it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.audit.reading.places import Place
from affinity_bandits.audit.reading.values import plain
from affinity_bandits.kernels import IntArray

MOST_ROWS = 20_000_000
"""Up to which ids are kept that do not simply rise."""


class RowIds:
    """The ids of rows that come in parts.

    They are kept until there are too many to be compared; ids that are whole numbers and only rise
    need no comparing.
    """

    def __init__(self) -> None:
        self._kept: list[IntArray] = []
        self._rows = 0
        self._rises = True
        self._last: int | None = None

    @property
    def too_many(self) -> bool:
        """Whether there are more than can be compared."""
        return not self._rises and self._rows > MOST_ROWS

    def add(self, array: Any, place: Place) -> None:
        """Note the ids of rows that follow those before."""
        import pyarrow as arrow
        from pyarrow import compute, types

        cells = plain(array, place)
        try:
            numbers = np.asarray(compute.cast(cells, arrow.int64()))
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
            numbers = None
        self._rows += len(cells)
        if self._rises:
            self._rises = numbers is not None and self._follow(numbers)
        if self._rows > MOST_ROWS:
            self._kept.clear()
        elif types.is_signed_integer(cells.type):
            self._kept.append(cells.cast(arrow.int64()).to_numpy(zero_copy_only=False))
        else:  # 7 and 07 are two ids
            self._kept.append(digests(cells.cast(arrow.string())))

    def _follow(self, numbers: IntArray) -> bool:
        """Return whether numbers rise, from the last one on."""
        last, self._last = self._last, int(numbers[-1])
        return bool((last is None or numbers[0] > last) and (numbers[1:] > numbers[:-1]).all())

    def twice(self) -> tuple[int, int] | None:
        """Return the numbers of two rows with the same id, the second as early as can be."""
        if self._rises or not self._kept:
            return None
        ids = np.concatenate(self._kept)
        order = np.argsort(ids, kind="stable")
        again = np.flatnonzero(ids[order[1:]] == ids[order[:-1]])
        if len(again) == 0:
            return None
        at = again[np.argmin(order[1:][again])]
        return int(order[at]), int(order[at + 1])


def digests(cells: Any) -> IntArray:
    """Return a number of 63 bits for each text; two texts hardly ever have the same."""
    validity, offsets, letters = cells.buffers()
    del validity  # no cell is empty
    ends = np.frombuffer(offsets, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
    bytes_ = np.frombuffer(letters or b"", dtype=np.uint8)
    found = np.empty(len(cells), dtype=np.int64)
    code_for_rows(digest)(ends.copy(), bytes_.copy(), found)
    return found


def digest(ends: Any, letters: Any, found: IntArray) -> None:
    """Fill in a number for each text; a kernel."""
    for row in range(len(found)):
        number: Any = 1_469_598_103_934_665_603
        for place in range(ends[row], ends[row + 1]):
            number = (number ^ np.int64(letters[place])) * 1_099_511_628_211
            number &= 0x7FFF_FFFF_FFFF_FFFF
            number ^= number >> 29
        found[row] = number
