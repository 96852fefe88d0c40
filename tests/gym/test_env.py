"""The bandit as a Gymnasium environment: its rules kept, our streams, and no truth that leaks."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium (extra gym) is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from affinity_bandits import (  # noqa: E402
    AffinityBandit,
    Constant,
    Gaussian,
    InPython,
    Power,
    simulate,
)
from affinity_bandits.base.errors import InvalidInput  # noqa: E402
from affinity_bandits.gym import ID, AffinityEnv  # noqa: E402

BANDIT = AffinityBandit([0.4, 0.6, 0.5], bias=Power(1.0), initial_pulls=[20, 5, 5])
HORIZON = 60


@pytest.mark.parametrize("noise", ["bernoulli", "gaussian"])
@pytest.mark.parametrize("truth", [False, True])
def test_gymnasium_finds_no_fault(noise: str, truth: bool) -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), noise=noise)
    if noise == "gaussian":  # feedback without bounds, at which Gymnasium raises an eyebrow
        warnings.filterwarnings("ignore", message=".*infinity. This is probably too")
    check_env(AffinityEnv(bandit, 20, truth=truth), skip_render_check=True)
    check_env(gymnasium.make(ID, bandit=bandit.to_json(), horizon=20).unwrapped)


class InTurn:
    def __init__(self, arms: int) -> None:
        self.arms, self.made, self.seen = arms, 0, [0.0] * arms

    def select(self) -> int:
        if self.made < 20:
            return self.made % self.arms
        return max(range(self.arms), key=lambda arm: (self.seen[arm], -arm))

    def update(self, arm: int, feedback: float) -> None:
        self.made += 1
        self.seen[arm] += feedback


def played(env: Any, **reset: Any) -> tuple[list[float], list[int]]:
    agent, rewards, pulls = InTurn(3), [], [0, 0, 0]
    env.reset(**reset)
    over = False
    while not over:
        arm = agent.select()
        _, reward, _, over, _ = env.step(arm)
        agent.update(arm, reward)
        rewards.append(reward)
        pulls[arm] += 1
    return rewards, pulls


def test_it_is_the_noise_of_simulate_replicate_by_replicate() -> None:
    result = simulate(BANDIT, InPython(InTurn), HORIZON, replicates=3, seed=7)
    env = AffinityEnv(BANDIT, HORIZON)
    found = [played(env, seed=7)[1], played(env)[1], played(env)[1]]
    assert found == result.pulls[0, :, -1].tolist()
    assert played(env, seed=7, options={"replicate": 2})[1] == found[2]


def test_gymnasium_runs_several_beside_each_other() -> None:
    """Each with the replicates of a seed of its own."""
    vector = gymnasium.make_vec(ID, num_envs=3, bandit=BANDIT, horizon=HORIZON)
    observed, _ = vector.reset(seed=7)
    singles = [AffinityEnv(BANDIT, HORIZON) for _ in range(3)]
    for i, env in enumerate(singles):
        np.testing.assert_array_equal(observed[i], env.reset(seed=7 + i)[0])
    for pull in range(HORIZON):
        actions = [(pull + i) % 3 for i in range(3)]
        observed, rewards, ended, cut, _ = vector.step(np.array(actions))
        for i, env in enumerate(singles):
            one = env.step(actions[i])
            np.testing.assert_array_equal(observed[i], one[0])
            assert (rewards[i], ended[i], cut[i]) == one[1:4]


def everything(env: Any, actions: list[int]) -> bytes:
    """All that an environment returns for some actions, and what it says of itself."""
    parts: list[Any] = [str(env.observation_space), str(env.action_space), env.reset(seed=3)]
    parts += [env.step(action) for action in actions]
    return pickle.dumps(parts)


def test_nothing_leaks_the_truth() -> None:
    """Two bandits with the same feedback and other truths cannot be told apart.

    Gaussian values without noise, means halved and weights doubled: mu W is the same to the bit,
    and means, gaps and regret are not. The flag is the control: with it, they can.
    """
    same = AffinityBandit([0.5, 0.5], bias=Constant(0.5), noise=Gaussian(0.0), mechanism="scaled")
    other = AffinityBandit([0.25, 0.25], bias=Constant(1.0), noise=Gaussian(0.0))
    actions = [0, 1, 0, 0, 1, 1, 0]
    settings: dict[str, Any] = {"horizon": 9}
    a, b = (everything(AffinityEnv(bandit=x, **settings), actions) for x in (same, other))
    assert a == b
    settings["truth"] = True
    a, b = (everything(AffinityEnv(bandit=x, **settings), actions) for x in (same, other))
    assert a != b
    assert AffinityEnv(BANDIT, 9).reset(seed=1)[1] == {}
    assert set(AffinityEnv(BANDIT, 9, truth=True).reset(seed=1)[1]) == {"truth"}


def test_mistakes_are_said_in_words() -> None:
    env = AffinityEnv(BANDIT, 2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match="action must be a whole number from 0 to 2"):
        env.step(3)
    env.step(0)
    env.step(0)
    with pytest.raises(InvalidInput, match="reset begins anew"):
        env.step(0)
    with pytest.raises(InvalidInput, match="option must be one of replicate"):
        env.reset(options={"seed": 1})
    for wrong in ({"horizon": 0}, {"bandit": "power"}, {"truth": 1}):
        with pytest.raises(InvalidInput):
            AffinityEnv(**wrong)  # type: ignore[arg-type]
