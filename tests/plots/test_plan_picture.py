"""The picture of a plan shows what the plan says, in words, without labels on top of each other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from affinity_bandits.errors import MissingExtra
from affinity_bandits.planning import Assumptions, Plan, Reach, make_plan
from affinity_bandits.plots import draw_plan
from affinity_bandits.plots.plan import plan_curves
from affinity_bandits.plots.style import save_figure

CASES = ("plain", "too-small", "hopeless", "easy", "often-wrong", "rarely-wrong", "one-point")


@pytest.fixture(scope="module")
def plan() -> Plan:
    wanted = Assumptions(groups=2, horizon=20_000, smallest_difference=0.3, head_start=150)
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
    return [text.get_text().replace("\n", " ") for axes in figure.axes for text in axes.texts]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_there_are_three_panels_with_titles_and_named_axes(
    pictures: Callable[[str], Any], case: str
) -> None:
    figure = pictures(case)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "How small a difference can be told apart",
        "How sure the answer is",
        "What it costs",
    ]
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_what_is_drawn_is_the_reach_of_the_plan(
    plan: Plan, pictures: Callable[[str], Any], case: str
) -> None:
    differences, sureness, costs = (drawn(axes) for axes in pictures(case).axes)
    points = changed(plan, case).reach
    told = [(p.horizon, p.detectable) for p in points if p.detectable is not None]
    (found,) = differences
    assert list(zip(*found.get_data(), strict=True)) == told
    horizons = [point.horizon for point in points]
    for line, values in (
        (sureness[0], [100.0 * point.undecided for point in points]),
        (sureness[1], [100.0 * point.wrong for point in points]),
        (costs[0], [point.choices for point in points]),
        (costs[1], [point.choices_95 for point in points]),
    ):
        assert list(line.get_xdata()) == horizons
        assert list(line.get_ydata()) == values


@pytest.mark.slow
def test_the_plan_that_is_simulated_has_something_that_cannot_be_told_apart(plan: Plan) -> None:
    missing = [point.detectable is None for point in plan.reach]
    assert any(missing)
    assert not all(missing)
    assert np.isnan(plan_curves(plan).detectable).tolist() == missing


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_everything_measured_is_inside_its_panel(pictures: Callable[[str], Any], case: str) -> None:
    for axes in pictures(case).axes:
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        for line in drawn(axes):
            for x, y in zip(*line.get_data(), strict=True):
                assert left <= x <= right
                assert bottom <= y <= top


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_given_lines_are_where_the_assumptions_put_them(
    plan: Plan, pictures: Callable[[str], Any], case: str
) -> None:
    wanted = changed(plan, case).assumptions
    panels = pictures(case).axes
    given = [[line for line in axes.lines if line not in drawn(axes)] for axes in panels]
    for lines in given:  # the last one is "planned"
        assert len(lines) == 2
        assert set(lines[1].get_xdata()) == {wanted.horizon}
    matters, tolerated, everything = (lines[0] for lines in given)
    assert set(matters.get_ydata()) == {wanted.smallest_difference}
    assert set(tolerated.get_ydata()) == {100.0 * wanted.failure}
    assert list(everything.get_xdata()) == list(everything.get_ydata())


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
def test_a_tiny_tolerated_failure_is_a_part_not_a_percentage(
    pictures: Callable[[str], Any],
) -> None:
    assert "wrong at most 1 in 1 billion" in words(pictures("rarely-wrong"))


@pytest.mark.slow
def test_where_nothing_is_told_apart_the_picture_says_so(pictures: Callable[[str], Any]) -> None:
    said = words(pictures("hopeless"))
    assert "no difference is told apart with these numbers of choices" in said
    assert "told apart in 19 of 20 runs" not in said


@pytest.mark.slow
@pytest.mark.parametrize("case", ["plain", "too-small", "often-wrong", "one-point"])
def test_no_label_touches_another_or_leaves_its_panel(
    pictures: Callable[[str], Any], case: str
) -> None:
    figure = pictures(case)
    figure.draw_without_rendering()
    for axes in figure.axes:
        frame = axes.get_window_extent()
        boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
        for (one, first), (other, second) in combinations(boxes.items(), 2):
            assert not first.overlaps(second), (one, other)
        del boxes["planned"]
        for name, box in boxes.items():
            assert frame.x0 <= box.x0 < box.x1 <= frame.x1, name
            assert frame.y0 <= box.y0 < box.y1 <= frame.y1, name


@pytest.mark.slow
def test_the_headline_says_what_is_planned(plan: Plan, pictures: Callable[[str], Any]) -> None:
    assert plan.enough
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
def test_it_is_saved_without_a_warning(plan: Plan, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"plan.{ending}"
    save_figure(draw_plan(plan), path)  # pytest turns warnings into errors
    assert path.stat().st_size > 10_000


@pytest.mark.slow
def test_the_same_plan_is_the_same_file(plan: Plan, tmp_path: Path) -> None:
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    for path in (first, second):
        save_figure(draw_plan(plan), path)
    assert first.read_bytes() == second.read_bytes()


def test_without_matplotlib_the_extra_to_install_is_named(plan: Plan) -> None:
    with mock.patch.dict(sys.modules, {"matplotlib": None}), pytest.raises(MissingExtra):
        draw_plan(plan)
