"""A log among those that its rule makes without a bias."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits.audit import decision_log, known_rule, table_of
from affinity_bandits.audit.known_rule import slope
from affinity_bandits.audit.table import Table
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import UCB1, Live

TWO = (0.4, 0.6)
INITIAL = (20, 20)


def chosen_by_ucb1(seed: int, rows: int, *, biased: bool) -> Table:
    rng = np.random.default_rng([seed, 5])
    live = Live(UCB1(), 2, rows)
    members = list(INITIAL)
    groups, scores = [], []
    for _ in range(rows):
        arm = live.ask()
        share = members[arm] / sum(members)
        scores.append(rng.binomial(4, TWO[arm] * (share if biased else 1.0)) / 4)
        live.tell(arm, scores[-1])
        groups.append(arm)
        members[arm] += 1
    return table_of(decision_log(groups, scores, initial=dict(enumerate(INITIAL))))


@pytest.mark.slow
def test_it_is_found_where_it_is_and_seldom_where_it_is_not() -> None:
    # Without a bias about 1 of 20 logs has p = 0.05: 4 or more of 12 have a probability of 0.002.
    # With it 27 of 30 trial runs of 300 rows had; of 5, fewer than 2 have one of 0.0005.
    def found(number: int, *, biased: bool) -> int:
        tables = [chosen_by_ucb1(seed, 200, biased=biased) for seed in range(number)]
        ps = [
            known_rule(table, INITIAL, "ucb1", logs=19, seed=seed).p
            for seed, table in enumerate(tables)
        ]
        return sum(p <= 0.05 for p in ps)

    assert found(12, biased=False) <= 3
    assert found(5, biased=True) >= 2


def test_ranks_count_the_log_itself() -> None:
    table = chosen_by_ucb1(1, 60, biased=True)
    found = known_rule(table, INITIAL, UCB1(), logs=19)
    above = sum(other >= found.slope for other in found.simulated)
    assert found.p == (above + 1) / 20
    assert len(set(found.simulated)) > 10
    assert found == known_rule(table, INITIAL, {"name": "ucb1"}, logs=19)
    assert found.slope == slope(table)


def test_slopes_are_those_of_a_regression() -> None:
    rng = np.random.default_rng(2)
    share = rng.choice([0.1, 0.4, 0.9], 400)
    groups = rng.integers(0, 2, 400)
    score = (rng.random(400) < 0.2 + 0.5 * share).astype(float)
    log = decision_log(groups, score, initial={0: 1, 1: 1}, panel=share)
    product = square = 0.0
    for group in range(2):
        own = groups == group
        around = share[own] - share[own].mean()
        product += around @ (score[own] - score[own].mean())
        square += around @ around * score[own].var()
    assert slope(table_of(log)) == pytest.approx(product / np.sqrt(square))


def test_no_spread_is_no_slope() -> None:
    log = decision_log([0, 1] * 10, [1.0] * 20, initial={0: 1, 1: 1})
    assert slope(table_of(log)) == 0.0


@pytest.mark.parametrize(
    ("initial", "logs", "policy", "message"),
    [
        ((20,), 19, "ucb1", "^initial must be a number for each of 2 groups"),
        (INITIAL, 18, "ucb1", "^logs must be a whole number from 19"),
        (INITIAL, 100_000, "ucb1", "^table must be no more than 20 rows where 100,000 logs"),
        (INITIAL, 19, "nobody", "^policy must be one of"),
    ],
)
def test_what_cannot_be_simulated(
    initial: tuple[int, ...], logs: int, policy: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        known_rule(chosen_by_ucb1(1, 30, biased=False), initial, policy, logs=logs)


def test_every_group_must_have_been_scored() -> None:
    log = decision_log([0, 0], [0, 1], initial={0: 1, 1: 1})
    with pytest.raises(InvalidInput, match="every group was scored"):
        known_rule(table_of(log), (1, 1), "ucb1")
