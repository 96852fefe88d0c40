"""What another budget or difference would do agrees with the plan it is read off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.reach import Reach
from affinity_bandits.planning.what_if import choices_for, detectable_with


@pytest.fixture
def curved(tiny: Plan) -> Plan:
    """A plan with a curve that is easy to follow: ten times the choices, a third of it."""
    seen = (None, 0.9, 0.3, 0.3, 0.1)  # one point is no better than the one before
    reach = tuple(
        Reach(10**power, 0.0, 0.0, 1.0, 1.0, one)
        for power, one in zip(range(1, 6), seen, strict=True)
    )
    return replace(tiny, reach=reach)


def test_the_plan_itself_is_on_both_curves(tiny: Plan) -> None:
    given = tiny.assumptions
    assert detectable_with(tiny, given.horizon) == tiny.detectable
    assert tiny.enough_choices is not None
    found = choices_for(tiny, given.smallest_difference)
    assert found == pytest.approx(tiny.enough_choices)


def test_between_points_lines_are_straight_on_logarithmic_scales(curved: Plan) -> None:
    first = choices_for(curved, 0.9)  # 100 on the curve, shifted to the plan's own figure
    assert first is not None
    assert detectable_with(curved, 0.99 * first) is None
    assert detectable_with(curved, first * (1.0 + 1e-9)) == pytest.approx(0.9)
    assert detectable_with(curved, 10**0.5 * first) == pytest.approx(0.9 / 3**0.5)
    assert detectable_with(curved, 10**2 * first) == pytest.approx(0.3 / 3**0.5)  # not the odd one
    assert detectable_with(curved, 10**9) == pytest.approx(0.1)
    assert curved.enough_choices is not None
    stated = curved.assumptions.smallest_difference
    assert detectable_with(curved, curved.enough_choices) == pytest.approx(stated)
    assert choices_for(curved, 0.05) is None
    ratio = choices_for(curved, 0.3), choices_for(curved, 0.9)
    assert None not in ratio
    assert ratio[0] / ratio[1] == pytest.approx(10.0)  # type: ignore[operator]
    assert choices_for(replace(curved, reach=curved.reach[:1]), 0.5) is None
