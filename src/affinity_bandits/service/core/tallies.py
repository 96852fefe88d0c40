"""Tallies: how often each score was given, in whole numbers, so that their order does not matter.

A policy with nodes is told counts. An answer between two nodes counts as both, in parts that have
its score as their mean; a tally is such a count times the width of the range of scores in units,
and therefore whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.service.core.scores import Scale

MOST_NODES = 100


@dataclass(frozen=True)
class Nodes:
    """The nodes of a campaign's policy: scores evenly spaced from the lowest to the highest.

    Args:
        scale: of the campaign.
        number: how many there are; none for a policy that is told sums.
    """

    scale: Scale
    number: int

    def none(self, arms: int) -> list[list[int]]:
        """Return the tallies of so many arms without an answer; an empty list for each if none."""
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
    """Return the tallies in a row of `affinity.sums`; an empty list where there are no nodes."""
    return [int(tally) for tally in row["tallies"] or ()]


def nodes_of(policy: RoundPolicy, scale: Scale) -> Nodes:
    """Return the nodes at which a campaign has the scores of a policy counted.

    Raises:
        InvalidInput: they are not evenly spaced from 0 to 1, or too many.
    """
    nodes = policy.nodes
    last = len(nodes) - 1
    even = all(math.isclose(node * last, place, abs_tol=1e-9) for place, node in enumerate(nodes))
    if nodes and not (1 <= last < MOST_NODES and even):
        rule = f"one whose nodes are 2 to {MOST_NODES} scores evenly spaced from 0 to 1"
        raise InvalidInput("policy", rule, f"{policy.name} with nodes {list(nodes)}")
    return Nodes(scale, len(nodes))
