"""Scores and counts as whole numbers, so that sums are exact in any order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import BlockPolicy, RoundPolicy
from affinity_bandits_client.messages.base import UNITS_PER_ONE

FEWEST_UNITS = 1000
"""Narrowest range of scores: units must tell at least a thousandth of it."""


@dataclass(frozen=True)
class Scale:
    """A campaign's range of scores in units, with the mapping to [0, 1] and back.

    Policies only see [0, 1], and their settings (sigma, thresholds) are on that scale.

    Args:
        lowest: the smallest score, in units.
        highest: the largest.
    """

    lowest: int
    highest: int

    @property
    def width(self) -> int:
        """How far the largest score is from the smallest."""
        return self.highest - self.lowest

    def to_policy(self, total: int, answers: int) -> float:
        """Return a sum of scores after each of them is mapped to [0, 1], rounded once.

        A quotient of two ints is the nearest float, so results are the same on every scale.

        >>> Scale(to_units(1), to_units(5)).to_policy(to_units(9), 3)
        1.5
        """
        return (total - answers * self.lowest) / self.width

    def to_scores(self, difference: float) -> float:
        """Return a difference of two means on [0, 1] as a difference of scores.

        >>> Scale(to_units(1), to_units(5)).to_scores(0.25)
        1.0
        """
        return difference * from_units(self.width)


def scale_of(lowest: float, highest: float) -> Scale:
    """Return the scale of a range of scores.

    Raises:
        InvalidInput: its ends are too close to each other, or in the wrong order.
    """
    low, high = to_units(lowest), to_units(highest)
    if high <= low:
        raise InvalidInput("highest", f"above lowest ({from_units(low):g})", highest)
    if high - low < FEWEST_UNITS:
        raise InvalidInput(
            "highest",
            f"at least {from_units(FEWEST_UNITS):g} above lowest ({units_to_text(low)}), since"
            " scores are kept to nine decimals; multiply all scores by the same number",
            highest,
        )
    return Scale(low, high)


def to_units(score: float) -> int:
    """Return a score in units; up to nine decimals are kept exactly, more are rounded.

    >>> to_units(0.1), to_units(-2), to_units(1e-10)
    (100000000, -2000000000, 0)
    """
    # The product is at most 1e14 (of `LARGEST_SCORE`) and off by less than 0.01, so nine decimals
    # come out exactly.
    return round(score * UNITS_PER_ONE)


def from_units(units: int) -> float:
    """Return the float nearest to a whole number of units.

    >>> from_units(100000000)
    0.1
    """
    return units / UNITS_PER_ONE  # of two ints: rounded once


def units_to_text(units: int) -> str:
    """Return a number of units as an exact decimal.

    >>> units_to_text(-1500000000), units_to_text(1)
    ('-1.5', '0.000000001')
    """
    sign = "-" if units < 0 else ""
    whole, rest = divmod(abs(units), UNITS_PER_ONE)
    decimals = f"{rest:09d}".rstrip("0")
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"


MOST_NODES = 100


@dataclass(frozen=True)
class Nodes:
    """The nodes of a campaign's policy: scores evenly spaced from the lowest to the highest.

    Args:
        scale: of the campaign.
        number: how many there are; 0 for a policy that is told sums.
    """

    scale: Scale
    number: int

    def none(self, arms: int) -> list[list[int]]:
        """Return the tallies of so many arms before their first answer, a list for each."""
        return [[0] * self.number for _ in range(arms)]

    def add(self, tallies: list[int], units: int, answers: int = 1) -> None:
        """Count answers that all have one score, in units, in the tallies of their arm.

        >>> tallies = [0, 0, 0]
        >>> Nodes(Scale(0, 1000), 3).add(tallies, 600)
        >>> tallies
        [0, 800, 200]
        """
        if not self.number:
            return
        way = (units - self.scale.lowest) * (self.number - 1)
        node, above = divmod(way, self.scale.width)
        tallies[node] += answers * (self.scale.width - above)
        if above:
            tallies[node + 1] += answers * above

    def counts(self, tallies: Sequence[int]) -> list[float]:
        """Return an arm's tallies as the counts that its policy is told, each rounded once."""
        return [tally / self.scale.width for tally in tallies]  # of two ints: the nearest float

    def fit(self, tallies: Sequence[int], answers: int, total: int) -> bool:
        """Return whether tallies are of so many answers with that sum, which both follow."""
        if len(tallies) != self.number:
            return False
        if not self.number:
            return True
        way = sum(node * tally for node, tally in enumerate(tallies))
        return (
            min(tallies) >= 0
            and sum(tallies) == answers * self.scale.width
            and way == (total - answers * self.scale.lowest) * (self.number - 1)
        )


def tallies_in(row: Mapping[str, Any]) -> list[int]:
    """Return the tallies in a row of `affinity.sums`, empty if the policy has no nodes."""
    return [int(tally) for tally in row["tallies"] or ()]


def nodes_of(policy: RoundPolicy | BlockPolicy, scale: Scale) -> Nodes:
    """Return the nodes at which a campaign has the scores of a policy counted, if it has any.

    Raises:
        InvalidInput: they are too many, or spaced unevenly.
    """
    nodes = policy.nodes if isinstance(policy, RoundPolicy) else ()
    last = len(nodes) - 1
    even = all(math.isclose(node * last, place, abs_tol=1e-9) for place, node in enumerate(nodes))
    if nodes and not (1 <= last < MOST_NODES and even):
        rule = f"one whose nodes are 2 to {MOST_NODES} scores evenly spaced from 0 to 1"
        raise InvalidInput("policy", rule, f"{policy.name} with nodes {list(nodes)}")
    return Nodes(scale, len(nodes))
