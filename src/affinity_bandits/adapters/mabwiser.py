"""Policies of MABWiser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from affinity_bandits.adapters.peer import adapted
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import InPython


def from_mabwiser(learning_policy: Any, *, label: str = "") -> InPython:
    """Return a learning policy of MABWiser as a policy of this package's.

    MABWiser cannot choose before it has seen something, so every arm is pulled once first.

    Args:
        learning_policy: such as `LearningPolicy.EpsilonGreedy(0.1)`; there are no contexts.
        label: how results call it; the class's name if left out.
    """
    if isinstance(learning_policy, type) or not hasattr(learning_policy, "_fields"):
        rule = "a learning policy of MABWiser, such as LearningPolicy.UCB1(1.0)"
        raise InvalidInput("learning_policy", rule, learning_policy)
    return adapted(Agent, learning_policy, {}, label)


class Agent:
    """One of MABWiser's policies in a replicate."""

    def __init__(
        self,
        policy: Any,
        settings: Mapping[str, Any],
        arms: int,
        horizon: int,
        rng: np.random.Generator,
    ) -> None:
        from mabwiser.mab import MAB

        self._arms = arms
        self._first: list[float] = []
        self._mab = MAB(list(range(arms)), policy, seed=int(rng.integers(2**31)))

    def select(self) -> int:
        """Return the arm to pull next."""
        seen = len(self._first)
        return seen if seen < self._arms else int(self._mab.predict())

    def update(self, arm: int, feedback: float) -> None:
        """Learn from the feedback of an arm."""
        if len(self._first) == self._arms:
            self._mab.partial_fit([arm], [feedback])
            return
        self._first.append(feedback)
        if len(self._first) == self._arms:
            self._mab.fit(list(range(self._arms)), self._first)
