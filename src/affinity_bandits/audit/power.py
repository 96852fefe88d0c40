"""What a log like this one would have shown, had there been a bonus.

The statement, and what it leaves out, are in docs/audit.md, "What would have been seen".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.drawn_panels import EDGE, STAKES
from affinity_bandits.audit.drawn_panels import WEIGHTS as STAKE_WEIGHTS
from affinity_bandits.audit.lowest import lowest, lowest_and_where
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.audit.redrawn import coarse, laws, redrawn
from affinity_bandits.audit.strategies import (
    ALTERNATIVES,
    gains_and_bets,
    reference_weights,
    tilts_of,
)
from affinity_bandits.audit.table import Table
from affinity_bandits.audit.verdict import LEVEL, WEIGHTS
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.simulation.intervals import proportion_interval

BONUSES = (0.1, 0.2, 0.5, 1.0, math.inf)
ASKED = 0.8
DOUBLINGS = 6
THOUSAND = 1_000.0
DRAWS = 40
FEWER = 20
"""Draws of logs that are longer than this one."""
BLOCKS = 24
EVERY = 2
NEAR = 10.0
"""Alternatives and references that are not so near to the best, in logarithms, are left out."""
SURELY = 12.0
"""Evidence on longer logs that is expected to be so far from enough is not drawn."""


class Power(NamedTuple):
    """How probably a bonus would have been shown by a log like this one.

    Attributes:
        bonus: infinite for f(x) = x.
        assumption: of the verdict, "nothing" or "random".
        shown: the part of logs drawn anew that showed it.
        low: the lower end of a 95% confidence interval of its probability.
        high: the upper end.
        times: how many times as many rows of the same kind it takes to be shown with probability
            0.8; 1 if this log is long enough, None if 64 times as many are too few, and infinite
            if with shares like these a thousand times as many are, however one bets.
    """

    bonus: float
    assumption: str
    shown: float
    low: float
    high: float
    times: float | None


def power(
    table: Table,
    *,
    panels: bool = False,
    bonuses: Sequence[float] = BONUSES,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[Power, ...]:
    """Return how probably each bonus would have been shown by a log with these groups and shares.

    Args:
        table: of the log.
        panels: whether its shares are those of panels drawn at random; then that verdict is looked
            at, too.
        bonuses: at least 0, or infinite for f(x) = x.
        draws: of scores, for each bonus.
        seed: of the draws.
    """
    number = checks.integer("draws", draws, low=1, high=10_000)
    start = checks.integer("seed", seed)
    cells = coarse(table, BLOCKS)
    tests: dict[str, Odds | Panels] = {"nothing": Odds(cells)}
    if panels:
        tests["random"] = Panels(cells)
    found = []
    for place, bonus in enumerate(bonuses):
        law = laws(cells, bonus)
        for name, test in tests.items():
            rng = np.random.default_rng([start, place, 761])
            first = test.shown(cells, law, number, 1.0, rng)
            _, low, high = proportion_interval(int(first.sum()), number, 1.0 - LEVEL)
            times = _times(test, cells, law, float(first.mean()), rng)
            found.append(Power(float(bonus), name, float(first.mean()), low, high, times))
    return tuple(found)


def _times(
    test: Odds | Panels, cells: Table, law: FloatArray, first: float, rng: np.random.Generator
) -> float | None:
    """Return how many times as many rows show it with the probability that is asked for."""
    if first >= ASKED:
        return 1.0
    if THOUSAND * most_evidence(cells, law) < test.enough:
        return math.inf

    def part(doublings: int) -> float:
        return float(test.shown(cells, law, FEWER, 2.0**doublings, rng, spare=True).mean())

    few, many = 0, DOUBLINGS
    too_few, enough = first, part(many)
    if enough < ASKED:
        return None
    while many - few > 1:
        middle = (few + many) // 2
        here = part(middle)
        if here >= ASKED:
            many, enough = middle, here
        else:
            few, too_few = middle, max(here, too_few)
    return float(2.0 ** (few + (ASKED - too_few) / (enough - too_few)))


def most_evidence(cells: Table, law: FloatArray) -> float:
    """Return about the most evidence that anybody can expect, who knows levels and bonus.

    Half of the squared distance of levels from their group's mean, in standard deviations.
    """
    totals = cells.totals()
    levels = law @ cells.nodes
    squares = law @ cells.nodes**2
    found = 0.0
    for group in range(cells.groups):
        own = cells.group == group
        rows = float(totals[own].sum())
        if rows > 0.0:
            mean = float(totals[own] @ levels[own]) / rows
            around = float(totals[own] @ (levels[own] - mean) ** 2)
            within = float(totals[own] @ (squares[own] - levels[own] ** 2)) / rows
            found += 0.5 * around / max(within, 1e-12)
    return found


class Odds:
    """The evidence of `odds`, in its part of the verdict, for many logs with the same shares."""

    def __init__(self, cells: Table) -> None:
        self.enough = math.log(1.0 / LEVEL / WEIGHTS["nothing"]["odds"])
        self.weights = reference_weights(cells.groups, EVERY)
        self.groups = [
            _OddsGroup(cells, cells.group == one, self.weights)
            for one in range(cells.groups)
            if (cells.group == one).any()
        ]

    def shown(
        self,
        cells: Table,
        law: FloatArray,
        draws: int,
        times: float,
        rng: np.random.Generator,
        *,
        spare: bool = False,
    ) -> FloatArray:
        """Return for each draw whether it is shown: 1 or 0.

        What is expected says which alternatives and references matter. If asked to be spare, it
        also settles what is far from enough.
        """
        expected = times * cells.totals()[:, None] * law
        seen = [group.expected(expected, times) for group in self.groups]
        part = -math.log(len(ALTERNATIVES))
        logs = np.array([[alternative.log for alternative in own] for own in seen])
        sums = with_cash(logs).sum(axis=0)
        total = float(np.logaddexp.reduce(sums)) + part
        if spare and abs(total - self.enough) > SURELY + 2.0 * math.sqrt(max(total, 0.0)):
            return np.full(draws, float(total > self.enough))
        counts = redrawn(cells, law, draws, times, rng)
        order = [place for place in np.argsort(-sums) if sums[place] >= sums.max() - NEAR]
        gains = [
            [own[place].gains_of(group.own(counts)) for place in order]
            for group, own in zip(self.groups, seen, strict=True)
        ]
        # At one level each, so no less than the evidence of these alternatives.
        most = sum(
            with_cash([own[place].glance(each) for place, each in zip(order, made, strict=True)])
            for own, made in zip(seen, gains, strict=True)
        )
        hopeful = np.logaddexp.reduce(np.asarray(most), axis=0) + part >= self.enough
        found = np.zeros(draws)
        for draw in np.flatnonzero(hopeful):
            reached = -math.inf
            for i, place in enumerate(order):
                least = [
                    own[place].least(made[i][:, draw])
                    for own, made in zip(seen, gains, strict=True)
                ]
                reached = float(np.logaddexp(reached, float(with_cash(least).sum()) + part))
                if reached >= self.enough:
                    found[draw] = 1.0
                    break
        return found


class _Alternative(NamedTuple):
    """References of one alternative that matter, for one group."""

    log: float
    level: float
    weights: FloatArray
    gained: FloatArray  # references by cells and nodes
    bets: FloatArray
    spent: FloatArray  # by references, at the level
    totals: FloatArray

    def gains_of(self, counts: FloatArray) -> FloatArray:
        """Return what was gained, references by draws."""
        return np.asarray(self.weights[:, None] + self.gained @ counts)

    def glance(self, gains: FloatArray) -> FloatArray:
        """Return the wealth of each draw at the level that was expected to be worst."""
        return np.asarray(np.logaddexp.reduce(gains - self.spent[:, None], axis=0))

    def least(self, gains: FloatArray) -> float:
        """Return a lower bound of a wealth over all levels."""
        even = np.ones(len(self.totals))
        return lowest(
            np.ascontiguousarray(gains), self.bets, self.totals, even, even, self.level, 1.0
        )


class _OddsGroup:
    """Bets on one group, which do not depend on its scores."""

    def __init__(self, cells: Table, own: FloatArray, weights: FloatArray) -> None:
        self._own = own
        self._weights = weights
        part = cells.of(int(cells.group[own][0]))
        self._totals = part.totals()
        upright = np.zeros(len(self._totals))
        tilts = {shape: tilts_of(part, shape, EVERY) for shape in ("share", "log")}
        self._bets = [
            gains_and_bets(part, weights, tilts[shape], upright, theta)[1]
            for shape, theta in ALTERNATIVES
        ]
        self._gained = [
            np.log1p(bets[:, :, None] * part.nodes).reshape(len(weights), -1) for bets in self._bets
        ]
        self._level = float((part.counts @ part.nodes).sum() / self._totals.sum())

    def own(self, counts: IntArray) -> FloatArray:
        """Return the group's counts, cells and nodes by draws."""
        return counts[:, self._own].reshape(len(counts), -1).T.astype(np.float64)

    def expected(self, counts: FloatArray, times: float) -> list[_Alternative]:
        """Return what each alternative comes to if scores come as they are expected to."""
        seen = counts[self._own].reshape(-1)
        totals = times * self._totals
        even = np.ones(len(totals))
        found = []
        for bets, gained in zip(self._bets, self._gained, strict=True):
            gains = self._weights + gained @ seen
            bound, level = machine_code(lowest_and_where)(
                gains, bets, totals, even, even, self._level, 1.0
            )
            spent = np.log1p(level * bets) @ totals
            logs = gains - spent
            near = logs >= logs.max() - NEAR
            found.append(
                _Alternative(
                    float(bound),
                    float(level),
                    self._weights[near],
                    gained[near],
                    bets[near],
                    spent[near],
                    totals,
                )
            )
        return found


class Panels:
    """The evidence of `panels_at_random`, for many logs with the same panels.

    What panels were drawn from is taken to be what they had on average in a block, and the centre
    to be the group's mean; the evidence is that in the end, which is no more than the largest.
    """

    def __init__(self, cells: Table) -> None:
        self.enough = math.log(1.0 / LEVEL)
        totals = cells.totals()
        places = cells.group * len(cells.edges) + cells.block
        rows = np.bincount(places, weights=totals)
        expected = (np.bincount(places, weights=cells.shares) / np.maximum(rows, 1.0))[places]
        number = np.bincount(cells.group, weights=totals)
        sums = np.bincount(cells.group, weights=cells.counts @ cells.nodes)
        centre = np.clip((sums / np.maximum(number, 1.0))[cells.group], 0.02, 0.98)
        reach = np.maximum(expected, 1.0 - expected) * np.maximum(centre, 1.0 - centre)
        product = (cells.shares / totals - expected)[:, None] * (cells.nodes - centre[:, None])
        stakes = np.minimum(STAKES[:, None], EDGE / reach)
        self._gained = np.log1p(stakes[:, :, None] * product).reshape(len(STAKES), -1)
        self._weights = np.log(STAKE_WEIGHTS / STAKE_WEIGHTS.sum())

    def shown(
        self,
        cells: Table,
        law: FloatArray,
        draws: int,
        times: float,
        rng: np.random.Generator,
        *,
        spare: bool = False,
    ) -> FloatArray:
        """Return for each draw whether it is shown: 1 or 0."""
        counts = redrawn(cells, law, draws, times, rng).reshape(draws, -1)
        logs = np.logaddexp.reduce(self._weights[:, None] + self._gained @ counts.T, axis=0)
        return np.asarray(logs >= self.enough, dtype=np.float64)
