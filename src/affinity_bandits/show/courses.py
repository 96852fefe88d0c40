"""The course of one run: choices, shares and scores at some moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.simulation.logs import simulate_log

MOMENTS = 120  # moments of a course; a film of ten seconds shows about half of them
FIRST = 10  # choices before the first moment


class Course(NamedTuple):
    """One run of a policy, at some moments.

    Attributes:
        name: the policy's, to be shown.
        true_means: of the groups, hidden from policies.
        choices: at each moment.
        shares: of the committee, moments by groups.
        scores: mean scores in the last half of the choices, moments by groups; NaN if unchosen.
        right: the part of choices so far that went to the best group, at each moment.
    """

    name: str
    true_means: FloatArray
    choices: IntArray
    shares: FloatArray
    scores: FloatArray
    right: FloatArray


def moments(horizon: int, number: int = MOMENTS) -> IntArray:
    """Return numbers of choices, evenly spaced on a logarithmic scale."""
    first = min(FIRST, horizon)
    return np.unique(np.geomspace(first, horizon, number).round().astype(np.int64))


def course(
    bandit: AffinityBandit,
    policy: AnyPolicy | str | Mapping[str, Any],
    horizon: int,
    *,
    name: str,
    seed: int = 0,
    at: Sequence[int] | IntArray | None = None,
) -> Course:
    """Run a policy once, pull by pull, and return its course.

    Args:
        bandit: the instance; everybody chosen joins its committee.
        policy: a policy, or its name.
        horizon: choices.
        name: to be shown.
        seed: of all randomness.
        at: numbers of choices, ascending; by default evenly spaced on a logarithmic scale.
    """
    log = simulate_log(bandit, policy, horizon, seed)
    times = moments(horizon) if at is None else np.asarray(at, dtype=np.int64)
    chosen = np.zeros((len(times), bandit.arms))
    members = np.zeros_like(chosen)
    scores = np.full_like(chosen, np.nan)
    initial = bandit.initial_pulls or [1] * bandit.arms
    for arm in range(bandit.arms):
        pulled = log.arm == arm
        counts = np.concatenate([[0], np.cumsum(pulled)])
        sums = np.concatenate([[0.0], np.cumsum(np.where(pulled, log.score, 0.0))])
        joined = np.concatenate([[0], np.cumsum(pulled & log.joined)])
        before = times // 2
        recent = counts[times] - counts[before]
        seen = recent > 0
        scores[seen, arm] = (sums[times] - sums[before])[seen] / recent[seen]
        chosen[:, arm] = counts[times]
        members[:, arm] = initial[arm] + joined[times]
    means = np.asarray(bandit.true_means, dtype=np.float64)
    best = means == means.max()
    return Course(
        name,
        means,
        times,
        members / members.sum(axis=1, keepdims=True),
        scores,
        chosen[:, best].sum(axis=1) / times,
    )
