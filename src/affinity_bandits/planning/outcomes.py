"""What came of independent runs of a policy: counts, and limits with their confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from affinity_bandits.base.displays import one_line
from affinity_bandits.simulation.intervals import proportion_interval

LATE = 0.05  # the part of runs that may be late or undecided: 1 in 20


@dataclass(frozen=True)
class Outcome:
    """Counts over independent runs of a policy on an instance.

    Attributes:
        replicates: number of runs.
        wrong: runs in which the best group was dropped.
        undecided: runs in which the best group and others were kept.
        choices: mean number of choices until the decision, or the horizon.
        choices_95: choices that suffice in 95% of runs (`most`).
        per_group: mean choices per group until then.
        per_group_95: choices per group that suffice in 95% of runs.
    """

    replicates: int
    wrong: int
    undecided: int
    choices: float
    choices_95: float
    per_group: tuple[float, ...]
    per_group_95: tuple[float, ...]

    __repr__ = one_line

    @property
    def wrong_rate(self) -> tuple[float, float, float]:
        """The part of wrong runs, with a 95% interval (Clopper and Pearson)."""
        return proportion_interval(self.wrong, self.replicates, 0.95)

    @property
    def undecided_rate(self) -> float:
        """The part of undecided runs."""
        return self.undecided / self.replicates


def most(values: Any) -> float:
    """Return an upper 95% confidence limit of the 95th percentile (Clopper and Pearson).

    The limit is one of the values. Of fewer than 59 values it is the largest, which has a lower
    confidence.
    """
    return float(np.sort(values)[-1 - max(0, exceptions(len(values)))])


@lru_cache(maxsize=100)
def exceptions(runs: int) -> int:
    """Return how many of some runs may fail if at most 5% of all do, with 95% confidence.

    This is the largest count that has a probability of at most 5% if 5% of runs fail; -1 if even 0
    is likelier. Summed here, because scipy takes longer to load than a plan to read.
    """
    allowed, total = -1, 0.0
    while total <= LATE:
        allowed += 1
        ways = math.lgamma(runs + 1) - math.lgamma(allowed + 1) - math.lgamma(runs - allowed + 1)
        total += math.exp(ways + allowed * math.log(LATE) + (runs - allowed) * math.log1p(-LATE))
    return allowed - 1
