"""Policies from their names are told what they ask for, unless the user said it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest.mock import patch

import pytest

from affinity_bandits import (
    AffinityBandit,
    Power,
    policy_from_json,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import (
    POLICIES,
    Oracle,
    register,
)

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
