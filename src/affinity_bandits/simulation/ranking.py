"""Policies in the order of their regret, and which of them cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from affinity_bandits import checks
from affinity_bandits.displays import Interval, amount, html_table, short
from affinity_bandits.errors import InvalidInput
from affinity_bandits.simulation.comparing import PairedDifference, paired_difference
from affinity_bandits.simulation.intervals import mean_interval
from affinity_bandits.simulation.result_data import ResultData


@dataclass(frozen=True)
class RankedPolicy:
    """One policy's place.

    Attributes:
        label: its name in the result.
        regret: mean regret at the horizon, with the ends of its own interval.
        best: the best rank that the comparison leaves it, from 1.
        worst: the worst.
        not_told_from: the policies that it cannot be told from.
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
        level: at least this is the probability that all of them cover, and so that no rank
            is misstated.
    """

    policies: tuple[RankedPolicy, ...]
    differences: tuple[PairedDifference, ...]
    level: float

    def difference(self, first: str, second: str) -> PairedDifference:
        """Return the difference of two policies, the one that comes first taken off the other."""
        for found in self.differences:
            if {found.first, found.second} == {first, second}:
                return found
        raise InvalidInput("second", "another policy of the ranking", second)

    def __str__(self) -> str:
        width = max(len(one.label) for one in self.policies)
        lines = [
            f"{one.rank:>5}  {one.label:<{width}}  {short(one.regret[0])}{_like(one)}"
            for one in self.policies
        ]
        return "\n".join([f" rank  {'policy':<{width}}  mean regret", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = ("rank", "policy", f"mean regret ({self.level:.0%})", "cannot be told from")
        rows = [
            (one.rank, one.label, amount(one.regret), ", ".join(one.not_told_from) or "-")
            for one in self.policies
        ]
        return html_table("", head, rows)


def ranking(result: ResultData, level: float) -> Ranking:
    """Return the policies of a result in order; see `Result.ranking`."""
    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    last = result.regret[:, :, -1]
    order = [result.labels[i] for i in np.argsort(last.mean(axis=1), kind="stable")]
    pairs = list(combinations(order, 2))
    # All at once: each pair has its part of the probability of a mistake.
    each = 1.0 - (1.0 - level) / max(1, len(pairs))
    differences = tuple(paired_difference(result, later, first, each) for first, later in pairs)
    better: dict[str, list[str]] = {label: [] for label in order}
    worse: dict[str, list[str]] = {label: [] for label in order}
    for found in differences:
        if found.low > 0.0:  # the one that comes later loses more
            better[found.first].append(found.second)
            worse[found.second].append(found.first)
    means = mean_interval(last, 0.0, float(result.most_regret[-1]), level, axis=1)
    ranked = []
    for label in order:
        apart = {label, *better[label], *worse[label]}
        at = result.index(label)
        ranked.append(
            RankedPolicy(
                label=label,
                regret=(float(means[0][at]), float(means[1][at]), float(means[2][at])),
                best=1 + len(better[label]),
                worst=len(order) - len(worse[label]),
                not_told_from=tuple(other for other in order if other not in apart),
            )
        )
    return Ranking(tuple(ranked), differences, level)


def _like(one: RankedPolicy) -> str:
    return f"  (not told from {', '.join(one.not_told_from)})" if one.not_told_from else ""
