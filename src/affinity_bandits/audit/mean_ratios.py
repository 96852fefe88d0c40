"""How many times as high one group's true mean is as another's, if the bias is a bonus.

The theorem, its proof and its limits are in docs/audit.md, "How strong".
"""

from __future__ import annotations

import math
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.bonus_set import LEVEL, PIECES, bonus_levels
from affinity_bandits.audit.inversion import Group, Shares, groups_of, possible
from affinity_bandits.audit.lowest import lowest_and_where, value
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.redrawn import coarse
from affinity_bandits.audit.table import Table

FINER = 4
"""Into how many parts each piece of bonuses is cut."""
LOG_ODDS = 0.001 * 2.0 ** np.arange(12)
"""That are bet on a group's level, up and down, with equal parts of the wealth."""
HALVINGS = 20


class Ratio(NamedTuple):
    """Between which numbers the ratio of two groups' true means is.

    Attributes:
        group: the number of one group.
        than: the number of another.
        low: the least ratio of the first one's true mean to the other's.
        high: the largest.
        any_bonus: whether the log leaves every bonus possible, from none to an infinite one.
    """

    group: int
    than: int
    low: float
    high: float
    any_bonus: bool


def mean_ratios(table: Table, level: float = LEVEL) -> tuple[Ratio, ...] | None:
    """Return sets of the ratios of all two groups' true means, or None if no bonus is possible.

    If the bias is a bonus, and nothing drifts, all true ratios are in their sets at once with
    probability at least 1 - level. True means are those at a share of 1.
    """
    numbers = [one for one in range(table.groups) if (table.group == one).any()]
    groups = groups_of(table)
    ends = np.linspace(0.0, 1.0, PIECES + 1)
    # Half of the wealth is bet on the bonus, and the other half, in equal parts, on each level.
    found = possible(groups, bonus_levels, ends, math.log(2.0 / level))
    if found is None:
        return None
    first, last = found
    enough = math.log(2.0 * len(groups) / level)
    betting = [LevelBets(group) for group in groups]
    slopes = np.linspace(ends[first], ends[last + 1], FINER * (last + 1 - first) + 1)
    lows = np.full((len(groups), len(groups)), math.inf)
    highs = np.zeros_like(lows)
    for low, high in pairwise(slopes.tolist()):
        sets = [bets.levels(low, high, enough) for bets in betting]
        if None in sets:
            continue
        for g, h in permutations(range(len(groups)), 2):
            (low_g, high_g), (low_h, high_h) = sets[g] or (0.0, 0.0), sets[h] or (0.0, 0.0)
            # From levels in the middle to true means: monotone in the slope.
            scales = [
                _over(1.0 - w + w * groups[h].middle, 1.0 - w + w * groups[g].middle)
                for w in (low, high)
            ]
            lows[g, h] = min(lows[g, h], _over(low_g, high_h) * min(scales))
            highs[g, h] = max(highs[g, h], _over(high_g, low_h) * max(scales))
    if np.isinf(lows).all():
        return None
    full = found == (0, PIECES - 1)
    return tuple(
        Ratio(numbers[g], numbers[h], float(lows[g, h]), float(highs[g, h]), full)
        for g, h in permutations(range(len(groups)), 2)
    )


def _over(part: float, whole: float) -> float:
    """Return a quotient, which is infinite if there is nothing to divide by."""
    return part / whole if whole > 0.0 else math.inf


class LevelBets:
    """Bets that a group's level is higher or lower than somebody says: the same in every row."""

    def __init__(self, group: Group) -> None:
        cells = coarse(group.cells, 1)  # these bets are alike in all blocks
        self.group = Shares(cells)
        log_odds = np.concatenate((LOG_ODDS, -LOG_ODDS))
        bets = np.expm1(log_odds)
        counts = cells.counts.sum(axis=0)
        self.gains = np.log1p(bets[:, None] * cells.nodes) @ counts - math.log(len(bets))
        self.bets = np.repeat(bets[:, None], len(self.group.totals), axis=1)

    def levels(self, low: float, high: float, enough: float) -> tuple[float, float] | None:
        """Return the levels in the middle against which there is not enough evidence.

        For all slopes from low to high at once; None if there is enough against every level.
        """
        group = self.group
        bounds = bonus_levels(group, low, high)
        cells = (self.gains, self.bets, group.totals, *bounds)
        top = group.top(bounds)
        least, where = machine_code(lowest_and_where)(*cells, group.fitted(bounds), top)
        if least >= enough:
            return None
        room = np.empty((3, len(self.gains)))

        def excluded(m: float) -> bool:
            return float(machine_code(value)(m, *cells, *room)[0]) >= enough

        # The wealth is convex in the level, so what is excluded is on either side.
        found = []
        for end in (0.0, top):
            inside, outside = float(where), end
            if excluded(inside):
                outside = inside
            elif not excluded(outside):
                inside = outside
            for _ in range(HALVINGS):
                middle = 0.5 * (inside + outside)
                inside, outside = (inside, middle) if excluded(middle) else (middle, outside)
            found.append(outside)
        return found[0], found[1]
