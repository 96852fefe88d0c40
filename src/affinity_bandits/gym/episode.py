"""One episode: a replicate of the bandit, and what an agent can know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Power
from affinity_bandits.errors import InvalidInput
from affinity_bandits.simulation import Environment

Observation = npt.NDArray[np.float32]
HORIZON = 1000
LARGEST_SEED = 2**63 - 1
"""Of those that are drawn where none was given."""


class Episode:
    """A replicate in play: pulls, feedback, and the observation that follows from both."""

    def __init__(self, bandit: AffinityBandit, horizon: int, seed: int, replicate: int) -> None:
        self._environment = Environment(bandit, seed, replicate)
        self._bandit = bandit
        self._horizon = horizon
        self.seed = seed
        self.replicate = replicate
        self._sums = np.zeros(bandit.arms)

    def pull(self, action: object) -> tuple[float, bool]:
        """Pull an arm; return its feedback, and whether that was the last pull."""
        arm = checks.integer("action", action, low=0, high=self._bandit.arms - 1)
        if self.over:
            raise InvalidInput("action", "made before the horizon; reset begins anew", action)
        seen = self._environment.pull(arm)
        self._sums[arm] += seen
        return seen, self.over

    @property
    def over(self) -> bool:
        """Whether the horizon is reached."""
        return int(self._environment.committee.clock[0]) >= self._horizon

    def observed(self) -> Observation:
        """Return what an agent has seen, made of its own pulls and their feedback alone."""
        pulls = self._environment.committee.pulls
        made = int(pulls.sum())
        means = self._sums / np.maximum(pulls, 1)
        parts = ([made / self._horizon], pulls / max(1, made), means)
        return np.concatenate(parts).astype(np.float32)

    def truth(self) -> dict[str, Any]:
        """Return what no agent may see: for evaluation only."""
        pulls = self._environment.committee.pulls
        return {
            "true_means": np.array(self._bandit.true_means),
            "best_arms": np.array(self._bandit.best_arms),
            "shares": self._environment.shares(),
            "regret": float(self._bandit.regret(pulls)),
        }


def bounds(bandit: AffinityBandit) -> tuple[Observation, Observation]:
    """Return the ends of observations: the part of the horizon, shares of pulls, mean feedback.

    They do not depend on true means: where feedback need not lie in [0, 1], they are infinite.
    """
    arms = bandit.arms
    has_range = bandit.noise.highest - bandit.noise.lowest < np.inf
    kept = has_range and bandit.mechanism != "shifted" and bandit.bias.bounds[1] <= 1.0
    low, high = (0.0, 1.0) if kept else (-np.inf, np.inf)
    lowest = np.concatenate([np.zeros(1 + arms), np.full(arms, low)])
    highest = np.concatenate([np.ones(1 + arms), np.full(arms, high)])
    return lowest.astype(np.float32), highest.astype(np.float32)


def understood(bandit: object, horizon: object, truth: object) -> tuple[AffinityBandit, int, bool]:
    """Return the settings of an environment, checked."""
    if bandit is None:
        bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    if isinstance(bandit, Mapping):
        bandit = AffinityBandit.from_json(bandit)
    if not isinstance(bandit, AffinityBandit):
        raise InvalidInput("bandit", "an AffinityBandit, or its to_json", bandit)
    return bandit, checks.integer("horizon", horizon, low=1), checks.flag("truth", truth)


def first_replicate(options: Mapping[str, Any] | None, otherwise: int) -> int:
    """Return the replicate that `options` of a reset ask for."""
    given = dict(options or {})
    checks.known_keys("option", given, ("replicate",))
    return checks.integer("replicate", given.get("replicate", otherwise), low=0, high=2**62)
