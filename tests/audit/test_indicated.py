"""What is indicated: a sum that is right, and what keeps it from crying wolf."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import decision_log, indicated, table_of
from affinity_bandits.audit.indicated import PRICE, Fit
from affinity_bandits.bias import Power

ENOUGH = math.log(20)
TWO = (0.4, 0.6)


def test_the_average_over_levels_is_that_of_a_fine_grid() -> None:
    table = table_of(drawn(World("ucb1", TWO, (20, 5), 300, 1, bias=Power(1.0)), 2))
    fit = Fit(table.of(1))
    for exponent, rate in ((0.0, 0.0), (1.0, 0.4), (3.0, -1.0)):
        factors = np.exp(exponent * fit.logs + rate * fit.times)
        m = (np.arange(100_000) + 0.5) / 100_000 / factors.max()
        logs = sum(
            h * np.log(f * m) + n * np.log1p(-f * m)
            for h, n, f in zip(fit.hits, fit.misses, factors, strict=True)
        )
        exact = np.logaddexp.reduce(logs) + math.log(m[1] - m[0])
        # 25 points over twelve standard deviations: exact to far below a thousandth.
        assert fit.averaged(exponent, np.array([rate]))[0] == pytest.approx(exact, abs=1e-3)


def test_shares_that_rest_indicate_nothing() -> None:
    rng = np.random.default_rng(1)
    score = rng.integers(0, 2, 200)
    groups = [row % 2 for row in range(200)]
    log = decision_log(groups, score, initial={0: 10**9, 1: 10**9})
    # All exponents fit alike: the factor is 1.
    assert indicated(table_of(log)) == pytest.approx(0.0, abs=1e-6)
    assert indicated(table_of(log), drift=False) == pytest.approx(0.0, abs=1e-6)


def test_scores_that_never_vary() -> None:
    for score in (0.0, 0.5, 1.0):
        log = decision_log([0, 1] * 20, [score] * 40, initial={0: 3, 1: 1})
        assert indicated(table_of(log)) < ENOUGH


@pytest.mark.slow
def test_a_bias_is_indicated_and_a_drift_is_not() -> None:
    # In trial runs 94 of 100 logs were; of 12 at least 8 are, with probability 0.9995.
    biased = World("round-robin", TWO, (100, 10), 20_000, 1, bias=Power(1.0))
    assert sum(indicated(table_of(drawn(biased, seed))) >= ENOUGH for seed in range(12)) >= 8
    drifting = World("ucb1", TWO, (20, 20), 2_000, drift="steady")
    tables = [table_of(drawn(drifting, seed)) for seed in range(8)]
    assert max(indicated(table) for table in tables) < ENOUGH
    # Taken for a world in which nothing drifts, it fools the Bayes factor.
    assert max(indicated(table, drift=False) for table in tables) > ENOUGH


@pytest.mark.slow
def test_leaving_after_success_fools_it_unless_groups_are_paid_for() -> None:
    # 1.5% of such logs were false alarms (6 of 400), so more than 6 of 60 have a probability below
    # 1e-4; without the price it was 43%, and fewer than 12 have one below 1e-4.
    world = World("switch after success", (0.3,) * 16, (10,) * 16, 640, 1)
    found = np.array(
        [indicated(table_of(drawn(world, seed)), drift=False) for seed in range(100, 160)]
    )
    assert (found >= ENOUGH).sum() <= 6
    assert (found + 14 * PRICE >= ENOUGH).sum() >= 12
