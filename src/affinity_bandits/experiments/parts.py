"""Disjoint parts of a sweep, each for a driver of its own, as in an array of batch jobs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput

MANY_CELLS = 100
"""Cells per part from which each cell belongs to one part as a whole."""
MOST_PARTS = 100_000
_PART = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True)
class Part:
    """One of several disjoint parts of a sweep, which together are the whole.

    With many cells, each belongs to one part. With few, the replicates of each are divided. Both
    depend on the cells' identities, so each driver finds its part without asking the others.

    Args:
        index: which one, from 1.
        of: how many there are.

    >>> Part.parse("2/2").ranges("0f" * 16, cells=1, replicates=10)
    [range(0, 5)]
    """

    index: int
    of: int

    def __post_init__(self) -> None:
        checks.integer("part: of", self.of, low=1, high=MOST_PARTS)
        checks.integer("part: index", self.index, low=1, high=self.of)

    @classmethod
    def parse(cls, text: str) -> Part:
        """Read "2/8": the second of eight."""
        found = _PART.fullmatch(text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST_PARTS:
            raise InvalidInput("part", "i/n with i from 1 to n, such as 2/8", text)
        return cls(int(found[1]), int(found[2]))

    def ranges(self, identity: str, cells: int, replicates: int) -> list[range]:
        """Return the replicates of a cell that belong to this part.

        Args:
            identity: of the cell.
            cells: of the sweep.
            replicates: of every cell.
        """
        pieces = 1 if cells >= MANY_CELLS * self.of else min(self.of, replicates)
        start = int(identity, 16)
        return [
            range(replicates * piece // pieces, replicates * (piece + 1) // pieces)
            for piece in range(pieces)
            if (start + piece * self.of // pieces) % self.of == self.index - 1
        ]


WHOLE = Part(1, 1)
