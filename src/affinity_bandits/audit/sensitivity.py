"""How far the level of one group alone would have to drift to explain away what is shown.

The theorem, its proof and its limits are in docs/audit.md, "One group alone".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.drifting_odds import EVERY, LARGEST_RATE, NEAR, Group, Own, bets_made
from affinity_bandits.audit.strategies import reference_weights
from affinity_bandits.audit.table import Table
from affinity_bandits.kernels import FloatArray

ENOUGH = math.log(20.0)
FIRST_WIDTH = 0.25
SMALLEST_WIDTH = 1e-3
"""Of rates: a tenth of a per cent."""


class Sensitivity(NamedTuple):
    """How far one group's level, and no other, has to drift for evidence to fall below 20.

    Attributes:
        group: its number.
        fall: the part of it that has to be lost from the log's beginning to its end; None if a fall
            to a twentieth does not do.
        rise: the part of it that has to be gained; None if to become twenty times as high does
            not do.
    """

    group: int
    fall: float | None
    rise: float | None


def sensitivity(table: Table, enough: float = ENOUGH) -> tuple[Sensitivity, ...] | None:
    """Return for each group how far it alone has to drift for evidence to fall below 20.

    All that drifts at a steady rate by less, in one group whose name need not be known, leaves
    evidence of 20 or more. None if there is not so much evidence if nothing drifts.

    Args:
        table: of the log.
        enough: another logarithm of the evidence than that of 20.
    """
    numbers = [one for one in range(table.groups) if (table.group == one).any()]
    groups = [Group.of(table.of(one)) for one in numbers]
    weights = reference_weights(table.groups, EVERY)
    still = np.array(
        [
            with_cash([group.closely(bet, weights, 0.0)[0] for bet in bets_made()])
            for group in groups
        ]
    )
    total = still.sum(axis=0)
    if np.logaddexp.reduce(total) - math.log(len(total)) < enough:
        return None
    found = []
    for number, group, own in zip(numbers, groups, still, strict=True):
        alone = OneDrifts(group, weights, total - own)
        down, up = alone.farthest(-1.0, enough), alone.farthest(1.0, enough)
        fall = None if down is None else -math.expm1(-down)
        found.append(Sensitivity(number, fall, None if up is None else math.expm1(up)))
    return tuple(found)


class OneDrifts:
    """Evidence if one group drifts at a steady rate, and all others stay."""

    def __init__(self, group: Group, weights: FloatArray, others: FloatArray) -> None:
        self.group = group
        self.weights = weights
        self.others = others
        """What each alternative comes to on all other groups, as a logarithm."""

    def farthest(self, sign: float, enough: float) -> float | None:
        """Return the rate up to which there is enough evidence; None if it is the largest."""
        start, width = 0.0, FIRST_WIDTH
        closely = self.matter(0.0)
        fresh = True
        while start < LARGEST_RATE:
            width = min(width, LARGEST_RATE - start)
            half = 0.5 * width
            if self.bound(closely, sign * (start + half), half, enough) >= enough:
                start, width, fresh = start + width, 2.0 * width, False
            elif not fresh:
                closely, fresh = self.matter(sign * start), True
            elif width <= SMALLEST_WIDTH:
                return start
            else:
                width = half
        return None

    def bound(
        self, closely: list[tuple[float, Own]], rate: float, half: float, enough: float
    ) -> float:
        """Return a lower bound of the evidence for rates within `half` of `rate`."""
        total = -math.inf
        for others, own in closely:
            log = float(with_cash(self.group.least(own, rate, half))) + others
            total = float(np.logaddexp(total, log - math.log(len(self.others))))
            if total >= enough:
                break
        return total

    def matter(self, rate: float) -> list[tuple[float, Own]]:
        """Return the alternatives that matter at a rate, best first: others' part, own bets."""
        bets = bets_made()
        glances = [self.group.glance(bet, self.weights, rate) for bet in bets]
        fitted = with_cash(glances) + self.others
        found: list[tuple[float, int, Own]] = []
        most = -math.inf
        for place in np.argsort(-fitted, kind="stable"):
            if fitted[place] < most - NEAR:
                break
            log, own = self.group.closely(bets[place], self.weights, rate)
            found.append((float(with_cash(log)) + float(self.others[place]), int(place), own))
            most = max(most, found[-1][0])
        ordered = sorted(found, key=lambda one: (-one[0], one[1]))
        return [
            (float(self.others[place]), own) for log, place, own in ordered if log >= most - NEAR
        ]
