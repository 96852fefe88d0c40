"""Where in a file, or in the answer to a query, something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.log import BoolArray
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import IntArray

LONGEST_NAME = 60


class Place(NamedTuple):
    """A column of some rows that were read together.

    Attributes:
        column: its name in the file.
        where: from the place of a row among those rows to words such as "line 12".
    """

    column: str
    where: Callable[[int], str]

    def fault(self, row: int, rule: str, value: object) -> InvalidInput:
        """Return what is wrong with a cell."""
        return InvalidInput(self.named(row), rule, value)

    def named(self, row: int) -> str:
        """Return how a cell is called."""
        return f"{named(self.column)} in {self.where(row)}"

    def none_of(self, wrong: BoolArray, rule: str, values: Callable[[int], object]) -> None:
        """Raise for the first row that is wrong, if any is."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.fault(row, rule, values(row))


def named(column: str) -> str:
    """Return the name of a column as a message shows it: on one line, and not too long."""
    text = repr(" ".join(column.split()))[1:-1]
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."


def listed(columns: list[str]) -> str:
    """Return the names of a file's columns as a message shows them."""
    shown = ", ".join(named(column) for column in columns[:25])
    return f"{shown}, ..." if len(columns) > 25 else shown


def places_of(
    first: int, kept: IntArray | None, where: Callable[[int], str]
) -> Callable[[int], str]:
    """Return where rows are that were read together, of which some may have been left out.

    Args:
        first: the number of the first, from 0.
        kept: the places, among those that were read, of those that were not left out.
        where: from a row's number to words.
    """
    return lambda row: where(first + (row if kept is None else int(kept[row])))
