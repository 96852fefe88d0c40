"""The bandit as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.gym.episode import (
    HORIZON,
    LARGEST_SEED,
    Episode,
    Observation,
    bounds,
    first_replicate,
    understood,
)


class AffinityEnv(gymnasium.Env):  # type: ignore[misc]
    """An affinity bandit to be played by an agent, an episode a replicate.

    An action is an arm, the reward its feedback, biased and noisy. An observation is what the agent
    has seen: the part of the horizon that is over, each arm's share of its pulls, and each arm's
    mean feedback, 0 before the first. At the horizon the episode is truncated.

    `reset(seed=s)` begins replicate 0 of seed s, on the noise that `simulate(..., seed=s)` has
    there; every later `reset()` begins the next, `options={"replicate": r}` that one.

    Args:
        bandit: the instance, or its `to_json`; a worse arm with a head start if left out.
        horizon: pulls of an episode.
        truth: whether `info["truth"]` has true means, shares and regret, for evaluation. Without
            it nothing that the environment returns depends on them but through feedback.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        bandit: AffinityBandit | Mapping[str, Any] | None = None,
        horizon: int = HORIZON,
        truth: bool = False,
    ) -> None:
        self._bandit, self._horizon, self._truth = understood(bandit, horizon, truth)
        low, high = bounds(self._bandit)
        self.action_space = gymnasium.spaces.Discrete(self._bandit.arms)
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self._seed: int | None = None
        self._next = 0
        self._episode: Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a replicate."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._next = int(seed), 0
        if self._seed is None:
            self._seed = int(self.np_random.integers(LARGEST_SEED))
        replicate = first_replicate(options, self._next)
        self._episode = Episode(self._bandit, self._horizon, self._seed, replicate)
        self._next = replicate + 1
        return self._episode.observed(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pull an arm."""
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("reset the environment before its first step")
        reward, over = self._episode.pull(action)
        return self._episode.observed(), reward, False, over, self._info()

    def _info(self) -> dict[str, Any]:
        return {"truth": self._episode.truth()} if self._truth and self._episode else {}
