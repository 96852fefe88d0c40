"""The bandit as Gymnasium environments, single and vectorized."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
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


class Replicates:
    """The settings of an environment, and its replicates in order."""

    def __init__(self, bandit: object, horizon: object, truth: object) -> None:
        if bandit is None:
            bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
        if isinstance(bandit, Mapping):
            bandit = AffinityBandit.from_json(bandit)
        if not isinstance(bandit, AffinityBandit):
            raise InvalidInput("bandit", "an AffinityBandit, or its to_json", bandit)
        self.bandit = bandit
        self.horizon = checks.integer("horizon", horizon, low=1)
        self.truth = checks.flag("truth", truth)
        self._seed: int | None = None
        self._next = 0

    def begin(
        self, env: Any, seed: int | None, options: Mapping[str, Any] | None, count: int
    ) -> list[Episode]:
        """Return the next episodes, or those that a reset asks for."""
        if seed is not None:
            self._seed, self._next = checks.integer("seed", seed, low=0, high=2**128 - 1), 0
        if self._seed is None:
            self._seed = int(env.np_random.integers(LARGEST_SEED))
        given = dict(options or {})
        checks.known_keys("option", given, ("replicate",))
        first = checks.integer("replicate", given.get("replicate", self._next), low=0, high=2**62)
        self._next = first + count
        numbers = range(first, first + count)
        return [Episode(self.bandit, self.horizon, self._seed, number) for number in numbers]


class AffinityEnv(gymnasium.Env):  # type: ignore[misc]
    """An affinity bandit as an environment, one episode per replicate.

    An action is an arm, the reward its biased and noisy feedback. An observation has the elapsed
    part of the horizon, each arm's share of the pulls, and each arm's mean feedback, 0 before the
    first. At the horizon the episode is truncated.

    `reset(seed=s)` begins replicate 0 of seed s, with the noise of `simulate(..., seed=s)`. Later
    calls of `reset()` begin the next replicates, `options={"replicate": r}` replicate r.

    Args:
        bandit: the instance, or its `to_json`; by default, a worse arm has a head start.
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
        self._replicates = Replicates(bandit, horizon, truth)
        low, high = bounds(self._replicates.bandit)
        self.action_space = gymnasium.spaces.Discrete(self._replicates.bandit.arms)
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self._episode: Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        (self._episode,) = self._replicates.begin(self, seed, options, 1)
        return self._episode.observed(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("reset the environment before its first step")
        reward, over = self._episode.pull(action)
        return self._episode.observed(), reward, False, over, self._info()

    def _info(self) -> dict[str, Any]:
        return {"truth": self._episode.truth()} if self._replicates.truth and self._episode else {}


Step = tuple[Observation, npt.NDArray[np.float64], Any, Any, dict[str, Any]]


class AffinityVectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc]
    """Replicates r, r + 1, ... of an affinity bandit, in step with each other.

    `reset(seed=s)` begins replicates 0 to `num_envs` - 1 of seed s, as `AffinityEnv` does. All end
    at the same pull; the next step begins the next replicates and pulls nothing (Gymnasium's
    autoreset at the next step).

    Args:
        num_envs: the number of replicates.
        bandit: see `AffinityEnv`.
        horizon: pulls per episode.
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
        self._replicates = Replicates(bandit, horizon, truth)
        self.num_envs = checks.integer("num_envs", num_envs, low=1, high=10**6)
        low, high = bounds(self._replicates.bandit)
        self.single_action_space = gymnasium.spaces.Discrete(self._replicates.bandit.arms)
        self.single_observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, self.num_envs)
        self.observation_space = batch(self.single_observation_space, self.num_envs)
        self._episodes: list[Episode] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._episodes = self._replicates.begin(self, seed, options, self.num_envs)
        return self._observed(), self._info()

    def step(self, actions: Any) -> Step:
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
        return {"truth": [one.truth() for one in self._episodes]} if self._replicates.truth else {}
