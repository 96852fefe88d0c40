"""What a campaign can be, and what is said to whoever describes one that cannot be."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import tomli_w

import affinity_bandits_client
from affinity_bandits.base import checks
from affinity_bandits.base.errors import AffinityError, InvalidInput, UnknownName
from affinity_bandits.base.plan_format import FORMAT
from affinity_bandits.planning import Assumptions, make_plan
from affinity_bandits.planning.files import plan_to_toml
from affinity_bandits.policies import (
    BLOCK_POLICIES,
    FOREVER,
    POLICIES,
    Elimination,
    ExploreThenCommit,
    ListedSchedule,
    PublishedSchedule,
)
from affinity_bandits_client.messages import CreateCampaign, Plan, base
from affinity_bandits_service.core.scores import scale_of
from affinity_bandits_service.core.spec import (
    SERVED,
    CampaignSpec,
    PlannedTime,
    open_round,
    read_spec,
    served_policy,
)
from tests.support.declared import DECLARED

GOOD: dict[str, Any] = {
    "name": "spring",
    "arms": ("red", "blue"),
    "declaration": DECLARED,
    "policy": ExploreThenCommit(2),
    "horizon": 100,
}


@pytest.mark.parametrize("name", SERVED)
def test_a_description_survives_json(name: str) -> None:
    for policy in SERVED[name].examples():
        about = CampaignSpec(
            "spring", ("red", "blue", "grün"), policy, 1000, 0.5, -1.0, 2.5, declaration=DECLARED
        )
        again = CampaignSpec.from_json(json.loads(json.dumps(about.to_json())))
        assert again == about
        assert again.digest() == about.digest()


@pytest.mark.parametrize(
    "other",
    [
        {"name": "summer"},
        {"arms": ("blue", "red")},
        {"policy": ExploreThenCommit(3)},
        {"horizon": 101},
        {"lease_seconds": 3601},
        {"lowest": -1},
        {"highest": 2},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_digest_tells_descriptions_apart(other: dict[str, Any]) -> None:
    assert CampaignSpec(**GOOD).digest() == CampaignSpec(**GOOD).digest()
    assert CampaignSpec(**GOOD | other).digest() != CampaignSpec(**GOOD).digest()


REFUSED = (InvalidInput, affinity_bandits_client.InvalidInput)
"""Of the library, and of a message, which client and service share."""
NAME = "must be of printable characters, not beginning or ending with a space, got"
BODY: dict[str, Any] = {
    "name": "spring",
    "arms": ("red", "blue"),
    "declaration": DECLARED.to_json(),
    "policy": {"name": "explore-then-commit", "pulls_per_arm": 2},
    "horizon": 100,
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "name must have at least 1 character, got ''"),
        ({"name": "x" * 201}, "name must have at most 200 characters, got 'xxx"),
        ({"name": "two\nlines"}, rf"name {NAME} 'two\\nlines'"),
        ({"name": " led"}, f"name {NAME} ' led'"),
        ({"name": 7}, "name must be a valid string, got 7"),
        ({"arms": ("alone",)}, "arms must have at least 2 items"),
        ({"arms": ("a", "a")}, r"arms must be a list of different names, got \['a', 'a'\]"),
        ({"arms": tuple(map(str, range(1001)))}, "arms must have at most 1000 items"),
        ({"arms": ("a", "")}, r"arms\[1\] must have at least 1 character, got ''"),
        ({"arms": ("a", "b ")}, rf"arms\[1\] {NAME} 'b '"),
        ({"arms": ("a", None)}, r"arms\[1\] must be a valid string, got None"),
        ({"policy": {"name": "ucb1"}}, "policy must be one of .*elimination"),
        ({"horizon": 0}, "horizon must be greater than or equal to 1, got 0"),
        ({"horizon": 10**16}, "horizon must be less than or equal to 1000000000000000"),
        ({"horizon": 2.5}, "horizon must be a valid integer, got 2.5"),
        ({"lease_seconds": 0}, "lease_seconds must be greater than or equal to 0.001, got 0"),
        ({"lease_seconds": 1e9}, "lease_seconds must be less than or equal to 2592000"),
        ({"lease_seconds": math.nan}, "lease_seconds must be a finite number, got nan"),
        ({"lowest": -1e6}, "lowest must be greater than or equal to -100000"),
        ({"highest": math.inf}, "highest must be a finite number, got inf"),
        ({"lowest": 1}, r"highest must be above lowest \(1\), got 1"),
        ({"lowest": 0.9999999999}, "highest must be above lowest"),  # the same in units of 1e-9
        (
            {"lowest": 0.9999995},
            r"highest must be at least 1e-06 above lowest \(0.9999995\), since",
        ),
        ({"committee": {"red": -1}}, "committee.red must be greater than or equal to 0, got -1"),
        ({"committee": {"green": 1}}, r"committee must be of groups .*, got \['green'\]"),
        ({"tellers": ("x",)}, r"tellers must be 'any' or a list of 1 to 100 ids .* \('x',\)"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(REFUSED, match=said):
        read_spec(CreateCampaign.checked(**BODY | given))


def test_a_teller_counts_once() -> None:
    id_ = "0123456789abcdef"
    assert read_spec(CreateCampaign.checked(**BODY | {"tellers": (id_, id_)})).tellers == (id_,)


def test_a_committee_on_record_has_a_number_for_each_arm() -> None:
    data = CampaignSpec(**GOOD).to_json() | {"committee": [5]}
    with pytest.raises(REFUSED, match="committee must be a number for each of the 2 arms"):
        CampaignSpec.from_json(data)


@pytest.mark.parametrize(
    "data",
    [
        *("ucb1", "oracle", "no-such", "", 7, None, [], {}, {"name": None}, {"name": []}),
        {"name": "elimination", "offset": "x"},
        {"name": "elimination", "offset": 1e400},
        {"name": "elimination", "schedule": 3},
        {"name": "elimination", "schedule": {"name": "listed", "rounds": [[]]}},
        {"name": "elimination", "other": 1},
        {"name": "explore-then-commit", "pulls_per_arm": -1},
        {"name": "head-start-elimination", "in_flight": 0},
        {"name": "head-start-elimination", "initial_lead": {"groups": "x"}},
    ],
    ids=repr,
)
def test_a_policy_that_cannot_be_served_is_refused_without_a_traceback(data: Any) -> None:
    with pytest.raises(AffinityError) as caught:
        served_policy(data)
    assert str(caught.value)


def test_only_policies_that_live_on_feedback_are_served() -> None:
    rounds = SERVED.keys() - BLOCK_POLICIES.keys()
    assert {"elimination", "head-start-elimination", "uniform"} <= rounds < set(POLICIES)
    assert len(SERVED) == len(rounds) + 2
    assert "head-start-elimination" in SERVED  # which is told counts of scores
    with pytest.raises(UnknownName, match="ucb1"):
        served_policy("ucb1")


@pytest.mark.parametrize(
    ("nodes", "served"),
    [
        ((), 0),
        ((0.0, 1.0), 2),
        (tuple(node / 6 for node in range(7)), 7),
        (tuple(float(node) for node in np.linspace(0.0, 1.0, 100)), 100),
        (tuple(node / 100 for node in range(101)), None),
        ((0.0,), None),
        ((0.5,), None),
        ((0.0, 0.5), None),
        ((0.25, 1.0), None),
        ((0.0, 0.25, 1.0), None),
        ((0.0, 2.5, 5.0), None),
        ((1.0, 0.0), None),
    ],
)
def test_scores_are_counted_at_nodes_that_are_evenly_spaced(
    nodes: tuple[float, ...], served: int | None
) -> None:
    with patch.object(ExploreThenCommit, "nodes", nodes):
        if served is not None:
            about = CampaignSpec(
                "nodes", ("a", "b"), ExploreThenCommit(2), 10, declaration=DECLARED
            )
            assert about.nodes.number == served
            return
        with pytest.raises(REFUSED) as caught:
            CampaignSpec("nodes", ("a", "b"), ExploreThenCommit(2), 10, declaration=DECLARED)
    said = str(caught.value)
    assert "policy must be one whose nodes are 2 to 100 scores evenly spaced from 0 to 1" in said
    assert "explore-then-commit with nodes [" in said


# Plans.


@pytest.fixture(scope="module")
def plan() -> str:
    tiny = Assumptions(
        groups=2, horizon=300, smallest_difference=0.5, initial_lead=2, steepness=0.0
    )
    made = replace(make_plan(tiny, seed=1, progress=False), declaration=DECLARED)
    return plan_to_toml(made)


def spec_of(text: str, name: str, arms: Any, **settings: Any) -> CampaignSpec:
    body = CreateCampaign(name=name, arms=tuple(arms), plan=Plan.from_toml(text), **settings)
    return read_spec(body)


@pytest.mark.slow
def test_a_plan_describes_a_campaign(plan: str) -> None:
    about = spec_of(plan, "planned", ["red", "blue"], lease_seconds=5)
    assert (about.arms, about.horizon, about.lease_seconds) == (("red", "blue"), 300, 5)
    assert about.policy.name in SERVED


def test_a_plan_says_how_long_it_takes(plan: str) -> None:
    data = tomllib.loads(plan)
    needed = math.ceil(data["plan"]["needed"]["choices_95"])
    about = spec_of(plan, "planned", ["red", "blue"])
    assert about.planned == PlannedTime(needed, None, "choice")
    assert 0 < needed <= about.horizon
    paced = spec_of(changed(plan, pace=40.0), "planned", ["red", "blue"])
    assert paced.planned == PlannedTime(needed, 40.0, "choice")
    assert CampaignSpec.from_json(json.loads(json.dumps(paced.to_json()))) == paced
    # Where more choices would be enough, it says nothing of these.
    data["plan"]["sufficient"] = 900
    assert spec_of(tomli_w.dumps(data), "planned", ["red", "blue"]).planned is None
    # What was written before there was any of this is the same.
    assert "planned" not in CampaignSpec(**GOOD).to_json()


def changed(plan: str, **assumptions: Any) -> str:
    data = tomllib.loads(plan)
    data["assumptions"] |= assumptions
    return tomli_w.dumps(data)


def test_a_plan_has_the_range_of_scores(plan: str) -> None:
    assert spec_of(plan, "planned", ["red", "blue"]).scale == scale_of(0, 1)
    stars = changed(plan, lowest=1.0, highest=5.0)
    thirds = spec_of(changed(plan, lowest=-1 / 3), "planned", ["red", "blue"], lowest=-1 / 3)
    assert thirds.scale == scale_of(-1 / 3, 1)
    for given in ({}, {"lowest": 1.0}, {"lowest": 1, "highest": 5}):
        about = spec_of(stars, "planned", ["red", "blue"], **given)
        assert (about.lowest, about.highest) == (1.0, 5.0)
    for given, said in (
        ({"lowest": 0.0}, r"lowest must be left out, or as the plan has it \(1\), got 0.0"),
        ({"highest": 10.0}, r"highest must be left out, or as the plan has it \(5\), got 10.0"),
    ):
        with pytest.raises(REFUSED, match=said):
            spec_of(stars, "planned", ["red", "blue"], **given)
    with pytest.raises(REFUSED, match=r"highest must be left out, or .* \(1\), got 5"):
        spec_of(plan, "planned", ["red", "blue"], highest=5)
    for bad in ({"lowest": "x"}, {"lowest": 1.0}, {"highest": float("inf")}):
        with pytest.raises(REFUSED, match=r"(lowest|highest) must be"):
            spec_of(changed(plan, **bad), "planned", ["red", "blue"])


def test_a_plan_for_scores_without_a_range_is_refused_with_the_reason(plan: str) -> None:
    said = "plan must be one for noise = 'bounded', .* no range .* got .*gaussian"
    with pytest.raises(REFUSED, match=said):
        spec_of(changed(plan, noise="gaussian"), "planned", ["red", "blue"])


def test_a_plan_is_for_as_many_groups_as_it_says(plan: str) -> None:
    with pytest.raises(REFUSED, match=r"arms must be as many as the plan is for \(2\)"):
        spec_of(plan, "planned", ["red", "blue", "green"])


def test_a_plan_that_was_cut_off_or_is_none_is_refused(plan: str) -> None:
    whole = "[end]\nwhole = true"
    assert whole in plan
    for text in (
        plan[: len(plan) // 2],
        plan.replace(whole, ""),
        plan.replace(whole, "[end]\nwhole = false"),
        plan.replace(whole, "[end]\nwhole = 1"),
        "",
        "end = 3",
        "end = {whole = true}\nrun = 3",
        "\0",
    ):
        with pytest.raises(REFUSED, match="plan must be the text of a file written by"):
            spec_of(text, "planned", ["red", "blue"])


@pytest.mark.parametrize(("format_", "got"), [("format = 2\n", "2"), ("", "None")])
def test_a_plan_of_another_format_is_refused_with_what_to_do(
    plan: str, format_: str, got: str
) -> None:
    """Its policy may still parse and be another one by now."""
    assert plan.count(f"format = {FORMAT}\n") == 1
    with pytest.raises(REFUSED) as caught:
        Plan.from_toml(plan.replace(f"format = {FORMAT}\n", format_))
    assert str(caught.value).startswith(f"format must be {FORMAT}: make the plan again with ")
    assert str(caught.value).endswith(f"'affinity plan', got {got}")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "more",
    [
        "x = [" + "0.5, 1.5, " * 1000 + "]",
        f"x = '{'a.' * 50}' # {'a.' * 50}",
        f'x = """\n{"a." * 50}\\""""""\ny = 1',
        "[a.b.c.d.e.f]\ng.h.i = 1979-05-27T00:32:00.999999-07:00",
    ],
    ids=lambda more: more[:20],
)
def test_a_plan_may_have_more_in_it_than_a_campaign_takes(plan: str, more: str) -> None:
    assert Plan.from_toml(f"{plan}\n{more}") == Plan.from_toml(plan)


def test_a_plan_may_be_named_by_its_file(plan: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    assert Plan.from_toml(tmp_path / "plan.toml") == Plan.from_toml(plan)


def test_the_limits_of_the_messages_are_those_of_the_library() -> None:
    assert base.LARGEST_ROUND == FOREVER
    assert base.LARGEST_HORIZON == checks.LARGEST_COUNT


# Rounds.


def test_a_round_is_what_the_policy_plans_within_the_horizon() -> None:
    policy = Elimination(ListedSchedule([(4, 0.1)]), discard_first=False)
    state = policy.start(3, 100)
    whole = open_round(policy, state, 100, before=88)
    assert (whole.arms, whole.repetitions, whole.size) == ((0, 1, 2), 4, 12)
    assert whole.whole
    short = open_round(policy, state, 100, before=89)
    assert (short.size, short.whole, short.final) == (11, False, False)
    assert open_round(policy, state, 100, before=100).size == 0


def test_a_policy_with_one_arm_left_has_made_up_its_mind() -> None:
    policy = ExploreThenCommit(1)
    after = policy.absorbed(policy.start(2, 100), policy.start(2, 100).sums)
    last = open_round(policy, after, 100, before=2)
    assert (last.arms, last.size, last.final, last.whole) == ((0,), FOREVER, True, False)


def test_a_round_too_long_to_end_decides_nothing() -> None:
    policy = Elimination(PublishedSchedule(60.0), discard_first=False)
    first = open_round(policy, policy.start(2, 100), 100, before=0)
    assert (first.arms, first.size, first.final, first.whole) == ((0, 1), 100, False, False)
