"""What is said to be the least evidence over all levels is never above it, and hardly below."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import likelihood_ratios, odds, odds_with_drift, pair_table_of, table_of
from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.bonus_set import bonus_levels
from affinity_bandits.audit.drifting_odds import ABSOLUTE, EVERY, Group, Search
from affinity_bandits.audit.inversion import BETS, groups_of, possible
from affinity_bandits.audit.likelihoods import log_mean_likelihood
from affinity_bandits.audit.lowest import TOLERANCE, lowest, value
from affinity_bandits.audit.matched_pairs import (
    TOLERANCE as WITHIN,
)
from affinity_bandits.audit.matched_pairs import (
    couple_evidence,
    couple_of,
    log_wealth,
    ranges,
)
from affinity_bandits.audit.strategies import reference_weights
from affinity_bandits.bias import Power
from affinity_bandits.simulation.compiled import compiled

BIASED = World("round-robin", (0.4, 0.6), (100, 10), 400, bias=Power(1.0))


@pytest.mark.slow
def test_the_least_over_levels() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        strategies, cells = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        bets = np.exp(rng.normal(0, 1, (strategies, cells))) - 1.0
        totals = rng.integers(1, 200, cells).astype(float)
        sums = totals * rng.random(cells)
        gains = np.log1p(bets * 1.0) @ sums - rng.random(strategies)
        raised, lowered = np.full(cells, 1.1), np.full(cells, 0.9)
        start, top = float(rng.random()), 1.1
        bound = lowest(gains, bets, totals, raised, lowered, start, top)
        room = [np.empty(strategies) for _ in range(3)]
        grid = np.linspace(0.0, top, 551)
        rest = (gains, bets, totals, raised, lowered, *room)
        values = [compiled(value)(m, *rest) for m in grid]
        least = min(f for f, _, _ in values)
        assert bound <= least + 1e-9
        # The grid's own error: a step of 1/500 where f bends by at most sum N k^2 / (1 + k m)^2.
        bend = max(bend for _, _, bend in values)
        assert bound >= least - TOLERANCE - 0.5 * bend / 500**2


@pytest.mark.slow
def test_the_least_over_ratios() -> None:
    couple = couple_of(pair_table_of(drawn(BIASED, 1)), 0, 1.0)
    found = couple_evidence(couple)
    ends = ranges()
    order = np.arange(len(couple.weights))
    least = math.inf
    for low, high in zip(np.exp(ends[:-1]), np.exp(ends[1:]), strict=True):
        ratios = np.geomspace(low, high, 5)
        room = np.empty((5, len(order)))
        compiled(log_wealth, allocates=True)(couple, low, high, ratios, order, math.inf, room)
        least = min(least, np.logaddexp.reduce(room, axis=1).min())
    assert least > 1.1
    assert least - WITHIN - 0.01 <= found <= least + 1e-9  # a hundredth for the grid of five


@pytest.mark.slow
def test_the_least_over_rates() -> None:
    table = table_of(drawn(BIASED._replace(rows=600, bias=Power(2.0)), 3))
    found = odds_with_drift(table)
    groups = [Group.of(table.of(one)) for one in range(2)]
    search = Search(groups, reference_weights(2, EVERY))
    everything = [[group.bets(bet, search.weights) for group in groups] for bet in search.bets]
    least = min(
        search.bound(everything, rate, 0.0, math.inf) for rate in np.arange(-0.6, 1.21, 0.15)
    )
    # Not above it, and below by no more than is said and by what a grid of 0.15 may overlook.
    assert least - ABSOLUTE - 0.1 < found <= least
    assert found > 0.8  # and not nothing
    assert odds_with_drift(table, enough=0.75) == pytest.approx(0.75, abs=0.5)


@pytest.mark.slow
def test_pieces_are_excluded_by_all_bets_or_by_none() -> None:
    # What is left out on the way, alternatives and references, changes no verdict on a piece.
    groups = groups_of(table_of(drawn(BIASED._replace(rows=900, bias=Power(2.0)), 5)))
    ends = np.linspace(0.0, 1.0, 11)
    enough = math.log(20)
    found = possible(groups, bonus_levels, ends, enough)
    slow = []
    for low, high in pairwise(ends):
        parts = [
            with_cash([g.least(g.bets(bet), bonus_levels(g, low, high))[0] for g in groups]).sum()
            for bet in BETS
        ]
        slow.append(np.logaddexp.reduce(parts) - math.log(len(BETS)) < enough)
    places = np.flatnonzero(slow)
    assert found == (places[0], places[-1])
    assert places[0] > 0


def test_an_average_of_likelihoods_is_bounded_from_below() -> None:
    weights, sums, rows = np.array([0.2, 0.9]), np.array([3.0, 30.0]), np.array([20.0, 50.0])
    m = (np.arange(200_000) + 0.5) / 200_000
    logs = sum(
        s * np.log(w * m) + (n - s) * np.log1p(-w * m)
        for w, s, n in zip(weights, sums, rows, strict=True)
    )
    exact = np.logaddexp.reduce(logs) - math.log(len(m))
    found = log_mean_likelihood(weights, sums, rows)
    assert exact - 0.1 < found <= exact + 1e-9


def test_likelihoods_of_scores_that_are_all_low_or_all_high() -> None:
    for score in (0.0, 1.0):
        log = drawn(BIASED._replace(rows=40), 0)
        log.score[:] = score
        assert likelihood_ratios(table_of(log)) <= 0.0
        assert odds(table_of(log)) <= 0.0
