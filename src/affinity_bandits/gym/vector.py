"""Several replicates of the bandit at once, as a vectorised Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
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

Step = tuple[Observation, npt.NDArray[np.float64], Any, Any, dict[str, Any]]


class AffinityVectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc]
    """Replicates r, r + 1, ... of an affinity bandit, in step with each other.

    `reset(seed=s)` begins replicates 0 to `num_envs` - 1 of seed s, each what `AffinityEnv` has
    there. All end at the same pull; the step after that begins the next replicates and pulls
    nothing (Gymnasium's autoreset at the next step).

    Args:
        num_envs: how many.
        bandit: as of `AffinityEnv`.
        horizon: pulls of an episode.
        truth: whether `info["truth"]` has a list with the truth of each; see `AffinityEnv`.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": [],
        "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        bandit: AffinityBandit | Mapping[str, Any] | None = None,
        horizon: int = HORIZON,
        truth: bool = False,
    ) -> None:
        super().__init__()
        self._bandit, self._horizon, self._truth = understood(bandit, horizon, truth)
        self.num_envs = checks.integer("num_envs", num_envs, low=1, high=10**6)
        low, high = bounds(self._bandit)
        self.single_action_space = gymnasium.spaces.Discrete(self._bandit.arms)
        self.single_observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, self.num_envs)
        self.observation_space = batch(self.single_observation_space, self.num_envs)
        self._seed: int | None = None
        self._next = 0
        self._episodes: list[Episode] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin replicates."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._next = checks.integer("seed", seed, low=0, high=2**128 - 1), 0
        if self._seed is None:
            self._seed = int(self.np_random.integers(LARGEST_SEED))
        first = first_replicate(options, self._next)
        numbers = range(first, first + self.num_envs)
        self._episodes = [Episode(self._bandit, self._horizon, self._seed, r) for r in numbers]
        self._next = first + self.num_envs
        return self._observed(), self._info()

    def step(self, actions: Any) -> Step:
        """Pull an arm of each replicate."""
        if not self._episodes:
            raise gymnasium.error.ResetNeeded("reset the environment before its first step")
        over = np.zeros(self.num_envs, dtype=np.bool_)
        rewards = np.zeros(self.num_envs)
        if self._episodes[0].over:
            observed, info = self.reset()
            return observed, rewards, over, over.copy(), info
        chosen = checks.sequence("actions", actions, f"a list of {self.num_envs} arms")
        for i, (episode, action) in enumerate(zip(self._episodes, chosen, strict=True)):
            rewards[i], over[i] = episode.pull(action)
        return self._observed(), rewards, np.zeros_like(over), over, self._info()

    def _observed(self) -> Observation:
        return np.stack([episode.observed() for episode in self._episodes])

    def _info(self) -> dict[str, Any]:
        return {"truth": [one.truth() for one in self._episodes]} if self._truth else {}
