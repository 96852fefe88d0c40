"""The picture of a plan shows what the plan says, in words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from affinity_bandits.base.errors import MissingExtra
from affinity_bandits.planning import Assumptions, Plan, Reach, make_plan
from affinity_bandits.plots import draw_plan
from affinity_bandits.plots.plan import TITLES, plan_curves
from affinity_bandits.plots.style import save_figure

CASES = ("plain", "too-small", "hopeless", "easy", "often-wrong", "rarely-wrong", "one-point")


@pytest.fixture(scope="module")
def plan() -> Plan:
    wanted = Assumptions(groups=2, horizon=20_000, smallest_difference=0.3, initial_lead=150)
    return make_plan(wanted, progress=False)


@pytest.fixture(scope="module")
def pictures(plan: Plan) -> Callable[[str], Any]:
    """Pictures by their case, each drawn once: tests look at them and change nothing."""
    return cache(lambda case: draw_plan(changed(plan, case)))


def changed(plan: Plan, case: str) -> Plan:
    """The plan as it would be under other assumptions."""
    wanted, points = plan.assumptions, plan.reach
    if case == "too-small":
        return too_small(plan, 250_000)
    if case == "hopeless":
        return replace(too_small(plan, None), reach=tuple(all_spent(point) for point in points))
    if case == "easy":
        easy = [replace(point, undecided=0.0, choices=90.0, choices_95=120.0) for point in points]
        return replace(plan, reach=tuple(easy))
    if case == "often-wrong":
        wrong = [replace(point, wrong=0.04 * i) for i, point in enumerate(points)]
        return replace(plan, assumptions=replace(wanted, failure=0.3), reach=tuple(wrong))
    if case == "rarely-wrong":
        return replace(plan, assumptions=replace(wanted, failure=1e-9))
    if case == "one-point":
        return replace(plan, reach=points[4:5])
    return plan


def too_small(plan: Plan, sufficient: int | None) -> Plan:
    undecided = [replace(one, undecided=one.replicates) for one in plan.hardest]
    return replace(plan, hardest=tuple(undecided), sufficient=sufficient)


def all_spent(point: Reach) -> Reach:
    spent = float(point.horizon)
    return replace(point, undecided=1.0, choices=spent, choices_95=spent, detectable=None)


def drawn(axes: Any) -> list[Any]:
    """The lines that have markers: what was measured."""
    return [line for line in axes.lines if line.get_marker() not in (None, "None", "")]


def words(figure: Any) -> list[str]:
    """Everything that is written in the panels, on one line each."""
    texts = [text for axes in figure.axes for text in (*axes.texts, *axes.get_legend().get_texts())]
    return [text.get_text().replace("\n", " ") for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_what_is_drawn_is_what_the_plan_says(
    plan: Plan, pictures: Callable[[str], Any], case: str
) -> None:
    panels, shown = pictures(case).axes, changed(plan, case)
    assert [axes.get_title(loc="left") for axes in panels] == list(TITLES)
    for axes in panels:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        for line in drawn(axes):  # nothing measured is outside of its panel
            for x, y in zip(*line.get_data(), strict=True):
                assert left <= x <= right
                assert bottom <= y <= top
    differences, sureness, costs = (drawn(axes) for axes in panels)
    points = shown.reach
    told = [(p.horizon, p.detectable) for p in points if p.detectable is not None]
    assert [point for line in differences for point in zip(*line.get_data(), strict=True)] == told
    for line, values in (
        (sureness[0], [100.0 * point.undecided for point in points]),
        (sureness[1], [100.0 * point.wrong for point in points]),
        (costs[0], [point.choices for point in points]),
        (costs[1], [point.choices_95 for point in points]),
    ):
        assert list(line.get_xdata()) == [point.horizon for point in points]
        assert list(line.get_ydata()) == values
    wanted = shown.assumptions
    given = [[line for line in axes.lines if line not in drawn(axes)] for axes in panels]
    for _, planned in given:
        assert set(planned.get_xdata()) == {wanted.horizon}
    matters, tolerated, everything = (lines[0] for lines in given)
    assert set(matters.get_ydata()) == {wanted.smallest_difference}
    assert set(tolerated.get_ydata()) == {100.0 * wanted.failure}
    assert list(everything.get_xdata()) == list(everything.get_ydata())


@pytest.mark.slow
def test_the_plan_that_is_simulated_has_something_that_cannot_be_told_apart(plan: Plan) -> None:
    missing = [point.detectable is None for point in plan.reach]
    assert any(missing)
    assert not all(missing)
    assert np.isnan(plan_curves(plan).detectable).tolist() == missing


@pytest.mark.slow
def test_every_line_is_named_in_words(pictures: Callable[[str], Any]) -> None:
    assert sorted(words(pictures("plain"))) == sorted(
        [
            *3 * ["planned"],
            "difference that matters",
            "told apart in 19 of 20 runs",
            "wrong group kept",
            "wrong at most 5%, as asked",
            "no decision yet",
            "at most this in 19 of 20 runs",
            "average",
            "everything you have",
        ]
    )


@pytest.mark.slow
def test_what_is_rare_or_hopeless_is_said(pictures: Callable[[str], Any]) -> None:
    assert "wrong at most 1 in 1 billion" in words(pictures("rarely-wrong"))
    said = words(pictures("hopeless"))
    assert "no difference is told apart with these numbers of choices" in said
    assert "told apart in 19 of 20 runs" not in said
    headline = "2 groups, differences of at least 0.3: plan for 20,000 choices"
    assert pictures("plain").get_suptitle() == headline


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sufficient", "end"),
    [
        (250_000, "20,000 choices are too few, about 250,000 would do"),
        (20_000, "20,000 choices are too few"),
        (None, "20,000 choices are too few"),
    ],
)
def test_the_headline_says_that_a_budget_is_too_small(
    plan: Plan, sufficient: int | None, end: str
) -> None:
    short = too_small(plan, sufficient)
    assert not short.enough
    assert draw_plan(short).get_suptitle() == f"2 groups, differences of at least 0.3: {end}"


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_it_is_saved_without_a_warning_and_alike(plan: Plan, tmp_path: Path, ending: str) -> None:
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    for path in (first, second):
        save_figure(draw_plan(plan), path)  # pytest turns warnings into errors
    assert first.stat().st_size > 10_000
    assert first.read_bytes() == second.read_bytes()


def test_without_matplotlib_the_extra_to_install_is_named(plan: Plan) -> None:
    with mock.patch.dict(sys.modules, {"matplotlib": None}), pytest.raises(MissingExtra):
        draw_plan(plan)
