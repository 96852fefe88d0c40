"""The course of one run: at some moments, who was chosen so far and what scores looked like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.simulation.logged_run import simulate_log

MOMENTS = 120
"""As many as a film of ten seconds shows."""
FIRST = 10
"""Choices before the first moment."""
RECENT = 2
"""Scores count as recent in the last half of all choices, as 1/2."""


class Moment(NamedTuple):
    """What is seen after some choices.

    Attributes:
        choices: so far.
        shares: of each group in the committee.
        scores: the mean score of each group, as it was seen in the last half of the choices; NaN
            of a group that was not chosen in it.
        right: the part of all choices that went to the best group.
    """

    choices: int
    shares: FloatArray
    scores: FloatArray
    right: float


class Course(NamedTuple):
    """One run of a policy, at some moments.

    Attributes:
        name: the policy's, to be shown.
        true_means: of the groups; no policy sees them.
        choices: at each moment.
        shares: of the committee, moments by groups.
        scores: mean scores in the last half of the choices, moments by groups; NaN for none.
        right: the part of choices so far that went to the best group, at each moment.
    """

    name: str
    true_means: FloatArray
    choices: IntArray
    shares: FloatArray
    scores: FloatArray
    right: FloatArray

    def at(self, place: int) -> Moment:
        """Return one moment."""
        return Moment(
            int(self.choices[place]),
            self.shares[place],
            self.scores[place],
            float(self.right[place]),
        )


def moments(horizon: int, number: int = MOMENTS) -> IntArray:
    """Return numbers of choices, each the same part more than the one before."""
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
        bandit: the instance; everybody who is chosen joins its committee.
        policy: a policy, or its name.
        horizon: choices.
        name: to be shown.
        seed: of all randomness.
        at: numbers of choices, rising; if None, evenly spaced on a logarithmic scale.
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
        before = times // RECENT
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
