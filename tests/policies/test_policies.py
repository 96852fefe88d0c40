"""Policies by name, and what they assume."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from affinity_bandits import (
    AffinityBandit,
    Power,
    policy_from_json,
    simulate,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.catalogue import policy_lines
from affinity_bandits.model.feedback import ANYTHING, Feedback
from affinity_bandits.policies import (
    POLICIES,
    UCB1,
    Elimination,
    ListedSchedule,
    PublishedSchedule,
    StepPolicy,
    register,
)
from tests.support.own_policies import DropLowest

BANDIT = AffinityBandit([0.2, 0.9, 0.4], bias=Power(1.0), initial_pulls=[3, 1, 2])


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    with patch.dict(POLICIES):
        yield


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


UNIT = Feedback(low=0.0, high=1.0)
HALF = Feedback(sigma=0.5)
ONE = Feedback(sigma=1.0)

BY_DEFAULT = {
    "elimination": ONE,
    "head-start-elimination": ONE,
    "members-elimination": ONE,
    "panel-elimination": ONE,
    "recusal-elimination": ONE,
    "memory-elimination": ONE,
    "uniform": ANYTHING,
    "explore-then-commit": ONE,
    "successive-rejects": HALF,
    "sequential-halving": HALF,
    "weighted-ucb": ONE,
    "ucb1": HALF,
    "kl-ucb": UNIT,
    "moss": HALF,
    "ucb-v": UNIT,
    "debiased-ucb-v": ANYTHING,
    "efficient-ucb-v": UNIT,
    "exp3": UNIT,
    "exp3-gains": UNIT,
    "exp3-ix": UNIT,
    "lucb": ONE,
    "thompson-beta": Feedback(law="bernoulli"),
    "thompson-gaussian": Feedback(sigma=1.0, law="normal"),
    "epsilon-greedy": ANYTHING,
    "oracle": ANYTHING,
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_assumes_what_its_source_does(name: str) -> None:
    found = policy_from_json(name, AffinityBandit([0.5], memory=1)).assumes
    assert found == BY_DEFAULT[name]


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ({"name": "head-start-elimination", "bounded": True}, UNIT),
        ({"name": "head-start-elimination", "sigma": 0.3}, Feedback(sigma=0.3)),
        ({"name": "lucb", "sigma": 0.5}, HALF),
        ({"name": "ucb1", "exploration": 8.0}, ONE),
        ({"name": "moss", "scale": 4.0}, ONE),
        ({"name": "ucb-v", "bound": 3.0}, Feedback(low=0.0, high=3.0)),
        ({"name": "thompson-gaussian", "sigma": 2.0}, Feedback(sigma=2.0, law="normal")),
        ({"name": "elimination", "offset": 6.0}, ONE),
        ({"name": "elimination", "offset": 4.0}, ANYTHING),
    ],
)
def test_settings_change_what_is_assumed(description: dict[str, Any], expected: Feedback) -> None:
    assert policy_from_json(description).assumes == expected
    assert Elimination(ListedSchedule([(5, 0.3)])).assumes == ANYTHING
    assert Elimination(PublishedSchedule(5.0)).assumes == ONE


def test_the_list_of_policies_and_the_guide_say_the_same() -> None:
    guide = Path(__file__).parents[2] / "docs" / "study" / "policies.md"
    rest = guide.read_text(encoding="utf-8").split("| name | assumes feedback that is |")[1]
    table = rest.split("\n\n")[0]
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", table, re.MULTILINE)
    written = {name: what for names, what in rows for name in re.findall("`([^`]+)`", names)}
    shown = {name: assumed for name, _, assumed, _ in policy_lines()}
    assert set(written) == set(shown) == set(POLICIES)
    for name, assumed in shown.items():
        assert assumed in written[name]
        assert (assumed == "-") == (BY_DEFAULT[name] == ANYTHING)
