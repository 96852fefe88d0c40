"""The contract of step policies: choose after every single feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import Function
from affinity_bandits.policies.policy import Policy, anybody, meet_nobody


def always(state: Any) -> bool:
    """Return that every pull is a round of its own; a kernel."""
    return True


class StepKernels(NamedTuple):
    """The functions a loop calls at every pull.

    The last three are for bandits of which not everybody judges who was ever chosen: whether a
    round begins with this pull, and what a round policy is told and asked then.
    """

    select: Function
    update: Function
    candidate: Function
    opens: Function = always
    meet: Function = meet_nobody
    fewest_seats: Function = anybody


@dataclass(frozen=True)
class StepPolicy(Policy):
    """A policy that chooses after every single feedback.

    `select`, `update` and `candidate` are kernels (see `affinity_bandits.kernels`): static,
    without closures, deterministic given state and random stream. They change the arrays of the
    state in place and nothing else. A run calls `select`, `update`, `select`, `update`, ...;
    arms are numbered from 0 and ties go to the lowest number.

    >>> from affinity_bandits import AffinityBandit, simulate
    >>> from affinity_bandits.policies.state import counts
    >>> class LeastState(NamedTuple):
    ...     pulls: np.ndarray
    >>> @dataclass(frozen=True)
    ... class LeastPulled(StepPolicy):
    ...     name = "least-pulled"
    ...     def start(self, arms, horizon):
    ...         return LeastState(counts(arms))
    ...     @staticmethod
    ...     def select(state, rng):
    ...         best = 0
    ...         for arm in range(len(state.pulls)):
    ...             if state.pulls[arm] < state.pulls[best]:
    ...                 best = arm
    ...         return best
    ...     @staticmethod
    ...     def update(state, arm, feedback):
    ...         state.pulls[arm] += 1
    >>> bandit = AffinityBandit([0.4, 0.6])
    >>> simulate(bandit, LeastPulled(), 10, 1, engine="python").pulls[0, 0, -1].tolist()
    [5, 5]
    """

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        """Return the arm to pull next. Only policies marked `randomised` may draw from `rng`."""
        raise NotImplementedError

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        """Take in the feedback of the arm that `select` returned."""
        raise NotImplementedError

    def kernels(self) -> StepKernels:
        """Return the three kernels, with everything they need bound."""
        return StepKernels(self.select, self.update, self.candidate)
