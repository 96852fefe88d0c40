"""What becomes of a policy on one instance, counted over simulated runs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.displays import one_line
from affinity_bandits.kernels import IntArray
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation import simulate
from affinity_bandits.simulation.intervals import proportion_interval

Tick = Callable[[float], None]
"""Called with an amount of work done."""
LATE = 0.05
"""The part of runs that may take longer than "19 of 20 runs" do."""
Item = TypeVar("Item")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Outcome:
    """Counts over independent runs of a policy on an instance.

    Attributes:
        replicates: how many runs.
        wrong: runs in which the best group was dropped.
        undecided: runs in which the best group was left at the horizon, but not alone.
        choices: mean number of choices until the best group was left alone or dropped, the
            horizon where it never was.
        choices_95: so many suffice in 95% of runs (`most`).
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

    __repr__ = one_line

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
    best = result.bandit.best_arms
    return counted(result.pulls[0, :, -1, :], result.candidates[0], best=best[0])


def counted(pulls: IntArray, candidates: IntArray, best: int) -> Outcome:
    """Count over runs whose pulls and candidates at the end are given, [run, group]."""
    kept = candidates.astype(bool)
    decided = kept.sum(axis=1) == 1
    # A group is compared until the last other one is dropped; what the winner gets afterwards is
    # not a cost. If the best is dropped there is nothing more to find: the others may be alike.
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
    tick: Tick | None = None,
) -> list[Outcome]:
    """Run a policy on several instances, in threads: the compiled loops release the GIL.

    The order and the number of threads change nothing but the time it takes.
    """
    return in_threads(
        lambda bandit: outcome(bandit, policy, horizon, replicates, seed), bandits, replicates, tick
    )


def in_threads(
    run: Callable[[Item], Outcome], items: Sequence[Item], replicates: int, tick: Tick | None
) -> list[Outcome]:
    """Run each item in threads; progress is reported here, in order, as results come."""
    return parallel(run, items, None if tick is None else lambda: tick(replicates))


def parallel(
    run: Callable[[Item], Made], items: Sequence[Item], tick: Callable[[], None] | None = None
) -> list[Made]:
    """Return what is made of each item, in threads; `tick` is called here, as results come."""
    if not items:
        return []
    found = [run(items[0])]  # compiles, where that has not been done, once
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        for one in pool.map(run, items[1:]):
            found.append(one)
            if tick is not None:
                tick()
        if tick is not None:
            tick()
    finally:
        pool.shutdown(cancel_futures=True)  # at an interrupt, what has not begun never does
    return found


def most(values: Any) -> float:
    """Return a value that 95% of all runs do not exceed, with 95% confidence.

    It is one of those that were seen: so few exceed it that at most 5% of all do (Clopper and
    Pearson). Of fewer than 59 runs it is the largest, which says less.
    """
    return float(np.sort(values)[-1 - exceptions(len(values))])


@lru_cache(maxsize=100)
def exceptions(runs: int) -> int:
    """Return of how many runs something may be so, if it is so of at most 5%; 95% confidence."""
    allowed = 0
    while so_few(allowed + 1, runs):
        allowed += 1
    return allowed


def so_few(count: int, runs: int) -> bool:
    """Return whether so few of some runs say that it is at most 5% of all, with 95% confidence.

    The limit of Clopper and Pearson is at most 5% just if, with 5%, as few or fewer have a
    probability of at most 5%. Summed here, because scipy takes longer to load than a plan to read.
    """
    if count > LATE * runs:
        return False
    total = 0.0
    for number in range(count + 1):
        ways = math.lgamma(runs + 1) - math.lgamma(number + 1) - math.lgamma(runs - number + 1)
        total += math.exp(ways + number * math.log(LATE) + (runs - number) * math.log1p(-LATE))
    return total <= LATE
