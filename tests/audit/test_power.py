"""What would have been seen is what is seen, where shares do not follow the scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import decision_log, odds, panels_at_random, power, table_of
from affinity_bandits.audit.redrawn import coarse, laws, redrawn, tilted
from affinity_bandits.bias import InGroupBonus, Power
from affinity_bandits.errors import InvalidInput

TWO = (0.4, 0.6)
TURNS = World("round-robin", TWO, (100, 10), 500, bias=Power(1.0))


@pytest.mark.slow
def test_power_is_the_part_of_logs_that_show_it() -> None:
    # In turn, so that shares are the same in every log. Of 60 logs and 200 draws the difference
    # has a standard deviation of at most 0.074; 0.25 is more than three of them.
    logs = [drawn(TURNS, seed) for seed in range(60)]
    seen = np.mean([odds(table_of(log)) >= math.log(40) for log in logs])
    found = power(table_of(logs[0]), bonuses=[math.inf], draws=200)[0]
    assert 0.1 < seen < 0.9  # so that it says something
    assert abs(found.shown - seen) < 0.25
    assert found.low < found.shown < found.high
    assert found.times is not None
    assert 1.0 < found.times < 16.0


@pytest.mark.slow
def test_power_of_panels_is_the_part_of_logs_that_show_it() -> None:
    world = World("round-robin", TWO, (20, 20), 1_000, bias=InGroupBonus(0.3), seats=5)
    logs = [drawn(world, seed) for seed in range(60)]
    seen = np.mean([panels_at_random(log).last >= math.log(20) for log in logs])
    found = {one.assumption: one for one in power(table_of(logs[0]), panels=True, bonuses=[0.3])}
    assert 0.2 < seen < 0.95
    # 60 logs and 40 draws: a standard deviation of at most 0.1.
    assert abs(found["random"].shown - seen) < 0.3


@pytest.mark.slow
def test_no_bonus_is_hardly_ever_shown_and_a_larger_one_more_often() -> None:
    table = table_of(drawn(World("ucb1", TWO, (20, 20), 2_000, bias=Power(1.0)), 1))
    found = [one.shown for one in power(table, bonuses=[0.0, 0.5, 1.0, math.inf])]
    # At most one in 20 of 40; six or more have a probability of at most 0.014.
    assert found[0] <= 5 / 40
    assert found == sorted(found)
    assert found[-1] > 0.9


def test_shares_that_rest_show_nothing_however_many_rows() -> None:
    rng = np.random.default_rng(1)
    log = decision_log([0, 1] * 200, rng.integers(0, 2, 400), initial={0: 10**9, 1: 10**9})
    (found,) = power(table_of(log), bonuses=[1.0])
    assert found.shown == 0.0
    assert found.times == math.inf


def test_the_same_seed_draws_the_same() -> None:
    table = table_of(drawn(TURNS, 1))
    first, again, other = (power(table, bonuses=[5.0], draws=10, seed=s) for s in (1, 1, 2))
    assert first == again
    assert other[0].bonus == 5.0


def test_draws_must_be_some() -> None:
    with pytest.raises(InvalidInput, match="draws must be a whole number from 1"):
        power(table_of(drawn(TURNS._replace(rows=20), 1)), draws=0)


def test_laws_have_the_levels_of_the_bonus_and_the_mean_of_the_log() -> None:
    table = table_of(drawn(TURNS, 1))
    law = laws(table, 1.0)
    totals = table.totals()
    np.testing.assert_allclose(law.sum(axis=1), 1.0)
    for group in range(2):
        own = table.group == group
        levels = law[own] @ table.nodes
        weights = 1.0 + (table.shares / totals)[own]
        np.testing.assert_allclose(levels / weights, (levels / weights)[0], rtol=1e-9)
        mean = (table.counts[own] @ table.nodes).sum() / totals[own].sum()
        assert totals[own] @ levels / totals[own].sum() == pytest.approx(mean)
    counts = redrawn(table, law, 3, 2.0, np.random.default_rng(1))
    assert (counts.sum(axis=2) == 2 * totals).all()


def test_levels_at_the_ends_of_the_scale() -> None:
    nodes = np.array([0.0, 0.5, 1.0])
    found = tilted(np.array([0.1, 30.0, 0.1]), nodes, np.array([0.0, 0.5, 1.0])) @ nodes
    np.testing.assert_allclose(found, [0.0, 0.5, 1.0], atol=1e-6)


def test_longer_blocks_hold_the_same_rows() -> None:
    table = table_of(drawn(TURNS, 1))
    fewer = coarse(table, 10)
    assert len(fewer.edges) - 1 <= 10
    assert fewer.edges[-1] == table.edges[-1]
    for values in ("counts", "times", "shares"):
        np.testing.assert_allclose(
            getattr(fewer, values).sum(axis=0), getattr(table, values).sum(axis=0)
        )
    assert (np.diff(fewer.block) >= 0).all()
    starts = fewer.times / fewer.totals()
    assert (starts >= fewer.edges[fewer.block]).all()
    assert (starts < fewer.edges[fewer.block + 1]).all()
