"""If there is nothing to be found, no bet wins on average: exactly, over all ways a log can go.

The sums are over every sequence of scores, each with its probability, so there is no noise in them.
What is looked at is the wealth at the true levels, of which the evidence is a lower bound; a bet
that looked ahead would have an expectation that is not 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from affinity_bandits.audit import (
    DecisionLog,
    decision_log,
    likelihood_ratios,
    odds,
    odds_with_drift,
    pair_table_of,
    pairs,
    panels_at_random,
    panels_on_record,
    table_of,
)
from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.drifting_odds import EVERY, Group
from affinity_bandits.audit.lowest import log_gains, value
from affinity_bandits.audit.matched_pairs import couple_of, log_wealth
from affinity_bandits.audit.strategies import CAP, reference_weights, tilts_of
from affinity_bandits.audit.table import Table
from affinity_bandits.simulation.compiled import compiled
from tests.audit.paths import RULES, every_path

LEVELS = (0.3, 0.6)
INITIAL = {0: 9, 1: 2}
ROWS = 7
"""Two blocks, so that references and centres move."""
ALTERNATIVES = [("share", 8.0), ("log", 2.0)]
ROUNDING = 1e-9


def level(group: int, row: int) -> float:
    return LEVELS[group]


def at_level(cells: Table, bets: tuple[np.ndarray, np.ndarray], m: float, rho: np.ndarray) -> float:
    """The logarithm of the wealth on one group if its level is m."""
    gains, stakes = bets
    room = [np.empty(len(gains)) for _ in range(3)]
    return compiled(value)(m, gains, stakes, cells.totals(), rho, rho, *room)[0]


def odds_wealth(log: DecisionLog, shape: str, theta: float) -> float:
    """The wealth of one alternative of `odds` at the true levels."""
    table = table_of(log)
    weights = reference_weights(2)
    total = 0.0
    for group in range(2):
        cells = table.of(group)
        if len(cells.group):
            gains, bets = np.empty(len(weights)), np.empty((len(weights), len(cells.group)))
            leans = np.zeros(len(cells.group))
            tilts = tilts_of(cells, shape)
            compiled(log_gains)(
                weights, tilts, leans, theta, CAP, cells.counts, cells.nodes, gains, bets
            )
            even = np.ones(len(cells.group))
            total += with_cash(at_level(cells, (gains, bets), LEVELS[group], even))
    return math.exp(total)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("shape", "theta"), ALTERNATIVES)
def test_odds_at_the_true_levels_are_a_martingale(rule: str, shape: str, theta: float) -> None:
    paths = every_path(RULES[rule], level, ROWS, INITIAL)
    mean = sum(chance * odds_wealth(log, shape, theta) for chance, log in paths)
    assert mean == pytest.approx(1.0, abs=ROUNDING)


@pytest.mark.slow
def test_evidence_is_below_one_on_average() -> None:
    means = np.zeros(4)
    for chance, log in every_path(RULES["switching"], level, 5, INITIAL):
        table = table_of(log)
        found = [
            odds(table),
            likelihood_ratios(table),
            odds_with_drift(table),
            pairs(pair_table_of(log)),
        ]
        means += chance * np.exp(found)
    assert (means <= 1.0).all()
    assert means.max() > 0.05  # it is not nothing


def couple_wealth(log: DecisionLog, ratio: float, drift: float, *, charged: bool = True) -> float:
    """The wealth of `pairs` at the true ratio of levels, in the middle of a range."""
    couple = couple_of(pair_table_of(log), 0, drift)
    if len(couple.block) == 0:
        return 1.0
    couple = couple if charged else couple._replace(open_cell=-1)
    found = np.empty((1, len(couple.weights)))
    ends = (ratio * math.exp(-0.02), ratio * math.exp(0.02))
    order = np.arange(len(couple.weights))
    compiled(log_wealth, allocates=True)(couple, *ends, np.array([ratio]), order, math.inf, found)
    return float(np.exp(found).sum())


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_pairs_at_the_true_ratio_lose_on_average(rule: str) -> None:
    # The level moves, for both alike, between pairs but not within them.
    paths = every_path(RULES[rule], level, ROWS, INITIAL)
    mean = sum(chance * couple_wealth(log, 0.5, 0.0) for chance, log in paths)
    assert 0.5 < mean <= 1.0 + ROUNDING


def test_pairs_that_are_not_charged_for_an_open_pair_win() -> None:
    # The group with more members comes until it scores high, and the pair is never closed by it.
    # A level of 0.9 is far above the centre, which begins at one half.
    def high(group: int, row: int) -> float:
        return 0.9

    def mean(*, charged: bool) -> float:
        paths = every_path(lambda groups, scores: 0, high, 5, {0: 30, 1: 1})
        return sum(chance * couple_wealth(log, 1.0, 0.0, charged=charged) for chance, log in paths)

    assert mean(charged=True) <= 1.0 + ROUNDING
    assert mean(charged=False) > 1.05


@pytest.mark.slow
def test_pairs_are_charged_for_drift_within_them() -> None:
    # Both levels fall together, always between the first and the second score of a pair.
    def falling(group: int, row: int) -> float:
        return 0.9 - 0.1 * (row + row % 2)

    def mean(drift: float) -> float:
        paths = every_path(RULES["turns"], falling, 8, {0: 30, 1: 1})
        return sum(chance * couple_wealth(log, 1.0, drift) for chance, log in paths)

    assert mean(0.8) <= 1.0 + ROUNDING
    assert mean(0.0) > 1.05


@pytest.mark.parametrize("rule", RULES)
def test_odds_of_a_steady_drift_lose_on_average_at_the_true_rate(rule: str) -> None:
    rate = -0.8

    def drifting(group: int, row: int) -> float:
        return LEVELS[group] * math.exp(rate * row / ROWS)

    weights = reference_weights(2, EVERY)
    mean = 0.0
    for chance, log in every_path(RULES[rule], drifting, ROWS, INITIAL):
        table = table_of(log)
        total = 0.0
        for group in range(2):
            if (table.group == group).any():
                one = Group.of(table.of(group))
                rho = np.exp(rate * one.times)
                bets = one.bets(("share", 4.0, 0.5), weights)
                total += at_level(one.cells, bets, LEVELS[group], rho) - rate**2 * one.unevenness
        mean += chance * math.exp(total)
    assert 0.9 < mean <= 1.0 + ROUNDING


def panels(rows: int, *, helps: float = 0.0) -> Iterator[tuple[float, DecisionLog]]:
    """Every log of panels of one, drawn from a committee of which 30% are of the group."""
    for seats in product((0.0, 1.0), repeat=rows):
        for scores in product((0.0, 1.0), repeat=rows):
            chance = 1.0
            for row in range(rows):
                chance *= 0.3 if seats[row] else 0.7
                # The level is high after a high score, for whatever reason: it may drift.
                high = 0.2 + (0.5 * scores[row - 1] if row else 0.0) + helps * seats[row]
                chance *= high if scores[row] else 1.0 - high
            groups, pool = [0] * rows, [0.3] * rows
            log = decision_log(groups, scores, initial={0: 1, 1: 1}, panel=seats, drawn_from=pool)
            yield chance, log


@pytest.mark.slow
def test_random_panels_are_a_martingale_whatever_drifts() -> None:
    assert sum(c * math.exp(panels_at_random(log).last) for c, log in panels(5)) == pytest.approx(
        1.0
    )
    assert sum(c * math.exp(panels_at_random(log).last) for c, log in panels(5, helps=0.25)) > 1.05


def test_recorded_panels_lose_on_average_if_the_level_stays() -> None:
    # Whoever chooses the panels seats the group after a low score: no law, but a level that stays.
    mean = 0.0
    for scores in product((0.0, 1.0), repeat=7):
        chance = math.prod(0.4 if score else 0.6 for score in scores)
        seats = [1.0, *(1.0 - score for score in scores[:-1])]
        log = decision_log([0] * 7, scores, initial={0: 1, 1: 1}, panel=seats)
        mean += chance * math.exp(panels_on_record(log, drift=0.0))
    assert 0.2 < mean <= 1.0
