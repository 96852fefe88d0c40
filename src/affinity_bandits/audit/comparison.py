"""Whether one group is better than another, whatever the bias: at no larger share it scored more.

The theorem, its proof and its limits are in docs/audit.md, "What is left of a comparison".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.audit.log import BoolArray, DecisionLog
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.audit.seating import Seats, let_wait, seat_waiting, seats_of
from affinity_bandits.errors import InvalidInput, UnknownName
from affinity_bandits.kernels import FloatArray, IntArray

STAKES = np.array([0.1, 0.2, 0.4, 0.8, 1.6])
"""Equal parts of the wealth are on each."""
EDGE = 0.7
MEMORY = 0.99
RATIOS = np.array([0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0])
"""At which all groups of a log that is read once are compared."""
SHOWN = math.log(20.0)
PAIRS_HELD = 64
"""Pairs whose factors are multiplied before a logarithm is taken: no more than 1e80 in all."""
SMALL_RATIO = 0.1
"""Below it a factor may be so large that a logarithm is taken of every pair's."""


def better(log: DecisionLog, group: str, than: str, ratio: float = 1.0) -> float:
    """Return the logarithm of an e-value of "the true mean of `group` is at most `ratio` times".

    Times that of `than`. It is one for every bias that does not fall with the share.

    Args:
        log: of decisions.
        group: a name of the log.
        than: another one.
        ratio: 1 to show that the group is better at all, more to show by how much.
    """
    for parameter, name in (("group", group), ("than", than)):
        if name not in log.groups:
            raise UnknownName(parameter, name, log.groups)
    if group == than:
        raise InvalidInput("than", "another group than the one that is compared with it", than)
    times = checks.number("ratio", ratio, low=0.0, open_low=True)
    pair = (log.groups.index(group), log.groups.index(than))
    bets = ComparisonBets(log.initial, [pair], np.array([times]), panels=log.panel is not None)
    bets.add(log.group, log.score, log.chosen, log.opens, log.judging)
    return float(bets.evidence()[0, 0])


class Comparisons(NamedTuple):
    """The evidence that groups are better than others, and by how much.

    Attributes:
        ratios: at which they are compared, in rising order.
        pairs: of groups, by their numbers: the one that may be better, and the other.
        log_e: pairs by ratios; the logarithms of e-values of "at most that ratio times as good".
    """

    ratios: FloatArray
    pairs: list[tuple[int, int]]
    log_e: FloatArray

    def at(self, group: int, than: int, ratio: float = 1.0) -> float:
        """Return the logarithm of the evidence that a group is better than so many times another.

        The ratio must be one of those in the table.
        """
        place = int(np.flatnonzero(self.ratios == ratio)[0])
        return float(self.log_e[self.pairs.index((group, than)), place])

    def at_least(self, group: int, than: int, enough: float = SHOWN) -> float | None:
        """Return how many times as good a group is as another, at least; None if nobody can tell.

        With probability 1 - exp(-enough) or more, what is returned is below the true ratio of
        their means. Ratios are taken in rising order until the evidence is too small. Nothing
        wrong is said unless the least of those that are not below the true ratio passes, which is
        one test, however many ratios there are.
        """
        short = np.flatnonzero(self.log_e[self.pairs.index((group, than))] < enough)
        passed = int(short[0]) if len(short) else len(self.ratios)
        return float(self.ratios[passed - 1]) if passed else None


class CompareState(NamedTuple):
    """What is known of bets on comparisons between the rows of a log.

    Attributes:
        sums: of each group's scores, decayed.
        rows: their number, decayed, and the one that is there before any.
        prior: what is left of that one.
        is_open: of each pair of groups, whether one of its pairs of scores is open.
        opened_at: the share at which it was opened.
        centre: pairs of groups by ratios.
        edge: likewise, the most that is staked.
        product: pairs of groups by stakes and ratios, of the factors whose logarithms are not
            taken yet.
        wealth: likewise, the logarithm of all others.
        held: of each pair of groups, how many pairs of scores are in the product.
    """

    sums: FloatArray
    rows: FloatArray
    prior: FloatArray
    is_open: BoolArray
    opened_at: FloatArray
    centre: FloatArray
    edge: FloatArray
    product: FloatArray
    wealth: FloatArray
    held: IntArray


class ComparisonBets:
    """Bets against "no better than so many times", from rows that come in parts of any length.

    Args:
        initial: the initial committee.
        pairs: of groups, by their numbers: the one that may be better, and the other.
        ratios: at which each pair is compared.
        panels: whether shares are those of panels.
    """

    def __init__(
        self,
        initial: IntArray,
        pairs: Sequence[tuple[int, int]],
        ratios: FloatArray,
        *,
        panels: bool,
    ) -> None:
        groups = len(initial)
        self._pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self._ratios = ratios
        self._roles = (_pairs_of(self._pairs[:, 1], groups), _pairs_of(self._pairs[:, 0], groups))
        self._seats = seats_of(initial)
        self._panels = panels
        self._most_held = PAIRS_HELD if ratios.min() >= SMALL_RATIO else 1
        each = (len(self._pairs), len(ratios))
        bets = (len(self._pairs), len(STAKES), len(ratios))
        self._state = CompareState(
            sums=np.zeros(groups),
            rows=np.ones(groups),
            prior=np.ones(groups),
            is_open=np.zeros(len(self._pairs), dtype=np.bool_),
            opened_at=np.zeros(len(self._pairs)),
            centre=np.zeros(each),
            edge=np.zeros(each),
            product=np.ones(bets),
            wealth=np.full(bets, -math.log(len(STAKES))),
            held=np.zeros(len(self._pairs), dtype=np.int64),
        )

    def add(
        self,
        group: IntArray,
        score: FloatArray,
        chosen: BoolArray,
        opens: BoolArray,
        share: FloatArray,
    ) -> None:
        """Bet on rows that follow those before; the shares are those of who judged."""
        code_for_rows(compare)(
            (group, score, chosen, opens, share),
            self._seats,
            (self._panels, self._most_held),
            (self._pairs, *self._roles),
            (1.0 / self._ratios, STAKES),
            self._state,
        )

    def evidence(self) -> FloatArray:
        """Return the logarithm of the evidence after all rows so far, pairs by ratios."""
        state = self._state
        wealth = state.wealth + np.log(state.product)
        # The most that an open pair's first factor is on average: that of a level of 0.
        stake = np.minimum(STAKES[:, None], state.edge[:, None, :])
        owed = np.log1p(stake * state.centre[:, None, :])
        wealth -= np.where(state.is_open[:, None, None], owed, 0.0)
        return np.asarray(np.logaddexp.reduce(wealth, axis=1))


def all_pairs(groups: Sequence[int]) -> list[tuple[int, int]]:
    """Return every two of some groups, in both orders."""
    return list(permutations(groups, 2))


def _pairs_of(column: IntArray, groups: int) -> IntArray:
    """Return for each group in which pairs it is in a column; -1 where there are fewer."""
    found = [np.flatnonzero(column == group) for group in range(groups)]
    places = np.full((groups, max(len(numbers) for numbers in found)), -1, dtype=np.int64)
    for group, numbers in enumerate(found):
        places[group, : len(numbers)] = numbers
    return places


def compare(
    log: tuple[IntArray, FloatArray, BoolArray, BoolArray, FloatArray],
    seats: Seats,
    settings: tuple[bool, int],
    fixed: tuple[IntArray, IntArray, IntArray],
    grid: tuple[FloatArray, FloatArray],
    state: CompareState,
) -> None:
    """Add to the wealth of each pair of groups, stake and ratio; a kernel.

    Of j, which may be better, and i, a score of i opens a pair, if j's share is then no larger, and
    the next score of j at no larger share closes it. With panels, any score of i opens: whom the
    next panel has is not known.
    """
    group, score, chosen, opens, share = log
    panels, most_held = settings
    pairs, opening, closing = fixed
    members = seats.members
    sums, rows, prior = state.sums, state.rows, state.prior
    for row in range(len(group)):
        if opens[row]:
            seat_waiting(seats)
        one = group[row]
        if chosen[row]:
            let_wait(seats, one)
        for place in range(opening.shape[1]):
            pair = opening[one, place]
            if pair < 0:
                break
            other = pairs[pair, 0]
            if not state.is_open[pair] and (panels or members[other] <= members[one]):
                state.is_open[pair] = True
                state.opened_at[pair] = share[row]
                open_pair(pair, one, other, score[row], grid, state)
        for place in range(closing.shape[1]):
            pair = closing[one, place]
            if pair < 0:
                break
            if state.is_open[pair] and share[row] <= state.opened_at[pair]:
                state.is_open[pair] = False
                close_pair(pair, score[row], grid, most_held, state)
        sums[one] = MEMORY * sums[one] + score[row]
        rows[one] = MEMORY * rows[one] + 1.0
        # Numbers that are all but 0 take the processor a hundred times as long as others.
        prior[one] = MEMORY * prior[one] if prior[one] > 1e-30 else 0.0


def open_pair(
    pair: int,
    one: int,
    other: int,
    score: float,
    grid: tuple[FloatArray, FloatArray],
    state: CompareState,
) -> None:
    """Fix centres and stakes, and bet on the first score; a kernel.

    Written without `min` and `max`, so that several ratios are computed at once.
    """
    inverse, stakes = grid
    own = 0.5 * (state.sums[one] + 0.5 * state.prior[one]) / state.rows[one]
    # As if the other group's first score had been half of the ratio.
    others = 0.5 * state.sums[other] / state.rows[other]
    start = 0.25 * state.prior[other] / state.rows[other]
    centres, edges = state.centre[pair], state.edge[pair]
    for r in range(len(inverse)):
        most = 0.98 * inverse[r] if inverse[r] < 1.0 else 0.98
        centre = own + others * inverse[r] + start
        centre = centre if centre > 0.02 else 0.02
        centre = centre if centre < most else most
        far = centre if centre > 0.5 else 1.0 - centre
        # So that neither factor can be 0: 1 - a (y - c) and 1 + a (y / ratio - c).
        centres[r] = centre
        edges[r] = EDGE / far
    for k in range(len(stakes)):
        product = state.product[pair, k]
        for r in range(len(inverse)):
            stake = edges[r] if edges[r] < stakes[k] else stakes[k]
            product[r] *= 1.0 - stake * (score - centres[r])


def close_pair(
    pair: int,
    score: float,
    grid: tuple[FloatArray, FloatArray],
    most_held: int,
    state: CompareState,
) -> None:
    """Bet on the second score; a kernel."""
    inverse, stakes = grid
    centres, edges = state.centre[pair], state.edge[pair]
    for k in range(len(stakes)):
        product = state.product[pair, k]
        for r in range(len(inverse)):
            stake = edges[r] if edges[r] < stakes[k] else stakes[k]
            product[r] *= 1.0 + stake * (score * inverse[r] - centres[r])
    state.held[pair] += 1
    if state.held[pair] == most_held:
        state.held[pair] = 0
        for k in range(len(stakes)):
            for r in range(len(inverse)):
                state.wealth[pair, k, r] += math.log(state.product[pair, k, r])
                state.product[pair, k, r] = 1.0
