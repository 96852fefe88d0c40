"""The course of one run: choices, shares and scores at some moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.simulation.logs import LoggedRun
from affinity_bandits.simulation.simulator import require_policy

MOMENTS = 120  # moments of a course; a film of ten seconds shows about half of them
FIRST = 10  # choices before the first moment
SETTLED = 0.8  # a run stays with a group that gets this part of the latest half of its choices
LATEST = 0.8  # from this part of the run on, at the latest


class Course(NamedTuple):
    """One run of a policy, at some moments.

    Attributes:
        name: the policy's, to be shown.
        true_means: of the groups, hidden from policies.
        choices: at each moment.
        shares: of the committee, moments by groups.
        scores: mean scores in the last half of the choices, moments by groups; NaN if unchosen.
        right: the part of choices so far that went to the best group, at each moment.
        decided: after how many choices the policy had dropped all groups but one; 0 if it has not.
        group: the one that the run ends with; -1 while it compares several.
        since: after how many choices it stayed with this group; 0 while it compares several.
    """

    name: str
    true_means: FloatArray
    choices: IntArray
    shares: FloatArray
    scores: FloatArray
    right: FloatArray
    decided: int
    group: int
    since: int

    @property
    def best(self) -> list[int]:
        """The groups that are worth most."""
        best: list[int] = np.flatnonzero(self.true_means == self.true_means.max()).tolist()
        return best


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
    run = LoggedRun(bandit, require_policy("policy", policy, bandit), horizon, seed)
    log = run.log(0)
    group, since = settle(log.arm)
    if run.decided_at > 0:
        group, since = int(log.arm[-1]), run.decided_at
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
        run.decided_at,
        group,
        since,
    )


def settle(chosen: IntArray) -> tuple[int, int]:
    """Return the group that a run stays with, and after how many choices; -1 and 0 if with none.

    From then on, most of the latest half of the choices always went to this group.
    """
    times = np.arange(min(FIRST, len(chosen)), len(chosen) + 1)
    group = int(np.bincount(chosen[len(chosen) // 2 :]).argmax())
    so_far = np.concatenate([[0], np.cumsum(chosen == group)])
    latest = so_far[times] - so_far[times // 2]
    astray = times[latest < SETTLED * (times - times // 2)]
    since = int(astray[-1]) + 1 if len(astray) else int(times[0])
    return (group, since) if since <= LATEST * len(chosen) else (-1, 0)


def tell_status(course: Course, groups: Sequence[str]) -> str:
    """Say in a few words what became of a run."""
    wrong = course.group not in course.best
    if course.decided > 0:
        return f"decided after {course.decided:,} choices{', wrongly' if wrong else ''}"
    if course.group < 0:
        return "still comparing"
    end = "locked in" if wrong else f"with {groups[course.group]}"
    return f"{end} since choice {course.since:,}"


def usual_policies(bandit: AffinityBandit) -> list[tuple[str, str | dict[str, Any]]]:
    """Return the policies to compare, with names to show; the last is told the committee."""
    head_start = {
        "name": "head-start-elimination",
        "initial_pulls": [int(pulls) for pulls in bandit.initial_pulls or ()],
        "bounded": True,
    }
    return [("UCB1", "ucb1"), ("Algorithm 1", "elimination"), ("head start", head_start)]


def explain_failure(bandit: AffinityBandit, course: Course, groups: Sequence[str]) -> list[str]:
    """Say in two sentences why an ordinary policy fails in its course, or why it does not.

    Args:
        bandit: the instance.
        course: of a policy that knows nothing of the bias.
        groups: their names.
    """
    means, last = course.true_means, course.choices[-1]
    most = int(course.shares[-1].argmax())
    best = course.best
    if len(best) == len(groups):
        return [
            "All groups are worth the same here, so no choice is wrong.",
            f"The bias and chance decide who ends up on the committee: {groups[most]} have "
            f"{course.shares[-1, most]:.0%} of the seats after {last:,} choices.",
        ]
    named = " and ".join(groups[group] for group in best)
    right = f"{course.right[-1]:.0%}" if course.right[-1] >= 0.01 else "less than 1%"
    members = np.asarray(bandit.initial_pulls or [1] * bandit.arms, dtype=np.float64)
    shares = members / members.sum()
    seen = [bandit.bias.weight(float(x)) * mean for x, mean in zip(shares, means, strict=True)]
    first = max(best, key=lambda group: seen[group])
    rival = max(set(range(len(groups))) - set(best), key=lambda group: seen[group])
    start = (
        f"with {shares[first]:.0%} of the seats at the start, {groups[first]} score "
        f"{seen[first]:.2f} on average and {groups[rival]} {seen[rival]:.2f}"
    )
    behind = seen[first] < seen[rival]
    if course.right[-1] >= 0.5:
        why = (
            f"They look worse at first: {start}. But {course.name} tried them often enough for "
            "their share to grow, and with it their scores."
            if behind
            else f"The best also look best: {start}."
        )
        return [
            f"{course.name} does not fail in this run: {right} of {last:,} choices went to "
            f"{named}, who are worth most.",
            why,
        ]
    other = rival if most in best else most
    why = (
        f"The bias hides it: {start}, and every choice of {groups[rival]} raises their scores "
        "further."
        if behind
        else f"They began well ({start}), but every choice of {groups[other]} raised their scores."
    )
    return [
        f"{course.name} gave {right} of {last:,} choices to {named}, although they are worth "
        f"{means[first] - means[other]:.2f} more than {groups[other]}.",
        why,
    ]
