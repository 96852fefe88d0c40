"""Remarks on a file: problems, skipped rows and conversions, with counts and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from affinity_bandits.base.words import counted, noun_for

PROBLEM = "must be corrected"
"""Marks remarks that only the author of the file can resolve."""
LISTED = 5


@dataclass(frozen=True)
class Remark:
    """One kind of thing that a reader found in a file.

    Attributes:
        what: was found, such as "no score".
        done: about it, such as "skipped"; `PROBLEM` if the file cannot be read with it.
        count: how often it was found; 0 if it concerns the file as a whole.
        unit: what is counted.
        rows: the first of its rows, as the file numbers them.
        examples: some of the values.
    """

    what: str
    done: str = PROBLEM
    count: int = 0
    unit: str = "row"
    rows: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The remark in words, without a full stop."""
        listed = list_rows(self.rows, self.count)
        if self.done == PROBLEM:
            examples = f" ({', '.join(self.examples)})" if self.examples else ""
            return f"{listed}: {self.what}{examples}" if listed else f"{self.what}{examples}"
        examples = f", such as {', '.join(self.examples)}" if self.examples else ""
        if not self.count:
            return f"{self.what}{examples}: {self.done}"
        places = f" ({listed})" if listed else ""
        return f"{counted(self.count, self.unit)} {self.done}: {self.what}{places}{examples}"


def remark_rows(
    what: str,
    rows: Sequence[int],
    done: str = PROBLEM,
    *,
    unit: str = "row",
    examples: Sequence[str] = (),
) -> Remark:
    """Return a remark on all of these rows."""
    return Remark(what, done, len(rows), unit, tuple(rows[:LISTED]), tuple(examples[:LISTED]))


def list_rows(rows: Sequence[int], count: int) -> str:
    """Return "row 3", or "rows 3, 5, 8 and 20 more" of that many rows."""
    listed = ", ".join(f"{row:,}" for row in rows)
    more = f" and {count - len(rows):,} more" if count > len(rows) else ""
    return f"{noun_for(count, 'row')} {listed}{more}" if rows else ""
