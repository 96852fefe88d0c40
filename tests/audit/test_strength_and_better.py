"""Sets of bonuses hold the true one, and whoever is not better is not said to be."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import better, decision_log, strength, table_of
from affinity_bandits.audit.bonus_set import as_bonus
from affinity_bandits.audit.inversion import EVERY, Group
from affinity_bandits.audit.strategies import reference_weights
from affinity_bandits.bias import Constant, Power
from affinity_bandits.errors import InvalidInput
from tests.audit.paths import RULES, every_path
from tests.audit.test_fair_bets import ROUNDING, at_level

TWO = (0.4, 0.6)
INITIAL = {0: 9, 1: 2}


def share_before(groups: list[int], group: int) -> float:
    own = INITIAL[group] + sum(one == group for one in groups)
    return own / (sum(INITIAL.values()) + len(groups))


@pytest.mark.parametrize("theta", [8.0, -8.0])
def test_bets_against_the_true_bonus_lose_on_average(theta: float) -> None:
    # In turn, so that shares, and with them levels, are known for every row.
    slope = 0.6
    order = [row % 2 for row in range(7)]
    weights = [1 - slope + slope * share_before(order[:row], order[row]) for row in range(7)]
    mean = 0.0
    for chance, log in every_path(RULES["turns"], lambda g, row: TWO[g] * weights[row], 7, INITIAL):
        table = table_of(log)
        total = 0.0
        for group in range(2):
            one = Group(table.of(group), reference_weights(2, EVERY))
            bets = one.bets(("share", theta))
            factors = 1 - slope + slope * one.shares
            total += at_level(one.cells, bets, TWO[group], factors)
        mean += chance * math.exp(total)
    assert 0.99 < mean <= 1.0 + ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize(("bias", "bonus"), [(Power(1.0), math.inf), (Constant(), 0.0)])
def test_the_true_bonus_is_left(bias: object, bonus: float) -> None:
    # Each set leaves it out with probability at most 0.05; in trial runs none did.
    found = strength(table_of(drawn(World("ucb1", TWO, (20, 20), 600, bias=bias), 2)))
    assert found is not None
    assert found.least <= bonus <= found.largest
    assert (found.least, found.largest) != (0.0, math.inf)


def test_slopes_and_bonuses() -> None:
    assert [as_bonus(slope) for slope in (0.0, 0.5, 1.0)] == [0.0, 1.0, math.inf]


def step(share: float) -> float:
    """A bias that no formula would guess."""
    return 0.2 if share < 0.5 else 0.9


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ratio", [1.0, 1.5])
def test_a_group_that_is_not_better_is_not_shown_to_be(rule: str, ratio: float) -> None:
    # Group 0 is just as much better as the ratio says, under a bias with a step.
    means = (0.5 * ratio, 0.5)
    initial = {0: 4, 1: 5}
    mean = 0.0
    for scores in product((0.0, 1.0), repeat=8):
        groups: list[int] = []
        chance = 1.0
        for row, score in enumerate(scores):
            group = RULES[rule](groups, scores[:row])
            own = initial[group] + groups.count(group)
            high = means[group] * step(own / (9 + row))
            chance *= high if score else 1.0 - high
            groups.append(group)
        log = decision_log(groups, scores, initial=initial)
        mean += chance * math.exp(better(log, "0", "1", ratio))
    assert 0.5 < mean <= 1.0 + ROUNDING


def test_a_better_group_is_shown_to_be_whatever_the_bias() -> None:
    log = drawn(World("round-robin", TWO, (20, 20), 2_000, bias=Power(1.0)), 1)
    assert better(log, "1", "0") >= math.log(20)
    assert better(log, "0", "1") <= ROUNDING
    found = [better(log, "1", "0", ratio) for ratio in (1.0, 1.2, 1.4)]
    assert np.all(np.diff(found) < 0.0)


@pytest.mark.parametrize(
    ("group", "than", "ratio", "message"),
    [
        ("2", "0", 1.0, "^group must be one of 0, 1, got '2'"),
        ("0", "0", 1.0, "^than must be another group"),
        ("0", "1", 0.0, "^ratio must be a finite number above 0"),
    ],
)
def test_what_cannot_be_compared(group: str, than: str, ratio: float, message: str) -> None:
    log = decision_log([0, 1], [0, 1], initial={0: 1, 1: 1})
    with pytest.raises(InvalidInput, match=message):
        better(log, group, than, ratio)
