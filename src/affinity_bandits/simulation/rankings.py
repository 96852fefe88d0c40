"""Rankings of policies by their mean regret, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.displays import (
    FEWEST_RUNS,
    TOO_FEW,
    Interval,
    amount,
    html_table,
    short,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.simulation.intervals import flip_signs, regret_interval

ASSUMED = {
    "permutation": "Told apart by a permutation test of paired runs: their regrets differ in law.",
    "betting": "Told apart by intervals of the mean difference that hold for every law of regret.",
}
"""What each test of a ranking shows."""
FLIPS = 9_999
"""Random signs of a permutation test, at least."""


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of two policies' regret over the same replicates.

    Attributes:
        first: the label of one policy.
        second: the label of the other.
        mean: of the regret of `first` minus that of `second`, at the horizon.
        low: the lower end of its interval; above 0, `first` loses more.
        high: the upper end; below 0, `first` loses less.
        level: coverage probability of the interval.
        replicates: the number of differences.
        p_value: of the two-sided permutation test; see `Result.ranking`.
    """

    first: str
    second: str
    mean: float
    low: float
    high: float
    level: float
    replicates: int
    p_value: float

    def __str__(self) -> str:
        enough = self.replicates >= FEWEST_RUNS
        ends = f"{short(self.low)} to {short(self.high)}" if enough else TOO_FEW
        return f"regret of {self.first} minus {self.second}: {short(self.mean)} ({ends})"


@dataclass(frozen=True)
class RankedPolicy:
    """One policy's place.

    Attributes:
        label: its name in the result.
        regret: mean regret at the horizon, with its interval.
        best: the best rank that the comparison leaves it, from 1.
        worst: the worst.
        not_told_from: the policies whose difference from it is within chance.
    """

    label: str
    regret: Interval
    best: int
    worst: int
    not_told_from: tuple[str, ...]

    @property
    def rank(self) -> str:
        """The ranks that are left, "1" or "2-4"."""
        return f"{self.best}" if self.best == self.worst else f"{self.best}-{self.worst}"


@dataclass(frozen=True, repr=False)
class Ranking:
    """Policies in the order of their mean regret; see `Result.ranking`.

    Attributes:
        policies: from the least mean regret to the most.
        differences: of every pair, the one that comes first taken off the other.
        level: probability, at least, that every difference found is real.
        test: how they were told apart.
    """

    policies: tuple[RankedPolicy, ...]
    differences: tuple[PairedDifference, ...]
    level: float
    test: str

    def difference(self, first: str, second: str) -> PairedDifference:
        """Return the difference of two policies, the one that comes first taken off the other."""
        for found in self.differences:
            if {found.first, found.second} == {first, second}:
                return found
        raise InvalidInput("second", "another policy of the ranking", second)

    def __str__(self) -> str:
        width = max(len(one.label) for one in self.policies)
        lines = [
            f"{one.rank:>5}  {one.label:<{width}}  {short(one.regret.estimate)}{_like(one)}"
            for one in self.policies
        ]
        return "\n".join([f" rank  {'policy':<{width}}  mean regret", *lines, ASSUMED[self.test]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = ("rank", "policy", f"mean regret ({self.level:.0%})", "cannot be told from")
        rows = [
            (one.rank, one.label, amount(one.regret), ", ".join(one.not_told_from) or "-")
            for one in self.policies
        ]
        return html_table(ASSUMED[self.test], head, rows)


def rank_policies(
    labels: Sequence[str], regret: FloatArray, most: float, level: float, test: str, interval: str
) -> Ranking:
    """Return policies in the order of their mean regret; see `Result.ranking`.

    `regret` is that at the horizon, [policy, replicate], and at most `most`.
    """
    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    checks.choice("test", test, tuple(ASSUMED))
    order = np.argsort(regret.mean(axis=1), kind="stable").tolist()
    pairs = [(later, first) for first, later in combinations(order, 2)]
    # Bonferroni: each pair has its part of the probability of a mistake.
    risk = (1.0 - level) / max(1, len(pairs))
    differences = compare_pairs(labels, regret, most, pairs, 1.0 - risk, risk)
    better: dict[int, set[int]] = {place: set() for place in order}
    worse: dict[int, set[int]] = {place: set() for place in order}
    for (later, first), found in zip(pairs, differences, strict=True):
        if found.low > 0.0 if test == "betting" else found.p_value <= risk:
            better[later].add(first)
            worse[first].add(later)
    means = regret_interval(interval, regret, 0.0, most, level, axis=1)
    ranked = [
        RankedPolicy(
            label=labels[place],
            regret=Interval(*(float(ends[place]) for ends in means)),
            best=1 + len(better[place]),
            worst=len(order) - len(worse[place]),
            not_told_from=tuple(
                labels[other]
                for other in order
                if other not in {place, *better[place], *worse[place]}
            ),
        )
        for place in order
    ]
    return Ranking(tuple(ranked), differences, level, test)


def compare_pairs(
    labels: Sequence[str],
    regret: FloatArray,
    most: float,
    pairs: Sequence[tuple[int, int]],
    level: float,
    risk: float,
) -> tuple[PairedDifference, ...]:
    """Return the differences of pairs of policies, with p-values that can be as small as `risk`."""
    if not pairs:
        return ()
    samples = np.stack([regret[one] - regret[other] for one, other in pairs], axis=1)
    means, lows, highs = regret_interval("betting", samples, -most, most, level)
    p_values = flip_signs(samples, max(FLIPS, math.ceil(2.0 / risk)))
    return tuple(
        PairedDifference(
            first=labels[one],
            second=labels[other],
            mean=float(means[i]),
            low=float(lows[i]),
            high=float(highs[i]),
            level=level,
            replicates=regret.shape[1],
            p_value=float(p_values[i]),
        )
        for i, (one, other) in enumerate(pairs)
    )


def _like(one: RankedPolicy) -> str:
    return f"  (not told from {', '.join(one.not_told_from)})" if one.not_told_from else ""
