"""Policies of other packages meet the bias; tested where the package is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Environment, InPython, Power, simulate
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import Cell
from affinity_bandits.model.streams import policy_generator
from affinity_bandits.policies.adapters import from_pymab, from_river

BANDIT = AffinityBandit([0.4, 0.6, 0.5], bias=Power(1.0), initial_pulls=[20, 5, 5])
HORIZON, SEED = 400, 3
By_hand = Callable[[np.random.Generator], tuple[Callable[[], int], Callable[[int, float], Any]]]


def assert_as_by_hand(policy: InPython, by_hand: By_hand) -> None:
    """The pulls that whoever knows the package alone would get, on the same feedback."""
    result = simulate(BANDIT, policy, HORIZON, replicates=2, seed=SEED, checkpoints=[100])
    assert result.runs[0].engine == "python"
    for replicate in range(2):
        select, update = by_hand(policy_generator(SEED, policy.to_json(), replicate))
        environment = Environment(BANDIT, SEED, replicate)
        for _ in range(HORIZON):
            arm = select()
            update(arm, environment.pull(arm))
        expected = environment.committee.pulls.tolist()
        assert result.pulls[0, replicate, -1].tolist() == expected
    spread = result.pulls[0, :, -1].tolist()
    assert all(pulls > 0 for pulls in spread[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UCB", "EpsilonGreedy", "Exp3", "ThompsonSampling"])
def test_river(name: str) -> None:
    package = pytest.importorskip("river.bandit")
    settings = {"UCB": {"delta": 1}, "EpsilonGreedy": {"epsilon": 0.1}, "Exp3": {"gamma": 0.2}}
    more = settings.get(name, {})
    if name == "ThompsonSampling":
        more = {"reward_obj": pytest.importorskip("river.proba").Beta()}
    policy = getattr(package, name)

    def by_hand(rng: np.random.Generator) -> Any:
        made = policy(**more, seed=int(rng.integers(2**31)))
        return lambda: made.pull([0, 1, 2]), made.update

    assert_as_by_hand(from_river(policy(**more)), by_hand)


def test_policies_of_other_settings_have_other_descriptions() -> None:
    """Descriptions are what cells of an experiment are told apart by."""
    package = pytest.importorskip("river.bandit")
    one, same, other = (from_river(package.UCB(delta=delta)) for delta in (1, 1, 5))
    assert one.to_json() == same.to_json() != other.to_json()
    assert hash(one) == hash(same)
    cells = [Cell(BANDIT, policy, 10).identity for policy in (one, same, other)]
    assert cells[0] == cells[1] != cells[2]


@pytest.mark.parametrize("name", ["UCBPolicy", "EpsilonGreedyPolicy", "KLUCBPolicy"])
def test_pymab(name: str) -> None:
    package = pytest.importorskip("pymab.policies")
    policy = getattr(package, name)

    def by_hand(rng: np.random.Generator) -> Any:
        made = policy(n_arms=3)
        return (
            lambda: made.select_action(rng=rng),
            lambda arm, feedback: made.update(action=arm, reward=feedback),
        )

    assert_as_by_hand(from_pymab(policy), by_hand)


@pytest.mark.parametrize("adapt", [from_pymab, from_river])
@pytest.mark.parametrize("wrong", ["ucb", int, None])
def test_what_is_of_no_such_package_is_refused(adapt: Callable[..., Any], wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="policy must be a"):
        adapt(wrong)
