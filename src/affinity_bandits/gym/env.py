"""The bandit as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Power
from affinity_bandits.simulation import Environment

Observation = npt.NDArray[np.float32]
HORIZON = 1000
LARGEST_SEED = 2**63 - 1
"""The largest seed that is drawn if none is given."""


class Episode:
    """A replicate: pulls, feedback and the observation that follows from both."""

    def __init__(self, bandit: AffinityBandit, horizon: int, seed: int, replicate: int) -> None:
        self._environment = Environment(bandit, seed, replicate)
        self._bandit = bandit
        self._horizon = horizon
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
        return int(self._environment.committee.clock[0]) >= self._horizon

    def observed(self) -> Observation:
        """Return the observation, computed from the agent's own pulls and their feedback."""
        pulls = self._environment.committee.pulls
        made = int(pulls.sum())
        means = self._sums / np.maximum(pulls, 1)
        parts = ([made / self._horizon], pulls / max(1, made), means)
        return np.concatenate(parts).astype(np.float32)

    def truth(self) -> dict[str, Any]:
        """Return the facts hidden from agents, for evaluation."""
        pulls = self._environment.committee.pulls
        return {
            "true_means": np.array(self._bandit.true_means),
            "best_arms": np.array(self._bandit.best_arms),
            "shares": self._environment.shares(),
            "regret": float(self._bandit.regret(pulls)),
        }


def bounds(bandit: AffinityBandit) -> tuple[Observation, Observation]:
    """Return the bounds of observations: part of the horizon, shares of pulls, mean feedback.

    They are the same for all true means. If feedback can leave [0, 1], its bounds are infinite.
    """
    arms = bandit.arms
    has_range = bandit.noise.highest - bandit.noise.lowest < np.inf
    kept = has_range and bandit.mechanism != "shifted" and bandit.bias.bounds[1] <= 1.0
    low, high = (0.0, 1.0) if kept else (-np.inf, np.inf)
    lowest = np.concatenate([np.zeros(1 + arms), np.full(arms, low)])
    highest = np.concatenate([np.ones(1 + arms), np.full(arms, high)])
    return lowest.astype(np.float32), highest.astype(np.float32)


class AffinityEnv(gymnasium.Env):  # type: ignore[misc]
    """An affinity bandit as an environment, one episode per replicate.

    An action is an arm, the reward its biased and noisy feedback. An observation has the elapsed
    part of the horizon, each arm's share of the pulls, and each arm's mean feedback, 0 before the
    first. At the horizon the episode is truncated.

    `reset(seed=s)` begins replicate 0 of seed s, with the noise of `simulate(..., seed=s)`. Later
    calls of `reset()` begin the next replicates, `options={"replicate": r}` replicate r.

    Args:
        bandit: the instance, or its `to_json`; by default, a worse arm leads at the start.
        horizon: pulls per episode.
        truth: whether `info["truth"]` has true means, shares and regret, for evaluation.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        bandit: AffinityBandit | Mapping[str, Any] | None = None,
        horizon: int = HORIZON,
        truth: bool = False,
    ) -> None:
        if bandit is None:
            bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
        if isinstance(bandit, Mapping):
            bandit = AffinityBandit.from_json(bandit)
        if not isinstance(bandit, AffinityBandit):
            raise InvalidInput("bandit", "an AffinityBandit, or its to_json", bandit)
        self._bandit = bandit
        self._horizon = checks.integer("horizon", horizon, low=1)
        self._truth = checks.flag("truth", truth)
        self._seed: int | None = None
        self._next = 0
        low, high = bounds(bandit)
        self.action_space = gymnasium.spaces.Discrete(bandit.arms)
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self._episode: Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._next = checks.integer("seed", seed, low=0, high=2**128 - 1), 0
        if self._seed is None:
            self._seed = int(self.np_random.integers(LARGEST_SEED))
        given = dict(options or {})
        checks.known_keys("option", given, ("replicate",))
        number = checks.integer("replicate", given.get("replicate", self._next), low=0, high=2**62)
        self._next = number + 1
        self._episode = Episode(self._bandit, self._horizon, self._seed, number)
        return self._episode.observed(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("reset the environment before its first step")
        reward, over = self._episode.pull(action)
        return self._episode.observed(), reward, False, over, self._info()

    def _info(self) -> dict[str, Any]:
        return {"truth": self._episode.truth()} if self._truth and self._episode else {}
