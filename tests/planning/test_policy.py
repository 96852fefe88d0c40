"""Planning with a policy of one's own: measured in any case, planned with if it promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Any, ClassVar
from unittest.mock import patch

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.cli.plan_text import print_answer, print_explanation
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.planning import Plan, hard_worlds, make_plan
from affinity_bandits.planning.files import plan_from_toml, plan_to_toml
from affinity_bandits.planning.policy import check_promise, policy_for
from affinity_bandits.planning.reach import measure_reach
from affinity_bandits.planning.runs import hardest_outcomes
from affinity_bandits.policies import (
    POLICIES,
    HeadStartElimination,
    MembersElimination,
    PanelElimination,
    RecusalElimination,
    RoundPolicy,
    register,
)
from tests.support.own_policies import DropLowest, DropLowestInWords, DropLowestState

from .assumed import TINY, outcome_in


@dataclass(frozen=True)
class DropLowestForPlans(DropLowestInWords):
    """One that claims a failure probability where everybody judges."""

    name: ClassVar[str] = "drop-lowest-for-plans"
    judged_by: ClassVar[str] = "everybody"
    failure: float = 0.05


@pytest.fixture(scope="module")
def own() -> Plan:
    return make_plan(TINY, policy=DropLowestForPlans(40), progress=False)


@pytest.mark.slow
def test_one_that_promises_nothing_is_measured_but_not_planned_with() -> None:
    with pytest.raises(InvalidInput, match=r"policy .*proven for these judges .*DropLowest"):
        make_plan(TINY, policy=DropLowest(), progress=False)
    # Of one answer each, with means 0.6 and 0.4, the worse is the higher with 0.16, the better with
    # 0.36: three in ten choose the worse, and none of 100 with probability below 1e-16.
    close = replace(TINY, smallest_difference=0.2, largest_mean=0.6)
    for found in hardest_outcomes(hard_worlds(close), DropLowest(1), TINY.horizon, 100, seed=1):
        assert found.replicates == 100
        assert 0 < found.wrong < 100
    (reach,) = measure_reach(TINY, hard_worlds(TINY)[0], DropLowest(), [1000], seed=1)
    assert reach.horizon == 1000


@pytest.mark.slow
def test_one_that_promises_is_planned_with_and_explained(own: Plan) -> None:
    assert own.policy == DropLowestForPlans(repetitions=40)
    assert own.failure == TINY.failure
    assert len(own.hardest) == len(hard_worlds(TINY))
    assert own.hardest[0].choices > 0
    print_answer([own], date(2027, 1, 1), for_a_year=False)
    print_explanation(own, [own])


def test_its_plan_comes_back_from_a_file_once_it_is_registered(own: Plan) -> None:
    text = plan_to_toml(own)
    with pytest.raises(InvalidInput, match="drop-lowest-for-plans"):
        plan_from_toml(text)
    with patch.dict(POLICIES):
        register(DropLowestForPlans)
        assert plan_from_toml(text) == own


@pytest.mark.parametrize("wrong", [DropLowestForPlans, "head-start-elimination", 3])
def test_what_is_no_round_policy_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="policy must be a round policy"):
        make_plan(TINY, policy=wrong, progress=False)  # type: ignore[arg-type]


WAYS: list[tuple[dict[str, Any], RoundPolicy]] = [
    ({}, HeadStartElimination(initial_lead=2, bounded=True, failure=0.05, in_flight=1)),
    (
        {"committee": [3, 0], "initial_lead": None},
        HeadStartElimination(initial_pulls=[3, (0, 1)], bounded=True, failure=0.05, in_flight=1),
    ),
    ({"joining": 0.5}, MembersElimination(bounded=True, failure=0.05, in_flight=1)),
    ({"begin_after": 9}, MembersElimination(bounded=True, failure=0.05, in_flight=1)),
    ({"judges": "panel"}, PanelElimination(bounded=True, failure=0.05, in_flight=1)),
    (
        {"judges": "recused", "bonus": 0.2},
        RecusalElimination(bounded=True, failure=0.05, in_flight=1),
    ),
    (
        {"judges": "panel", "noise": "gaussian", "sigma": 0.3, "failure": 0.2, "in_flight": 7},
        PanelElimination(sigma=0.3, failure=0.2, in_flight=7),
    ),
]


@pytest.mark.parametrize(("changes", "expected"), WAYS, ids=lambda one: str(one)[:40])
def test_the_policy_is_the_one_proven_for_the_judges_and_no_other_passes(
    changes: dict[str, Any], expected: RoundPolicy
) -> None:
    given = replace(TINY, **changes)
    assert policy_for(given) == expected
    check_promise(expected, given)
    for other in {policy for _, policy in WAYS if policy.judged_by != expected.judged_by}:
        if (expected.judged_by, other.judged_by) != ("everybody", "members"):
            with pytest.raises(InvalidInput, match="proven for these judges"):
                check_promise(other, given)
    bolder = replace(expected, failure=1.01 * given.failure)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match=f"a failure of at most {given.failure:g}"):
        check_promise(bolder, given)


def test_no_policy_without_a_proof_under_a_bias_passes() -> None:
    for policy in POLICIES.values():
        if issubclass(policy, RoundPolicy) and policy.judged_by in ("", "memory"):
            for example in policy.examples():
                with pytest.raises(InvalidInput, match="proven for these judges"):
                    check_promise(example, TINY)


drop_lowest = DropLowest.absorb


class DropLowestByCounts(DropLowestForPlans):
    """One that is told how often there were scores of 0, 1/2 and 1, and looks at all rounds."""

    set_aside: ClassVar[int] = 0

    @property
    def nodes(self) -> tuple[float, ...]:
        return (0.0, 0.5, 1.0)

    @staticmethod
    def absorb(state: DropLowestState, seen: FloatArray) -> None:
        for position in range(state.left[0]):
            seen[position] = 0.5 * seen[3 * position + 1] + seen[3 * position + 2]
        drop_lowest(state, seen)


def test_counts_of_scores_say_the_same_as_their_sums() -> None:
    for hard in hard_worlds(replace(TINY, smallest_difference=0.2, largest_mean=0.6)):
        summed = outcome_in(hard, DropLowest(), TINY.horizon, 100, seed=1)
        assert 0 < summed.wrong < 100
        assert outcome_in(hard, DropLowestByCounts(), TINY.horizon, 100, seed=1) == summed


def test_a_policy_that_counts_scores_is_planned_with_where_they_have_two_ends() -> None:
    check_promise(DropLowestByCounts(), TINY)
    with pytest.raises(InvalidInput, match="policy must be one without nodes unless noise"):
        make_plan(replace(TINY, noise="gaussian"), policy=DropLowestByCounts(), progress=False)
