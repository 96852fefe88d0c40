"""What a plan assumes means the same on every scale, and comes back from data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.planning import Assumptions, Plan, example, make_plan
from affinity_bandits.planning.policy import policy_for

from .assumed import LONG_ENOUGH

SCALES = [(0.0, 1.0), (0.0, 5.0), (1.0, 5.0), (0.0, 100.0), (-1.0, 1.0)]


def on_scale(given: Assumptions, lowest: float, highest: float) -> Assumptions:
    """The same assumptions for scores from `lowest` to `highest`."""
    span = highest - lowest
    return replace(
        given,
        lowest=lowest,
        highest=highest,
        smallest_difference=span * given.smallest_difference,
        largest_mean=lowest + span * given.best_mean,
    )


@given(
    scale=st.sampled_from(SCALES),
    difference=st.floats(1e-3, 1.0),
    part=st.floats(0.0, 1.0),
)
def test_scores_are_mapped_to_the_unit_scale(
    scale: tuple[float, float], difference: float, part: float
) -> None:
    largest = difference + part * (1.0 - difference)
    unit = Assumptions(3, 1000, difference, initial_lead=7, in_flight=4, largest_mean=largest)
    assert unit.on_unit_scale() == unit
    lowest, highest = scale
    span = highest - lowest
    stated = Assumptions(
        3,
        1000,
        min(span * difference, (lowest + span * largest) - lowest),  # no more than all there is
        initial_lead=7,
        in_flight=4,
        lowest=lowest,
        highest=highest,
        largest_mean=min(highest, lowest + span * largest),
    )
    mapped = stated.on_unit_scale()
    assert mapped.smallest_difference == pytest.approx(difference, rel=1e-12)
    assert mapped.best_mean == pytest.approx(largest, rel=1e-12)
    assert mapped.smallest_difference <= mapped.best_mean <= 1.0
    same = replace(mapped, smallest_difference=unit.smallest_difference, largest_mean=largest)
    assert same == unit
    assert policy_for(stated) == policy_for(unit)


@pytest.fixture(scope="module")
def unit() -> Plan:
    return make_plan(LONG_ENOUGH, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [(1.0, 5.0), (-1.0, 1.0)], ids=str)
def test_a_plan_is_the_same_on_every_scale(scale: tuple[float, float], unit: Plan) -> None:
    """All of these numbers are exact in floats but for a rounding, which no run notices."""
    lowest, highest = scale
    span = highest - lowest
    plan = make_plan(on_scale(LONG_ENOUGH, *scale), progress=False)
    assert plan.policy == unit.policy
    assert (plan.enough, plan.sufficient) == (unit.enough, unit.sufficient)
    assert plan.hardest == unit.hardest
    assert example(plan.assumptions) == example(unit.assumptions)
    assert unit.detectable is not None
    assert plan.detectable == pytest.approx(span * unit.detectable)
    for point, same in zip(plan.reach, unit.reach, strict=True):
        expected = None if same.detectable is None else pytest.approx(span * same.detectable)
        assert point == replace(same, detectable=point.detectable)
        assert point.detectable == expected


@pytest.mark.parametrize("in_flight", [1, 2, 64])
def test_what_is_in_flight_reaches_the_policy_and_its_first_round(in_flight: int) -> None:
    policy = policy_for(replace(LONG_ENOUGH, in_flight=in_flight))
    assert policy.in_flight == in_flight
    assert policy.order_window == in_flight
    state = policy.start(2, 1000)
    assert state.most.tolist() == [LONG_ENOUGH.initial_lead] * 2
    assert state.order == in_flight // 2
    assert policy.plan(state).repetitions == max(4, in_flight // 2)


@pytest.mark.parametrize(
    "given",
    [
        LONG_ENOUGH,
        on_scale(LONG_ENOUGH, 1.0, 5.0),
        replace(LONG_ENOUGH, in_flight=12, lipschitz=0.5),
        Assumptions(4, 10**9, 0.3, noise="gaussian", sigma=0.5, largest_mean=2.0),
    ],
    ids=str,
)
def test_comes_back_from_data(given: Assumptions) -> None:
    data = json.loads(json.dumps(given.to_json(), allow_nan=False))
    assert Assumptions.from_json(data) == given
    assert ("lowest" in data) == given.bounded  # Gaussian scores have no ends
    assert "highest" not in data or data["highest"] == given.highest
