"""Planning with a policy of one's own: measured in any case, planned with if it promises."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any, Self
from unittest.mock import patch

import pytest

from affinity_bandits.cli.plan_text import print_answer, print_explanation
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray
from affinity_bandits.planning import Plan, hard_worlds, make_plan
from affinity_bandits.planning.files import plan_from_toml, plan_to_toml
from affinity_bandits.planning.plan import (
    measure_reach,
    planned_policy,
)
from affinity_bandits.planning.runs import hardest_outcomes
from affinity_bandits.policies import (
    PLANNED_BY_DEFAULT,
    POLICIES,
    HandicapElimination,
    RoundPolicy,
    register,
)
from tests.support.own_policies import DropLowest, DropLowestInWords, DropLowestState

from .assumed import TINY, outcome_in


@pytest.fixture(scope="module")
def own() -> Plan:
    return make_plan(TINY, policy_class=DropLowestInWords, progress=False)


@pytest.mark.slow
def test_one_that_promises_nothing_is_measured_but_not_planned_with() -> None:
    with pytest.raises(InvalidInput, match=r"policy_class .*planned_for.*drop-lowest"):
        make_plan(TINY, policy_class=DropLowest, progress=False)
    # Of one answer each, with means 0.6 and 0.4, the worse is the higher with 0.16, the better with
    # 0.36: three in ten settle for the worse, and none of 100 with probability below 1e-16.
    close = replace(TINY, smallest_difference=0.2, largest_mean=0.6)
    for found in hardest_outcomes(hard_worlds(close), DropLowest(1), TINY.horizon, 100, seed=1):
        assert found.replicates == 100
        assert 0 < found.wrong < 100
    (reach,) = measure_reach(TINY, hard_worlds(TINY)[0], DropLowest(), [1000], seed=1)
    assert reach.horizon == 1000


@pytest.mark.slow
def test_one_that_promises_is_planned_with_and_explained(own: Plan) -> None:
    assert own.policy == DropLowestInWords(repetitions=40)
    assert own.failure == TINY.failure
    assert len(own.hardest) == len(hard_worlds(TINY))
    assert own.hardest[0].choices > 0
    print_answer([own], date(2027, 1, 1), for_a_year=False)
    print_explanation(own)


def test_its_plan_comes_back_from_a_file_once_it_is_registered(own: Plan) -> None:
    text = plan_to_toml(own)
    with pytest.raises(InvalidInput, match="drop-lowest-in-words"):
        plan_from_toml(text)
    with patch.dict(POLICIES):
        register(DropLowestInWords)
        assert plan_from_toml(text) == own


@pytest.mark.parametrize("wrong", [DropLowest(), "handicap-elimination", int, None])
def test_what_is_no_class_of_round_policies_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="policy_class"):
        make_plan(TINY, policy_class=wrong, progress=False)  # type: ignore[arg-type]


def test_of_our_own_policies_only_the_proven_one_promises() -> None:
    given, promising = TINY.on_unit_scale(), []
    for policy in POLICIES.values():
        if issubclass(policy, RoundPolicy):
            try:
                policy.planned_for(given)
            except InvalidInput:
                continue
            promising.append(policy)
    assert promising == [HandicapElimination]
    assert PLANNED_BY_DEFAULT is HandicapElimination


drop_lowest = DropLowest.absorb


class DropLowestByCounts(DropLowest):
    """One that is told how often there were scores of 0, 1/2 and 1."""

    @property
    def nodes(self) -> tuple[float, ...]:
        return (0.0, 0.5, 1.0)

    @classmethod
    def planned_for(cls, assumed: Any) -> Self:
        return cls()

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
    assert planned_policy(TINY, DropLowestByCounts) == DropLowestByCounts()
    with pytest.raises(InvalidInput, match="policy_class must be one without nodes unless noise"):
        make_plan(replace(TINY, noise="gaussian"), policy_class=DropLowestByCounts, progress=False)
