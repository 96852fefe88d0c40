"""What the tests of both engines share: states at the end of many replicates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from affinity_bandits import AffinityBandit, StepRun
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation.engines import RoundEngine

SMALLEST_P = 1e-7
"""Below it two engines differ; tests/contracts/test_rounds_equal_steps.py says why."""


class Outcomes:
    """Per replicate and arm: final pulls, the round it was dropped in, its mean or its sum."""

    def __init__(self, replicates: int, arms: int) -> None:
        self.pulls = np.zeros((replicates, arms), dtype=np.int64)
        self.dropped_in = np.zeros((replicates, arms), dtype=np.int64)
        self.means = np.zeros((replicates, arms))

    def keep(self, row: int, pulls: Any, state: Any) -> None:
        self.pulls[row] = pulls
        state = getattr(state, "bets", state)  # where the policy is told who judges
        if hasattr(state, "dropped_in"):
            self.dropped_in[row] = state.dropped_in
            # Sums of the same terms in another order differ in the last digits; on a lattice of
            # values that would look like a difference in law.
            self.means[row] = np.round(state.means if hasattr(state, "means") else state.sums, 9)


def outcomes_by_steps(
    bandit: AffinityBandit, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Outcomes:
    found = Outcomes(replicates, bandit.arms)
    run = StepRun(bandit, policy, horizon, seed)
    for row in range(replicates):
        run.restart(row)
        run.advance(horizon)
        found.keep(row, run.pulls, run.state.inner)
    return found


def outcomes_by_rounds(
    bandit: AffinityBandit, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Outcomes:
    found = Outcomes(replicates, bandit.arms)
    engine = RoundEngine(bandit, policy, horizon, seed, np.array([horizon]))
    pulls = np.zeros((1, 1, bandit.arms), dtype=np.int64)
    candidates = np.zeros((1, bandit.arms + 1), dtype=np.int64)
    for row in range(replicates):
        engine.run(row, pulls, candidates, lambda _: None)
        found.keep(row, pulls[0, 0], engine.state)
    return found


def smallest_p(left: Outcomes, right: Outcomes) -> float:
    found = [1.0]
    for arm in range(left.pulls.shape[1]):
        found.extend(
            (
                stats.ks_2samp(left.means[:, arm], right.means[:, arm], method="asymp").pvalue,
                chi_square_p(left.pulls[:, arm], right.pulls[:, arm]),
                chi_square_p(left.dropped_in[:, arm], right.dropped_in[:, arm]),
            )
        )
    return min(found)


def chi_square_p(left: np.ndarray, right: np.ndarray) -> float:
    values = np.unique(np.concatenate([left, right]))
    table = np.array([[np.sum(side == value) for value in values] for side in (left, right)])
    # The law of the statistic is chi-square only where cells are not nearly empty.
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0
