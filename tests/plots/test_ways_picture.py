"""The picture of ways to judge shows what the plans say, one bar for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from affinity_bandits.planning import Assumptions, Plan, make_plan
from affinity_bandits.plots import draw_ways

pytestmark = pytest.mark.slow  # makes a plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    wanted = Assumptions(groups=3, horizon=20_000, smallest_difference=0.3, initial_lead=150)
    return make_plan(wanted, progress=False)


def judged_by(plan: Plan, judges: str) -> Plan:
    return replace(plan, assumptions=replace(plan.assumptions, judges=judges, bonus=0.2))


def words(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_every_way_has_its_bars_and_its_numbers(plan: Plan) -> None:
    plans = [judged_by(plan, judges) for judges in ("recused", "panel", "committee")]
    figure = draw_ways(plans)
    assert plan.needed is not None
    average, most = plan.needed.choices, plan.enough_choices
    assert [bar.get_width() for bar in figure.axes[0].patches] == [most, average] * 3
    assert words(figure).count(f"{average:,.0f} on average, {most:,.0f} in 19 of 20 cases") == 3
    assert "there are 20,000" in words(figure)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["recusal", "panels with\nequal seats", "the whole\ncommittee"]


def test_more_than_there_are_is_said_and_colored_otherwise(plan: Plan) -> None:
    undecided = tuple(replace(one, undecided=one.replicates) for one in plan.hardest)
    short = replace(plan, hardest=undecided, sufficient=400_000)
    figure = draw_ways([judged_by(plan, "panel"), judged_by(short, "committee")])
    assert any("400,000 in 19 of 20 cases: more than there are" in one for one in words(figure))
    enough, *_, too_few = [bar.get_facecolor()[:3] for bar in figure.axes[0].patches]
    assert enough != too_few
    assert figure.axes[0].get_xscale() == "log"  # or the short bars could not be seen


def test_what_is_never_enough_has_no_bar(plan: Plan) -> None:
    never = replace(judged_by(plan, "committee"), needed=None)
    figure = draw_ways([never])
    assert "no number of choices is enough" in words(figure)
    assert not figure.axes[0].patches
