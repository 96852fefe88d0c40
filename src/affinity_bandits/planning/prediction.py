"""How often Algorithm 1 with a given schedule drops the best arm, computed instead of simulated.

Until something is dropped, a round's expected means are exact sums of weights and its noise has a
known law. So the probability that a rival pushes the best arm out in a round is a tail of that
law; the sum over rivals and rounds bounds the whole. Nothing has to be seen to fail, so
probabilities far too small to simulate can be compared. Rivals are taken to leave in the first
round after which they are gone with 95% probability.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from affinity_bandits.bandit import AffinityBandit, Bernoulli
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies import CalibratedElimination
from affinity_bandits.round_sums import bound_sums
from affinity_bandits.simulation.compiled import compiled

sums_of_weights: Function = unbound

SURELY = 1.6449
"""Standard deviations beyond a threshold at which an arm is dropped with probability 95%."""


class Prediction(NamedTuple):
    """What a schedule does on an instance."""

    failure: float  # bounds the probability that the best arm is dropped
    pulls: float  # in all, until one arm is left with high probability; the horizon if never


class Case(NamedTuple):
    """An instance as numbers: kinds of arms that share a true mean and initial pulls."""

    code: int
    parameters: FloatArray
    breakpoints: FloatArray
    smooth: bool
    sigma: float  # 0 for Bernoulli values
    means: FloatArray  # per kind, the best arm's first
    initial: IntArray  # per kind
    counts: IntArray  # per kind


def predict(bandit: AffinityBandit, policy: CalibratedElimination, horizon: int) -> Prediction:
    """Return what Algorithm 1 with a schedule and a burn-in does on an instance.

    Args:
        bandit: an instance with one best arm, Gaussian values shifted or Bernoulli values gated.
        policy: the burn-in, and m_r with thresholds (`alg:eliminationUnknownBias`).
        horizon: n.
    """
    state = policy.start(bandit.arms, horizon)
    burn_in = policy.burn_in if policy.discard_first else 0
    failure, pulls = _bound(bandit.bias.kernel)(
        _case(bandit), burn_in, state.repetitions, state.thresholds, horizon
    )
    return Prediction(failure, pulls)


@lru_cache(maxsize=4096)
def _case(bandit: AffinityBandit) -> Case:
    kinds = Counter(zip(bandit.true_means, bandit.initial_pulls or (), strict=True))
    ordered = sorted(kinds, key=lambda kind: -kind[0])
    bias = bandit.bias
    return Case(
        code=bias.code,
        parameters=bias.parameters,
        breakpoints=np.array(bias.breakpoints, dtype=np.float64),
        smooth=bool(bias.smooth),
        sigma=0.0 if isinstance(bandit.noise, Bernoulli) else bandit.sigma,
        means=np.array([kind[0] for kind in ordered]),
        initial=np.array([kind[1] for kind in ordered], dtype=np.int64),
        counts=np.array([kinds[kind] for kind in ordered], dtype=np.int64),
    )


def predict_rounds(
    case: Case, burn_in: int, repetitions: IntArray, thresholds: FloatArray, horizon: int
) -> tuple[float, float]:
    """Return the bound on the failure probability and the pulls until it is over; a kernel."""
    active = 0
    committee = 0
    for kind in range(len(case.means)):
        active += case.counts[kind]
        committee += case.counts[kind] * case.initial[kind]
    own = burn_in
    clock = active * own
    committee += clock
    gone = np.zeros(len(case.means), dtype=np.int64)
    mean = np.zeros(len(case.means))
    variance = np.zeros(len(case.means))
    failure = 0.0
    number = 0
    while active > 1 and failure < 1.0:
        number += 1
        if number >= len(repetitions) or repetitions[number] > (horizon - clock) // active:
            return failure, float(horizon)
        pulls = repetitions[number]
        for kind in range(len(case.means)):
            if gone[kind] == 1:
                continue
            weights, _ = sums_of_weights(
                case.code,
                case.parameters,
                case.breakpoints,
                case.smooth,
                float(case.initial[kind] + own),
                # Who comes later within a pass has a smaller share: the best comes last here.
                float(committee + (active - 1 if kind == 0 else 0)),
                float(active),
                pulls,
            )
            mean[kind] = case.means[kind] * weights / pulls
            variance[kind] = case.sigma * case.sigma / pulls
            if case.sigma == 0.0:
                variance[kind] = mean[kind] * (1.0 - mean[kind]) / pulls
        leaving = 0
        for kind in range(1, len(case.means)):
            if gone[kind] == 1:
                continue
            lag = mean[0] - mean[kind]
            margin = thresholds[number] + lag
            both = variance[0] + variance[kind]
            tail = 1.0
            if margin > 0.0 and case.sigma == 0.0:
                # Bernstein's inequality: for rare successes the normal law promises too much.
                tail = math.exp(-0.5 * margin * margin / (both + margin / (3.0 * pulls)))
            elif margin > 0.0:
                tail = 0.5 * math.erfc(margin / math.sqrt(2.0 * both))
            failure += case.counts[kind] * tail
            if lag - thresholds[number] >= SURELY * math.sqrt(both):
                gone[kind] = 1
                leaving += case.counts[kind]
        own += pulls
        committee += active * pulls
        clock += active * pulls
        active -= leaving
    return min(failure, 1.0), float(clock)


@lru_cache(maxsize=64)
def _bound(bias_kernel: Function) -> Function:
    """Return `predict_rounds` for a bias, compiled."""
    return compiled(bind(predict_rounds, sums_of_weights=bound_sums(bias_kernel)), allocates=True)
