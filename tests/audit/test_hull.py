"""The interval of an audit is exactly the hull of those of its two tests."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits.audit import audit_scores
from affinity_bandits.audit.differences import find_differences
from affinity_bandits.audit.evidence import favor_interval
from affinity_bandits.audit.judges import permute_judges
from affinity_bandits.audit.log import average_groups
from tests.audit.logs import draw

LOGS = {
    "the bets' at both ends": (60, 6, 0.0, True, True),
    "the permutation's at both ends": (800, 12, 2.0, False, False),
    "one of each": (240, 6, 0.0, False, True),
    "of judges' groups, the bets'": (240, 24, 0.0, True, True),
}
"""Candidates, judges, spread of judges' tastes, and at which ends the bets' interval is wider."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_each_end_is_that_of_the_wider_interval(name: str) -> None:
    candidates, judges, spread, low_by_bets, high_by_bets = LOGS[name]
    taste = np.random.default_rng([3, 1]).normal(0.0, spread, (judges, 3))
    log = draw(
        candidates, seed=3, judges=judges, effect=lambda g, j, o, s: taste[j, "ABC".index(g)]
    )
    audit = audit_scores(log, draws=2)
    compared = log if audit.basis == "same judges" else average_groups(log)
    bets = favor_interval(find_differences(compared))
    permutation = permute_judges(log).interval
    assert bets[0] != permutation[0]
    assert bets[1] != permutation[1]
    assert ((bets[0] < permutation[0]), (bets[1] > permutation[1])) == (low_by_bets, high_by_bets)
    assert audit.favor is not None
    wider = (bets if low_by_bets else permutation)[0], (bets if high_by_bets else permutation)[1]
    assert (audit.favor.low, audit.favor.high) == tuple(20.0 * end for end in wider)
