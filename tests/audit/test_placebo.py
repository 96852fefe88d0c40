"""Shares that cannot matter: never shown under a bias, and shown if all drift."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import decision_log, odds, placebo, table_of
from affinity_bandits.audit.placebo import _mean_shares, _with
from affinity_bandits.bias import InGroupBonus, Power
from tests.audit.paths import RULES, every_path
from tests.audit.test_fair_bets import INITIAL, level

ENOUGH = math.log(20)
TWO = (0.4, 0.6)


def test_shares_are_those_of_earlier_blocks() -> None:
    table = table_of(drawn(World("ucb1", (0.3, 0.5, 0.4), (9, 4, 2), 300), 1))
    shares = _mean_shares(table)
    before = np.arange(len(table.edges) - 1) - 1
    found = _with(table, shares, before)
    assert (found.block > 0).all()
    later = table.counts[table.block > 0].sum(axis=0)
    assert (found.counts.sum(axis=0) <= later + 1e-9).all()
    # Scores of a block do not change what it is given: swap them all and compare.
    other = table._replace(counts=table.counts[:, ::-1].copy())
    again = _with(other, _mean_shares(other), before)
    np.testing.assert_array_equal(found.bin, again.bin)
    for cell in range(len(found.group)):
        block, group = found.block[cell] - 1, found.group[cell]
        own = (table.block == block) & (table.group == group)
        if own.any():
            mean = table.shares[own].sum() / table.totals()[own].sum()
            assert found.shares[cell] / found.totals()[cell] == pytest.approx(mean)


@pytest.mark.slow
def test_no_placebo_wins_on_average_if_there_is_nothing() -> None:
    # Exactly, over all ways that a log of three blocks can go.
    means = np.zeros(4)
    for chance, log in every_path(RULES["switching"], level, 9, INITIAL):
        means += chance * np.exp(placebo(table_of(log)))
    assert (means <= 1.0).all()
    assert (means > 0.05).all()


@pytest.mark.slow
def test_under_a_bias_the_share_of_others_shows_nothing() -> None:
    five = (0.35, 0.47, 0.59, 0.41, 0.53)
    for rule, means, rows in (("round-robin", TWO, 2_000), ("ucb1", five, 20_000)):
        initial = (100, *(10,) * (len(means) - 1))
        table = table_of(drawn(World(rule, means, initial, rows, bias=Power(1.0)), 1))
        found = placebo(table)
        assert odds(table) >= ENOUGH
        assert found.own >= ENOUGH
        assert found.others < 0.0


@pytest.mark.slow
def test_a_drift_of_all_is_shown_by_the_share_of_others() -> None:
    table = table_of(drawn(World("round-robin", TWO, (20, 200), 2_000, drift="rise"), 1))
    assert odds(table) >= ENOUGH  # which is wrong
    assert placebo(table).others >= ENOUGH  # and this says so


def test_panels_drawn_anew_have_no_memory() -> None:
    table = table_of(
        drawn(World("softmax", TWO, (20, 20), 2_000, bias=InGroupBonus(0.5), seats=5), 1)
    )
    found = placebo(table)
    assert odds(table) >= ENOUGH
    assert max(found) < ENOUGH


def test_a_log_of_one_block() -> None:
    log = decision_log([0, 1], [0, 1], initial={0: 1, 1: 1})
    assert placebo(table_of(log)) == pytest.approx((0.0, 0.0, 0.0, 0.0))
