"""What becomes of a policy on one instance, counted over simulated runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation import simulate
from affinity_bandits.simulation.intervals import proportion_interval

Tick = Callable[[float], None]
"""Called with an amount of work done."""


@dataclass(frozen=True)
class Outcome:
    """Counts over independent runs of a policy on an instance.

    Attributes:
        replicates: how many runs.
        wrong: runs in which the best group was dropped.
        undecided: runs in which more than one group was left at the horizon.
        choices: mean number of choices until one group was left, the horizon where it never was.
        choices_95: so many suffice in 95% of runs.
        per_group: mean choices spent on each group until then.
        per_group_95: so many suffice in 95% of runs, per group.
    """

    replicates: int
    wrong: int
    undecided: int
    choices: float
    choices_95: float
    per_group: tuple[float, ...]
    per_group_95: tuple[float, ...]

    @property
    def wrong_rate(self) -> tuple[float, float, float]:
        """How often the best group was dropped, with a 95% interval (Clopper and Pearson)."""
        return proportion_interval(self.wrong, self.replicates, 0.95)

    @property
    def undecided_rate(self) -> float:
        """How often the horizon ended first."""
        return self.undecided / self.replicates


def outcome(
    bandit: AffinityBandit, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Outcome:
    """Run a policy on an instance and count."""
    result = simulate(
        bandit, policy, horizon, replicates, seed, checkpoints=1, engine="rounds", progress=False
    )
    if not result.complete:  # interrupted: fewer runs than asked for would certify less
        raise KeyboardInterrupt
    pulls = result.pulls[0, :, -1, :]
    candidates = result.candidates[0].astype(bool)
    decided = candidates.sum(axis=1) == 1
    # A group is compared until the last other one is dropped; what the winner gets afterwards is
    # not a cost.
    last_dropped = np.where(candidates, 0, pulls).max(axis=1)
    spent = np.where(decided[:, None], np.minimum(pulls, last_dropped[:, None]), pulls)
    choices = spent.sum(axis=1)
    return Outcome(
        replicates=replicates,
        wrong=int(result.deceived[0].sum()),
        undecided=int((~decided).sum()),
        choices=float(choices.mean()),
        choices_95=_most(choices),
        per_group=tuple(float(part) for part in spent.mean(axis=0)),
        per_group_95=tuple(_most(spent[:, arm]) for arm in range(bandit.arms)),
    )


def outcomes(
    bandits: Sequence[AffinityBandit],
    policy: RoundPolicy,
    horizon: int,
    replicates: int,
    seed: int,
    tick: Tick | None = None,
) -> list[Outcome]:
    """Run a policy on several instances, in threads: the compiled loops do not hold the lock.

    The order and the number of threads change nothing but the time it takes.
    """

    def one(bandit: AffinityBandit) -> Outcome:
        counted = outcome(bandit, policy, horizon, replicates, seed)
        if tick is not None:
            tick(replicates)
        return counted

    if not bandits:
        return []
    first = one(bandits[0])  # compiles, where that has not been done, once
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        return [first, *pool.map(one, bandits[1:])]
    finally:
        pool.shutdown(cancel_futures=True)  # at an interrupt, what has not begun never does


def _most(values: Any) -> float:
    """Return the value that 95% of runs do not exceed."""
    return float(np.quantile(values, 0.95, method="higher"))
