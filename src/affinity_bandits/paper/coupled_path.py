"""One path of two UCBs, in the biased and in the frozen environment, with coupled samples.

A kernel, compiled at its first use. Arms count from 0 here: arm 0 is the paper's arm 1, truly
better, and arm 1 the paper's arm 2, which the biased environment favours.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.streams import generator, stream_key

select: Function = unbound
update: Function = unbound

BIASED, FROZEN = 0, 1

Constants = tuple[tuple[float, float], tuple[int, int], int]
"""The true means, T0, and the frozen T0 of arm 0."""


class World(NamedTuple):
    """Two environments: the biased one with f(x) = x, and the frozen one."""

    means: FloatArray  # the true means
    initial: IntArray  # T0
    frozen_initial: int  # the frozen T0 of arm 0
    frozen_means: FloatArray
    horizon: int


class Path(NamedTuple):
    """What is recorded along a path; [environment, arm] where not said otherwise."""

    pulls: IntArray
    deviation: FloatArray  # sum of Y less the mean it should have
    variance: FloatArray  # sum of the variances those differences should have
    counts: IntArray  # the constants below
    history: IntArray  # [environment, s]: T_1(s), with s from 0


GOOD, FAILURES, EMPTY, FROM_QUEUE, SUFFICIENT = range(5)
"""Pulls made while the good event held; those after which dominance failed; whether a queue was
found empty meanwhile; samples taken from the queues; whether the sufficient event occurred."""


def random_constants(seed: int, number: int) -> Constants:
    """Return constants that satisfy the requirements of `alg:coupling`."""
    rng = generator(stream_key(seed, "round"), number)
    better = rng.uniform(0.2, 0.95)
    worse = better * rng.uniform(0.3, 0.98)
    second = int(np.exp(rng.uniform(np.log(20), np.log(1000))))
    frozen = max(1, int(second * worse / better * rng.uniform(0.05, 0.95)))
    return (float(better), float(worse)), (int(rng.integers(1, frozen + 1)), second), frozen


def world_of(constants: Constants, horizon: int, frozen_scale: float) -> World:
    """Return the two environments; the scale multiplies the frozen mean of arm 1."""
    means, initial, frozen = constants
    total = frozen + initial[1]
    frozen_means = (
        means[0] * frozen / total,
        min(0.999, frozen_scale * means[1] * initial[1] / total),
    )
    return World(np.array(means), np.array(initial), frozen, np.array(frozen_means), horizon)


def empty_path(horizon: int) -> Path:
    """Return a path with nothing recorded yet."""
    return Path(
        np.zeros((2, 2), dtype=np.int64),
        np.zeros((2, 2)),
        np.zeros((2, 2)),
        np.zeros(5, dtype=np.int64),
        np.zeros((2, horizon + 1), dtype=np.int64),
    )


def carried(given: float, mean: float, wanted: float, rng: np.random.Generator) -> float:
    """Return a Bernoulli(`wanted`) ordered with a Bernoulli(`mean`) already drawn; a kernel.

    Where the good event holds, `wanted` is at most `mean`, and this is the paper's
    Bernoulli(wanted / mean) times the given sample. The other case serves wrong worlds only.
    """
    uniform = rng.random()
    if wanted <= mean:
        return given if uniform * mean < wanted else 0.0
    return 1.0 if given == 1.0 or uniform * (1.0 - mean) < wanted - mean else 0.0


def walk(
    world: World,
    biased: Any,
    frozen: Any,
    rng: np.random.Generator,
    queues: bool,
    queue: FloatArray,
    uniforms: FloatArray,
    path: Path,
) -> None:
    """Play both environments to the horizon; a kernel.

    With `queues` the samples are those of `alg:coupling`, line by line. Without, the k-th pulls
    of an arm in both environments share one uniform number: `uniforms` [arm, k].

    The two inequalities of the good event are one and the same, as the proof of
    `lem:sufficientGoodEvent` says, so only the share of arm 0 is looked at.
    """
    total = world.initial[0] + world.initial[1]
    frozen_total = world.frozen_initial + world.initial[1]
    first = world.frozen_initial - world.initial[0] + 1
    pulls = path.pulls
    good, coupled, sufficient = True, queues, True
    head, tail = 0, 0
    means = np.empty(2)  # the biased means at this pull
    samples = np.empty(2)
    chosen = np.empty(2, dtype=np.int64)
    for t in range(1, world.horizon + 1):
        for arm in range(2):
            share = (world.initial[arm] + pulls[BIASED, arm]) / (total + t - 1)
            means[arm] = world.means[arm] * share
        # In whole numbers, so that equality is equality.
        members = world.initial[0] + pulls[BIASED, 0]
        if members * frozen_total > world.frozen_initial * (total + t - 1):
            good = False
            coupled = False
        chosen[BIASED] = select(biased, rng)
        chosen[FROZEN] = select(frozen, rng)
        low, high = world.frozen_means[0], world.frozen_means[1]
        empty = head == tail and chosen[BIASED] == 0 and chosen[FROZEN] == 1
        if queues and good and empty:
            path.counts[EMPTY] = 1
            coupled = False
        if not queues:
            for k in range(2):
                arm = chosen[k]
                mean = means[arm] if k == BIASED else world.frozen_means[arm]
                samples[k] = 1.0 if uniforms[arm, pulls[k, arm]] < mean else 0.0
        elif not coupled:
            samples[FROZEN] = 1.0 if rng.random() < world.frozen_means[chosen[FROZEN]] else 0.0
            samples[BIASED] = 1.0 if rng.random() < means[chosen[BIASED]] else 0.0
        elif chosen[BIASED] == 0 and chosen[FROZEN] == 0:
            samples[FROZEN] = 1.0 if rng.random() < low else 0.0
            samples[BIASED] = carried(samples[FROZEN], low, means[0], rng)
        elif chosen[BIASED] == 1 and chosen[FROZEN] == 1:
            samples[BIASED] = 1.0 if rng.random() < means[1] else 0.0
            samples[FROZEN] = carried(samples[BIASED], means[1], high, rng)
        elif chosen[BIASED] == 1:
            samples[FROZEN] = 1.0 if rng.random() < low else 0.0
            samples[BIASED] = 1.0 if rng.random() < means[1] else 0.0
            queue[tail, 0] = samples[FROZEN]
            queue[tail, 1] = samples[BIASED]
            queue[tail, 2] = means[1]
            tail += 1
        else:
            samples[FROZEN] = carried(queue[head, 1], queue[head, 2], high, rng)
            samples[BIASED] = carried(queue[head, 0], low, means[0], rng)
            head += 1
            path.counts[FROM_QUEUE] += 1
        for k in range(2):
            arm = chosen[k]
            mean = means[arm] if k == BIASED else world.frozen_means[arm]
            path.deviation[k, arm] += samples[k] - mean
            path.variance[k, arm] += mean * (1.0 - mean)
            pulls[k, arm] += 1
            path.history[k, t] = pulls[k, 1]
        update(biased, chosen[BIASED], samples[BIASED])
        update(frozen, chosen[FROZEN], samples[FROZEN])
        if good:
            path.counts[GOOD] += 1
            if pulls[BIASED, 1] < pulls[FROZEN, 1]:
                path.counts[FAILURES] += 1
        too_many = pulls[FROZEN, 0] * frozen_total > world.frozen_initial * t
        if too_many and first <= t < world.horizon:
            sufficient = False
    path.counts[SUFFICIENT] = 1 if sufficient else 0


@cache
def _walk() -> Function:
    from affinity_bandits.policies import UCB1
    from affinity_bandits.simulation.compiled import compiled

    kernels = UCB1().kernels()
    return compiled(
        bind(
            walk,
            select=compiled(kernels.select, called=False),
            update=compiled(kernels.update, called=False),
        ),
        allocates=True,
    )


def coupled_path(world: World, rng: np.random.Generator, *, queues: bool) -> Path:
    """Return one path of UCB in both environments.

    Args:
        world: the environments.
        rng: of all samples.
        queues: True for `alg:coupling` as printed, False for common uniform numbers.
    """
    from affinity_bandits.policies import UCB1

    path = empty_path(world.horizon)
    uniforms = np.empty((2, 0)) if queues else rng.random((2, world.horizon))
    queue = np.empty((world.horizon if queues else 0, 3))
    policy = UCB1()
    states = [policy.start(2, world.horizon) for _ in range(2)]
    _walk()(world, *states, rng, queues, queue, uniforms, path)
    return path
