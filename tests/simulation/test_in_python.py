"""Policies that cannot be compiled run in plain Python, on the streams of all others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from affinity_bandits import (
    UCB1,
    AffinityBandit,
    Beta,
    Clipped,
    Custom,
    Gaussian,
    InPython,
    Live,
    Ordinal,
    Power,
    StepPolicy,
    StepRun,
    simulate,
    simulate_log,
)
from affinity_bandits.base.errors import AffinityError, InvalidInput, NotSupported
from affinity_bandits.policies import POLICIES
from tests.support.instances import policy_examples


def flat(share: float) -> float:
    return 0.5 + 0.5 * share


MEANS, INITIAL = [0.35, 0.6, 0.5], [40, 10, 25]
BANDITS = {
    "bernoulli": AffinityBandit(MEANS, bias=Power(1.0), initial_pulls=INITIAL),
    "gated gaussian": AffinityBandit(
        MEANS, Clipped(Power(1.5), low=0.05), INITIAL, Gaussian(0.5), "gated"
    ),
    "memory": AffinityBandit(MEANS, bias=Power(2.0), initial_pulls=INITIAL, memory=50),
    "stars": AffinityBandit(MEANS, bias="in-group-bonus", noise=Ordinal()),
    "beta": AffinityBandit(MEANS, bias=Custom(flat, 0.5), noise=Beta(4.0)),
    "panel": AffinityBandit(
        MEANS, bias="power", joining=0.5, judges={"who": "panel", "seats": 6}, initial_pulls=INITIAL
    ),
}


class UCBOfArrays:
    """UCB1 by numpy's arrays, as a user would write it."""

    def __init__(self, arms: int, exploration: float = 2.0) -> None:
        self.sums, self.pulls = np.zeros(arms), np.zeros(arms)
        self.exploration = exploration

    def choose(self) -> Any:
        if self.pulls.min() == 0:
            return self.pulls.argmin()
        clock = math.log(self.pulls.sum() + 1)
        # In the order of UCB1's own operations, or the last bit would differ now and then.
        width = math.sqrt(self.exploration * clock) * (1.0 / np.sqrt(self.pulls))
        return np.argmax(self.sums / self.pulls + width)

    def update(self, arm: int, feedback: float) -> None:
        self.pulls[arm] += 1
        self.sums[arm] += feedback


@pytest.mark.slow
@pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)
def test_who_computes_the_same_as_a_built_in_makes_the_same_pulls(bandit: AffinityBandit) -> None:
    policies = {"compiled": UCB1(), "own": InPython(UCBOfArrays)}
    result = simulate(bandit, policies, 3000, replicates=3, seed=4)
    assert [run.engine for run in result.runs] == ["steps", "python"]
    np.testing.assert_array_equal(result["own"].pulls, result["compiled"].pulls)


@pytest.mark.nightly_but("head-start", "exp3-ix", "ucb1", "thompson-beta")
@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_makes_the_same_pulls_uncompiled(name: str) -> None:
    """Randomized ones too: `engine="python"` reads the same streams."""
    bandit = BANDITS["gated gaussian"]
    policy = policy_examples(name, bandit)[0]
    compiled = simulate(bandit, policy, 1100, replicates=2, seed=1, engine="steps")
    plain = simulate(bandit, policy, 1100, replicates=2, seed=1, engine="python")
    np.testing.assert_array_equal(plain.pulls, compiled.pulls)
    np.testing.assert_array_equal(plain.candidates, compiled.candidates)


class Halves:
    """Drops the first arm after ten pulls, and draws from its stream."""

    eliminates = True

    def __init__(self, arms: int, horizon: int, rng: np.random.Generator) -> None:
        self.arms, self.horizon, self.rng, self.made = arms, horizon, rng, 0

    def select(self) -> int:
        return 1 + int(self.rng.integers(self.arms - 1)) if self.made > 10 else self.made % 3

    def update(self, arm: int, feedback: float) -> None:
        self.made += 1

    def candidates(self) -> list[int]:
        return [1, 2] if self.made > 10 else [0, 1, 2]


def test_it_draws_from_a_stream_of_its_own_and_says_who_is_left() -> None:
    bandit = BANDITS["bernoulli"]
    together = simulate(bandit, ["uniform", InPython(Halves)], 200, replicates=3)
    alone = simulate(bandit, InPython(Halves), 200, replicates=1, first_replicate=2)
    np.testing.assert_array_equal(together["Halves"].pulls[:, 2:], alone.pulls)
    assert alone.candidates.tolist() == [[[0, 1, 1]]]
    assert together.wrong_arm[1].tolist() == [False] * 3
    assert len({tuple(pulls) for pulls in together["Halves"].pulls[0, :, -1].tolist()}) > 1


@dataclass(frozen=True)
class OfArrays(StepPolicy):
    """A step policy whose kernels no compiler takes, which says so."""

    name: ClassVar[str] = "of-arrays"
    in_python: ClassVar[bool] = True

    def start(self, arms: int, horizon: int) -> Any:
        return {"sums": np.zeros((arms, 1)), "pulls": [0] * arms}

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        return int(np.argmin(state["pulls"]))

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        state["pulls"][arm] += 1


def test_a_step_policy_can_say_that_it_runs_in_python() -> None:
    result = simulate(BANDITS["bernoulli"], [OfArrays(), "uniform"], 99, replicates=2)
    assert [run.engine for run in result.runs] == ["python", "rounds"]
    np.testing.assert_array_equal(result.pulls[0, :, -1], [[33, 33, 33]] * 2)


def test_where_it_cannot_go_it_is_refused_by_name() -> None:
    bandit, policy = BANDITS["bernoulli"], InPython(UCBOfArrays, label="mine")
    with pytest.raises(NotSupported, match="engine 'rounds' cannot run mine: it runs in plain"):
        simulate(bandit, policy, 10, engine="rounds")
    with pytest.raises(NotSupported, match="mine runs in plain Python only"):
        StepRun(bandit, policy, 10)
    with pytest.raises(NotSupported, match="mine runs in plain Python only"):
        simulate_log(bandit, policy, 10)
    with pytest.raises(NotSupported, match="mine runs in plain Python: its state cannot be saved"):
        Live(policy, 3, 10).to_json()


class Wrong:
    def __init__(self, answer: Any = 0, late: bool = False) -> None:
        self.answer, self.late = answer, late

    def select(self) -> Any:
        return self.answer

    def update(self, arm: int, feedback: float) -> None:
        if self.late:
            raise ValueError("a late one")


class NoUpdate:
    def select(self) -> int:
        return 0


class TakesTime(Wrong):
    def select(self, time: int) -> int:  # type: ignore[override]
        return time


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: InPython(Wrong, {"answer": 3}), "chose an arm outside 0 to 2"),
        (lambda: InPython(Wrong, {"answer": -1}), "chose an arm outside 0 to 2"),
        (lambda: InPython(Wrong, {"answer": 0.5}), "TypeError: 'float' object cannot be"),
        (lambda: InPython(Wrong, {"late": True}), r"ValueError: a late one \(test_in_python.py"),
        (lambda: InPython(Wrong, {"late": True}), "at pull 1 of replicate 0"),
        (lambda: InPython(Wrong, {"arms": 1}), "of other names than arms, horizon, rng"),
        (lambda: InPython(Wrong, {"slow": 1}), r"names that Wrong takes \(answer, late\)"),
        (lambda: InPython(Wrong, {"answer": object()}), "plain JSON"),
        (lambda: InPython(Wrong()), "every replicate begins with one"),  # type: ignore[arg-type]
        (lambda: InPython(NoUpdate), r"select\(\) and update\(arm, feedback\)"),
        (lambda: InPython(lambda: 7), r"objects with select\(\)"),
        (lambda: InPython(TakesTime), "whose select takes no arguments"),
        (lambda: InPython(lambda: 1 / 0), "ZeroDivisionError: division by zero"),
    ],
)
def test_mistakes_are_said_in_words(make: Any, says: str) -> None:
    with pytest.raises(AffinityError, match=says):
        simulate(BANDITS["bernoulli"], make(), 10, replicates=1)


def test_a_mistake_in_start_is_said_before_anything_runs() -> None:
    class Broken(OfArrays):
        name = "broken"

        def start(self, arms: int, horizon: int) -> Any:
            return [][arms]

    with pytest.raises(InvalidInput, match=r"start .*IndexError"):
        simulate(BANDITS["bernoulli"], Broken(), 10)
