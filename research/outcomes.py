"""Outcomes of plans' policies on instances of the simulator, beside those in hardest worlds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affinity_bandits import AffinityBandit, simulate
from affinity_bandits.kernels.kernel import IntArray
from affinity_bandits.planning import Outcome
from affinity_bandits.planning.outcomes import most
from affinity_bandits.planning.runs import parallel
from affinity_bandits.policies import RoundPolicy


def outcome(
    bandit: AffinityBandit, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Outcome:
    """Run a policy on an instance and count."""
    result = simulate(
        bandit, policy, horizon, replicates, seed, checkpoints=1, engine="rounds", progress=False
    )
    if not result.complete:  # interrupted: fewer runs would certify less
        raise KeyboardInterrupt
    best = result.bandit.best_arms
    return count_outcomes(result.pulls[0, :, -1, :], result.candidates[0], best=best[0])


def count_outcomes(pulls: IntArray, candidates: IntArray, best: int) -> Outcome:
    """Count outcomes, given the pulls and the candidates at the end, [run, group]."""
    kept = candidates.astype(bool)
    decided = kept.sum(axis=1) == 1
    # The comparison ends when the last rival, or the best group, is dropped. Later pulls are no
    # cost of it.
    wrong = ~kept[:, best]
    last_dropped = np.where(wrong, pulls[:, best], np.where(kept, 0, pulls).max(axis=1))
    ended = (wrong | decided)[:, None]
    spent = np.where(ended, np.minimum(pulls, last_dropped[:, None]), pulls)
    choices = spent.sum(axis=1)
    return Outcome(
        replicates=len(pulls),
        wrong=int(wrong.sum()),
        undecided=int((kept[:, best] & ~decided).sum()),
        choices=float(choices.mean()),
        choices_95=most(choices),
        per_group=tuple(float(part) for part in spent.mean(axis=0)),
        per_group_95=tuple(most(spent[:, arm]) for arm in range(pulls.shape[1])),
    )


def outcomes(
    bandits: Sequence[AffinityBandit],
    policy: RoundPolicy,
    horizon: int,
    replicates: int,
    seed: int,
) -> list[Outcome]:
    """Run a policy on several instances, in threads: the compiled loops release the GIL."""
    return parallel(lambda bandit: outcome(bandit, policy, horizon, replicates, seed), bandits)
