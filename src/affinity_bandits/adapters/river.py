"""Policies of river."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from affinity_bandits.adapters.peer import adapted
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import InPython


def from_river(policy: Any, *, label: str = "") -> InPython:
    """Return a bandit policy of river as one of this package's.

    Args:
        policy: such as `river.bandit.UCB(delta=1)`. Every replicate begins with a clone of it,
            whose seed, if it has one, comes from the policy's own stream.
        label: how results call it; the class's name if left out.
    """
    methods = ("pull", "update", "clone")
    if isinstance(policy, type) or not all(hasattr(policy, name) for name in methods):
        raise InvalidInput("policy", "a bandit policy of river, such as bandit.UCB(1)", policy)
    # Without a seed it would hold random numbers, and be another cell of an experiment every time.
    return adapted(Agent, _seeded(policy, 0), {}, label)


class Agent:
    """One of river's policies in a replicate."""

    def __init__(
        self,
        policy: Any,
        settings: Mapping[str, Any],
        arms: int,
        horizon: int,
        rng: np.random.Generator,
    ) -> None:
        self._policy = _seeded(policy, int(rng.integers(2**31)))
        self._arms = list(range(arms))
        self.update = self._policy.update

    def select(self) -> int:
        """Return the arm to pull next."""
        return int(self._policy.pull(self._arms))


def _seeded(policy: Any, seed: int) -> Any:
    return policy.clone({"seed": seed} if hasattr(policy, "seed") else {})
