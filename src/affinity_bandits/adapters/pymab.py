"""Policies of pymab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from affinity_bandits.adapters.peer import adapted, require_class
from affinity_bandits.policies import InPython


def from_pymab(policy: type, *, label: str = "", **settings: Any) -> InPython:
    """Return a policy of pymab as one of this package's.

    Args:
        policy: its class, such as `pymab.policies.UCBPolicy`; there are no contexts.
        label: how results call it; the class's name if left out.
        settings: what it takes besides the number of arms.
    """
    require_class("pymab", policy, ("select_action", "update"))
    return adapted(Agent, policy, settings, label)


class Agent:
    """One of pymab's policies in a replicate."""

    def __init__(
        self,
        policy: type,
        settings: Mapping[str, Any],
        arms: int,
        horizon: int,
        rng: np.random.Generator,
    ) -> None:
        self._policy: Any = policy(n_arms=arms, **settings)
        self._rng = rng

    def select(self) -> int:
        """Return the arm to pull next."""
        return int(self._policy.select_action(rng=self._rng))

    def update(self, arm: int, feedback: float) -> None:
        """Learn from the feedback of an arm."""
        self._policy.update(action=arm, reward=feedback)
