"""The contract of a figure or theorem of the paper, or a study: settings, run, claims, drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from affinity_bandits.experiments import Cell
from affinity_bandits.kernels import FloatArray
from affinity_bandits.simulation import Result

SCALES = ("quick", "full", "as-published")
"""Few repeats to see that all is well; enough for tight intervals; as many as the paper took."""

Data = Mapping[str, Any]
"""A flat table: columns of equal length by name. It is what is saved, judged and drawn."""


class Claim(NamedTuple):
    """One sentence of the paper, or of a study's page, put to a test.

    Attributes:
        sentence: what is claimed, in words.
        label: where it is said.
        test: how it was tested, and at which level.
        evidence: what was found, in numbers.
        holds: the verdict.
        erratum: where the paper's claim honestly does not hold, what the errata page calls it.
    """

    sentence: str
    label: str
    test: str
    evidence: str
    holds: bool
    erratum: str = ""

    @property
    def as_known(self) -> bool:
        """Whether the verdict is the expected one: holds, or fails with an entry in the errata."""
        return self.holds != bool(self.erratum)


class CellRunner(Protocol):
    """Runs the cells of an item."""

    def results(self, cells: Sequence[Cell], replicates: int) -> list[Result]:
        """Return the outcome of every cell, in order; what is finished is not run again."""


@dataclass(frozen=True)
class Item:
    """A figure or theorem of the paper, or a study.

    Args:
        identity: how the command calls it.
        title: one line.
        labels: the paper's labels it covers; of a study, its page.
        notes: its settings in words, and which of them the paper leaves out and why these.
        settings: one description for each of `SCALES`; a study has no "as-published".
        run: settings and runner to data, through the simulator.
        claims: data to verdicts.
        draw: data to a matplotlib figure; pure.
    """

    identity: str
    title: str
    labels: tuple[str, ...]
    notes: str
    settings: Mapping[str, Any]
    run: Callable[[Any, CellRunner], Data]
    claims: Callable[[Data], list[Claim]]
    draw: Callable[[Data], Any]


def column(data: Data, name: str) -> FloatArray:
    """Return a column as an array."""
    import numpy as np

    return np.asarray(data[name])
