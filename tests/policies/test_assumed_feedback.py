"""What policies say they assume of feedback, here and in the documentation."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from affinity_bandits import AffinityBandit, policy_from_json
from affinity_bandits.catalogue import policy_lines
from affinity_bandits.errors import InvalidInput
from affinity_bandits.feedback import ANYTHING, Feedback
from affinity_bandits.policies import (
    POLICIES,
    UCB1,
    Elimination,
    ListedSchedule,
    PublishedSchedule,
    Uniform,
)

UNIT = Feedback(low=0.0, high=1.0)
HALF = Feedback(sigma=0.5)
ONE = Feedback(sigma=1.0)

BY_DEFAULT = {
    "elimination": ONE,
    "handicap-elimination": ONE,
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
    found = policy_from_json(name, AffinityBandit([0.5])).assumes
    assert found == BY_DEFAULT[name]


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ({"name": "handicap-elimination", "bounded": True}, UNIT),
        ({"name": "handicap-elimination", "sigma": 0.3}, Feedback(sigma=0.3)),
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


def test_a_policy_of_ones_own_says_nothing_unless_it_does() -> None:
    @dataclass(frozen=True)
    class Own(Uniform):
        name: ClassVar[str] = "own"

    @dataclass(frozen=True)
    class Proven(Uniform):
        name: ClassVar[str] = "proven"

        @property
        def assumes(self) -> Feedback:
            return UNIT

    assert Own().assumes == ANYTHING
    assert Proven().assumes == UNIT


def test_the_list_of_policies_and_the_guide_say_the_same() -> None:
    guide = Path(__file__).parents[2] / "docs" / "policies.md"
    rest = guide.read_text(encoding="utf-8").split("| name | assumes feedback that is |")[1]
    table = rest.split("\n\n")[0]
    written = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", table, re.MULTILINE))
    shown = {name: assumed for name, _, assumed, _ in policy_lines()}
    assert set(written) == set(shown) == set(POLICIES)
    for name, assumed in shown.items():
        if name == "handicap-elimination":
            assert "else `sigma`-subGaussian" in written[name]
        else:
            assert assumed in written[name]
            assert (assumed == "-") == (BY_DEFAULT[name] == ANYTHING)


# The order of kinds of feedback.

KINDS = [
    ANYTHING,
    UNIT,
    HALF,
    ONE,
    Feedback(sigma=0.1),
    Feedback(low=-1.0, high=1.0),
    Feedback(low=0.25, high=0.75),
    Feedback(law="bernoulli"),
    Feedback(sigma=1.0, law="normal"),
    Feedback(sigma=0.5, law="normal"),
]


def test_covering_is_an_order() -> None:
    for one in KINDS:
        assert one.covers(one)
        assert ANYTHING.covers(one)
        for other in KINDS:
            if one.covers(other) and other.covers(one):
                assert one == other
            for third in KINDS:
                if one.covers(other) and other.covers(third):
                    assert one.covers(third)


@pytest.mark.parametrize(
    ("assumed", "produced"),
    [
        (UNIT, ANYTHING),
        (UNIT, HALF),
        (UNIT, Feedback(low=-1e-6, high=1.0)),
        (UNIT, Feedback(low=0.0, high=1.0 + 1e-6)),
        (ONE, ANYTHING),
        (ONE, Feedback(sigma=1.0 + 1e-6)),
        (HALF, Feedback(low=-1.0, high=1.0)),
        (Feedback(law="bernoulli"), UNIT),
        (Feedback(sigma=1.0, law="normal"), ONE),
        (Feedback(sigma=1.0, law="normal"), Feedback(sigma=0.5, law="normal")),
    ],
)
def test_what_is_not_covered_is_named(assumed: Feedback, produced: Feedback) -> None:
    assert not assumed.covers(produced)
    assert assumed.missing(produced)


def test_rounding_is_no_difference() -> None:
    assert Feedback(sigma=0.3).covers(Feedback(sigma=0.1 + 0.2))
    assert UNIT.covers(Feedback(low=-1e-17, high=1.0 + 2e-16))


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"low": 1.0, "high": 0.0}, "high"),
        ({"low": math.nan}, "high"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": math.nan}, "sigma"),
        ({"law": "poisson"}, "law"),
    ],
)
def test_nonsense_is_refused_by_name(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InvalidInput, match=parameter):
        Feedback(**settings)


def test_without_exploration_only_the_truth_would_do() -> None:
    assert UCB1(exploration=0.0).assumes == Feedback(sigma=0.0)
