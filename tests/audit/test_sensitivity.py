"""How far one group has to drift: proven up to there, and hardly further."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import odds, sensitivity, table_of
from affinity_bandits.audit.betting_odds import with_cash
from affinity_bandits.audit.drifting_odds import EVERY, Group, bets_made
from affinity_bandits.audit.sensitivity import ENOUGH
from affinity_bandits.audit.strategies import reference_weights
from affinity_bandits.audit.table import Table
from affinity_bandits.bias import Power

TWO = (0.4, 0.6)


def evidence(table: Table, drifting: int, rate: float) -> float:
    """The evidence if one group drifts, of all bets and references."""
    weights = reference_weights(2, EVERY)
    groups = [Group.of(table.of(one)) for one in range(2)]
    logs = [
        sum(
            with_cash(group.least(group.bets(bet, weights), rate * (one == drifting), 0.0))
            for one, group in enumerate(groups)
        )
        for bet in bets_made()
    ]
    return float(np.logaddexp.reduce(logs)) - math.log(len(logs))


@pytest.mark.slow
def test_evidence_is_enough_up_to_there_and_not_much_further() -> None:
    table = table_of(drawn(World("round-robin", TWO, (100, 10), 2_000, bias=Power(1.0)), 1))
    found = sensitivity(table)
    assert found is not None
    ends = [
        (one.group, sign, sign * math.log1p(sign * change))
        for one in found
        for sign, change in ((-1.0, one.fall), (1.0, one.rise))
        if change is not None
    ]
    assert ends
    for group, sign, size in ends:
        inside = [evidence(table, group, sign * size * part) for part in (0.25, 0.6, 0.9, 1.0)]
        assert min(inside) >= ENOUGH - 1e-9
        assert evidence(table, group, sign * (size + 0.01)) < ENOUGH


@pytest.mark.slow
def test_a_true_drift_is_not_called_too_small() -> None:
    # One group's level doubles and there is no bias: in at most 1 of 20 logs is a rise to double
    # too small to explain what is seen. 3 or more of 8 have a probability of at most 0.006.
    world = World("softmax", (0.6, 0.6), (20, 200), 2_000, drift="steady", alone=True)
    wrong = fooled = 0
    for seed in range(8):
        table = table_of(drawn(world, seed))
        fooled += odds(table) >= ENOUGH
        found = sensitivity(table)
        if found is not None:
            wrong += found[0].rise is None or found[0].rise > math.expm1(0.7)
    assert wrong <= 2
    assert fooled >= 4  # who thinks that nothing drifts is wrong


def test_nothing_to_explain() -> None:
    table = table_of(drawn(World("ucb1", TWO, (20, 20), 200), 1))
    assert sensitivity(table) is None


def test_evidence_that_nothing_explains() -> None:
    table = table_of(drawn(World("ucb1", TWO, (20, 20), 4_000, bias=Power(2.0)), 1))
    found = sensitivity(table, enough=0.0)
    assert found is not None
    assert any(one.fall is None and one.rise is None for one in found)
