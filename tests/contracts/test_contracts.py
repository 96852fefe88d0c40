"""Every built-in policy and bias keeps the contract that is offered to third parties."""

from __future__ import annotations

import pytest

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Constant,
    Custom,
    InGroupBonus,
    PiecewisePower,
    Plateau,
    Power,
    Root,
    Sigmoid,
    Step,
    policy_from_json,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.model.bias import BIASES, Bias
from affinity_bandits.policies import POLICIES, UCB1, Elimination, ListedSchedule, StepPolicy
from affinity_bandits.testing import check_bias, check_policy


def half_and_half(share: float) -> float:
    return 0.25 + 0.5 * share


BIAS_EXAMPLES: list[Bias] = [
    Constant(),
    Constant(0.3),
    Power(1.0),
    Power(2.0),
    Power(3.0),
    Power(2.5),
    Sigmoid(),
    InGroupBonus(0.0),
    InGroupBonus(0.3),
    InGroupBonus(1e9),
    Clipped(InGroupBonus(4.0), low=0.3, high=0.9),
    Plateau(8, 1.5),
    Plateau(2, 2.0),
    Clipped(Power(2.0), low=0.1, high=0.7),
    Clipped(Clipped(Power(1.0), low=0.3), high=0.2),
    PiecewisePower([0.4], [0.7]),
    PiecewisePower([0.01, 0.5], [0.1, 1.0]),
    PiecewisePower([1e-6, 0.2, 0.3, 0.30001, 1.0], [1e-9, 0.2, 0.2, 0.6, 0.9]),
    Clipped(PiecewisePower([0.01, 0.5], [0.1, 1.0]), low=0.2, high=0.8),
    Custom(half_and_half, 0.5, "half and half"),
    Root(0.3),
    Step(0.4, 0.2, 0.9),
]


@pytest.mark.parametrize("bias", BIAS_EXAMPLES, ids=str)
def test_bias_keeps_the_contract(bias: Bias) -> None:
    check_bias(bias)


def test_every_bias_is_checked() -> None:
    assert {type(bias) for bias in BIAS_EXAMPLES} == set(BIASES.values())


def policy_examples() -> list[AnyPolicy]:
    told = AffinityBandit([0.3, 0.5, 0.7], bias=Power(1.0), initial_pulls=[1, 2, 3])
    found: list[AnyPolicy] = [Elimination(ListedSchedule([(5, 0.3), (20, 0.1)]))]
    for name, cls in POLICIES.items():
        examples = cls.examples() or [policy_from_json(name, told)]
        found.extend(examples)  # type: ignore[arg-type]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("policy", policy_examples(), ids=str)
def test_policy_keeps_the_contract(policy: AnyPolicy) -> None:
    check_policy(policy)


@pytest.mark.parametrize("policy", policy_examples(), ids=str)
def test_policy_comes_back_from_its_description(policy: AnyPolicy) -> None:
    again = policy_from_json(policy.to_json())
    assert again == policy
    assert again.to_json() == policy.to_json()


@pytest.mark.parametrize("policy", policy_examples(), ids=str)
def test_no_policy_starts_without_arms_or_pulls(policy: AnyPolicy) -> None:
    for arms, horizon, parameter in (
        (0, 100, "arms must be a whole number from 1 to"),
        (-1, 100, "arms must be"),
        (3, 0, "horizon must be a whole number from 1 to"),
        (3, 10**16, "horizon must be"),
    ):
        with pytest.raises(InvalidInput, match=parameter):
            policy.start(arms, horizon)
    policy.start(3, 1)


class Forgetful(UCB1):
    """A policy that breaks its contract: what it does depends on something outside its state."""

    name = "forgetful"
    calls = 0

    def start(self, arms: int, horizon: int):  # type: ignore[no-untyped-def]
        Forgetful.calls += 1
        return UCB1(exploration=float(Forgetful.calls)).start(arms, horizon)


def test_the_contract_can_be_broken() -> None:
    """Power of the suite: a policy whose runs differ is caught."""
    policy: StepPolicy = Forgetful()
    with pytest.raises(Exception, match=r"forgetful|saved state"):
        check_policy(policy)
