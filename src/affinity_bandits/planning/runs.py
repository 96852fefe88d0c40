"""Simulated runs of a plan's policy in hard worlds, in threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from affinity_bandits.base.workers import Item, Made, in_threads
from affinity_bandits.kernels.compile import cacheable
from affinity_bandits.kernels.kernel import IntArray
from affinity_bandits.planning.hardest_rounds import (
    NEVER,
    Ends,
    Start,
    bound_hardest,
    new_scratch,
)
from affinity_bandits.planning.outcomes import Outcome, most
from affinity_bandits.planning.worlds import (
    HardWorld,
)
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.kernel_rules import check_own, is_own_policy
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.compile_errors import index_error
from affinity_bandits.simulation.environment import key_words

Tick = Callable[[float], None]  # called with an amount of work done


def ignore(_: float) -> None:
    """Ignore progress."""


def parallel(
    run: Callable[[Item], Made], items: Sequence[Item], tick: Tick = ignore, work: float = 1.0
) -> list[Made]:
    """Run a function on each item, in threads, and call `tick(work)` after each result."""
    found: list[Made] = []
    # The first one compiles, so there are no threads yet.
    for one in chain(map(run, items[:1]), in_threads(run, items[1:])):
        found.append(one)
        tick(work)
    return found


AT_ONCE = 5  # runs between two checks for an interrupt


class Runs(NamedTuple):
    """The outcome of each run in a hardest world.

    Attributes:
        decided: choices until all rivals of the best group were dropped, or `NEVER`.
        lost: choices until the best group was dropped, or `NEVER`.
        pulls: pulls of each group until then, or until the horizon, [run, group].
    """

    decided: IntArray
    lost: IntArray
    pulls: IntArray

    def within(self, horizon: int) -> Outcome:
        """Return the counts for a smaller horizon, except the pulls of each group."""
        ends = np.minimum(self.decided, self.lost)
        choices = np.minimum(ends, horizon)
        return Outcome(
            replicates=len(choices),
            wrong=int((self.lost <= horizon).sum()),
            undecided=int((ends > horizon).sum()),
            choices=float(choices.mean()),
            choices_95=most(choices),
            per_group=tuple(float(part) for part in self.pulls.mean(axis=0)),
            per_group_95=tuple(most(some) for some in self.pulls.T),
        )

    def count_needed(self, part: float) -> int:
        """Return the choices within which that part of runs ends, or `NEVER`."""
        ends = np.minimum(self.decided, self.lost)
        return int(np.sort(ends)[math.ceil(part * len(ends)) - 1])


def run_hardest(
    hard: HardWorld, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Runs:
    """Run a policy in a hardest world, in threads: the compiled loop releases the GIL.

    Each run has its own random stream, so the result is the same for any number of threads. An
    interrupt waits for the few runs that have begun.
    """
    check_own(policy, len(hard.initial), horizon)
    kernel = bound_hardest(policy.kernels(), is_own_policy(policy))
    groups = len(hard.initial)

    def run(numbers: range) -> Runs:
        packed = pack(policy.start(groups, horizon))
        start = Start(
            cacheable(packed.state),  # as the simulator has it, so that kernels are compiled once
            packed.whole,
            packed.whole.copy(),
            packed.real,
            packed.real.copy(),
        )
        ends = Ends(
            decided=np.full(len(numbers), NEVER, dtype=np.int64),
            lost=np.full(len(numbers), NEVER, dtype=np.int64),
            pulls=np.zeros((len(numbers), groups), dtype=np.int64),
        )
        kernel(
            hard.world,
            np.array(hard.initial, dtype=np.int64),
            start,
            np.array(policy.nodes),
            new_scratch(groups, max(1, len(policy.nodes))),
            key_words(seed, "round"),
            numbers.start,
            horizon,
            ends,
        )
        return Runs(*ends)

    starts = range(0, replicates, AT_ONCE)
    try:
        found = parallel(run, [range(low, min(low + AT_ONCE, replicates)) for low in starts])
    except IndexError as error:
        raise index_error(policy) from error
    return Runs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def hardest_outcomes(
    worlds: Sequence[HardWorld],
    policy: RoundPolicy,
    horizon: int,
    replicates: int,
    seed: int,
    tick: Tick = ignore,
) -> list[Outcome]:
    """Run a policy in several worlds, in threads, and count."""
    return parallel(
        lambda hard: run_hardest(hard, policy, horizon, replicates, seed).within(horizon),
        worlds,
        tick,
        replicates,
    )
