"""Policies by name: one's own beside ours, and what a policy is told of the bandit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest.mock import patch

import pytest

from affinity_bandits import AffinityBandit, Power, policy_from_json, simulate
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import POLICIES, UCB1, Oracle, StepPolicy, register
from tests.support.own_policies import DropLowest

BANDIT = AffinityBandit([0.2, 0.9, 0.4], bias=Power(1.0), initial_pulls=[3, 1, 2])


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    with patch.dict(POLICIES):
        yield


@dataclass(frozen=True)
class Informed(Oracle):
    """Told all there is, under names of its own."""

    name: ClassVar[str] = "informed"
    told: ClassVar[Mapping[str, str]] = {"arm": "best arm", "past": "initial pulls", "f": "bias"}
    past: Any = None
    f: Any = None


def test_a_registered_policy_is_made_and_run_by_its_name() -> None:
    assert register(DropLowest) is DropLowest
    assert register(DropLowest) is DropLowest  # again, as when a cell of a notebook is run twice
    assert policy_from_json({"name": "drop-lowest", "repetitions": 9}) == DropLowest(9)
    result = simulate(BANDIT, "drop-lowest", 50, replicates=2, progress=False)
    assert result.runs[0].label == "drop-lowest"


def test_a_class_defined_again_takes_its_own_place() -> None:
    def defined() -> type[UCB1]:
        class Mine(UCB1):
            name = "mine"

        return Mine

    first, second = defined(), defined()
    register(first)
    register(second)
    assert POLICIES["mine"] is second


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (UCB1(), "policy must be a class"),
        (int, "policy must be a class"),
        (StepPolicy, "name must be a word"),
        (type("Nameless", (UCB1,), {"name": ""}), "name must be a word"),
        (type("Other", (UCB1,), {"name": "elimination"}), "Elimination has it"),
    ],
)
def test_what_cannot_be_registered_is_refused(wrong: Any, says: str) -> None:
    before = dict(POLICIES)
    with pytest.raises(InvalidInput, match=says):
        register(wrong)
    assert before == POLICIES


def test_what_a_policy_is_told_is_filled_in_unless_it_was_said() -> None:
    register(Informed)
    policy = policy_from_json("informed", BANDIT)
    assert isinstance(policy, Informed)
    assert (policy.arm, policy.past, policy.f) == (1, (3, 1, 2), Power(1.0))
    said = policy_from_json({"name": "informed", "arm": 2, "f": "constant"}, BANDIT)
    assert isinstance(said, Informed)
    assert (said.arm, said.f.to_json()["name"]) == (2, "constant")
    untold = policy_from_json("informed")
    assert isinstance(untold, Informed)
    assert (untold.arm, untold.past, untold.f) == (0, None, None)


def test_a_fact_that_there_is_none_of_is_refused() -> None:
    register(type("Curious", (Oracle,), {"name": "curious", "told": {"arm": "weather"}}))
    with pytest.raises(InvalidInput, match="weather"):
        policy_from_json("curious", BANDIT)
