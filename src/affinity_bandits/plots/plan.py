"""Pictures of plans: detectable differences, certainty, cost, and ways to judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from affinity_bandits.base.looks import LIGHT
from affinity_bandits.base.words import plural
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.plots.style import (
    GREY,
    METHODS,
    line_style,
    log_ticks,
    mark_given,
    new_figure,
    new_panels,
)

if TYPE_CHECKING:
    from affinity_bandits.planning import Plan

TITLES = (
    "How small a difference can be told apart",
    "How sure the answer is",
    "What it costs",
)
SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))
GIVEN: dict[str, Any] = {
    "color": GREY,
    "linestyle": (0, (5, 3)),
    "linewidth": 1.2,
    "zorder": 1.8,
}
SMALL = 8.5  # font size of everything but titles


class PlanCurves(NamedTuple):
    """The curves of a plan, by number of choices; `detectable` is NaN if no difference is."""

    horizons: FloatArray
    detectable: FloatArray
    undecided_percent: FloatArray
    wrong_percent: FloatArray
    choices: FloatArray
    choices_95: FloatArray


def plan_curves(plan: Plan) -> PlanCurves:
    """Return the curves of a plan."""
    points = [
        (
            one.horizon,
            math.nan if one.detectable is None else one.detectable,
            100.0 * one.undecided,
            100.0 * one.wrong,
            one.choices,
            one.choices_95,
        )
        for one in plan.reach
    ]
    return PlanCurves(*np.array(points, dtype=float).reshape(-1, 6).T)


def draw_plan(plan: Plan) -> Any:
    """Draw a plan and return the figure."""
    # Imported here: pictures of other things should not load the planner.
    from affinity_bandits.planning.reach import REACH_RUNS

    figure, panels = new_panels(3, 1, 6.4, 10.0)
    curves = plan_curves(plan)
    for draw, axes, title in zip(
        (_draw_differences, _draw_sureness, _draw_costs), panels, TITLES, strict=True
    ):
        draw(axes, plan, curves)
        _finish(axes, plan, curves, title)
    figure.suptitle(_headline(plan), fontsize=11.5, fontweight="bold", x=0.01, ha="left")
    sure = "Scores cannot tell a worse group from its judges, so nothing is promised."
    if plan.failure is not None:
        sure = (
            f"The wrong group is kept in at most {100.0 * plan.failure:.2g}% of runs, proven under"
            " the assumptions that the plan prints."
        )
    where = f"the hardest world that is assumed, {REACH_RUNS} runs per point"
    if plan.assumptions.judges == "neutral":
        where = f"a world of judges, {plan.cost.replicates} runs per point"
    figure.supxlabel(
        f"Simulated in {where}.\n{sure}",
        fontsize=SMALL,
        color=GREY,
        x=0.01,
        ha="left",
    )
    return figure


def _headline(plan: Plan) -> str:
    wanted, asked = plan.assumptions, _question(plan)
    there = f"{wanted.horizon:,} {plural(wanted.unit)}"
    if plan.failure is None:
        return f"{asked}: no number of {plural(wanted.unit)} is enough"
    if plan.enough:
        return f"{asked}: plan for {there}"
    from affinity_bandits.planning.sentences import tell_count

    # The sufficient number was found with other runs, so it may be the planned one.
    if plan.sufficient is None or plan.sufficient <= wanted.horizon:
        return f"{asked}: {there} are too few"
    return f"{asked}: {there} are too few, about {tell_count(plan.sufficient)} would do"


def _question(plan: Plan) -> str:
    given = plan.assumptions
    return f"{given.groups} groups, differences of at least {given.smallest_difference:g}"


def _draw_differences(axes: Any, plan: Plan, curves: PlanCurves) -> None:
    told = np.isfinite(curves.detectable)
    matters = plan.assumptions.smallest_difference
    axes.axhline(matters, label="difference\nthat matters", **GIVEN)
    if told.any():
        label = "told apart in\n19 of 20 runs"
        style = _measured(0)
        axes.plot(curves.horizons[told], curves.detectable[told], marker="o", label=label, **style)
    axes.set_yscale("log")
    shown = [*curves.detectable[told], matters]
    if not told.any():
        shown.append(plan.assumptions.best_mean - plan.assumptions.lowest)
        axes.text(
            0.5,
            0.85,
            f"no difference is told apart\nwith these numbers of {plural(plan.assumptions.unit)}",
            transform=axes.transAxes,
            color=METHODS[0],
            fontsize=SMALL,
            ha="center",
            va="center",
            bbox={"facecolor": LIGHT["surface"], "edgecolor": "none", "pad": 2.0},
        )
    axes.set_ylim(min(shown) / 1.6, 1.6 * max(shown))
    axes.set_yticks(ticks := log_ticks(*axes.get_ylim()), [f"{tick:g}" for tick in ticks])
    axes.set_xlabel(f"{plural(plan.assumptions.unit)} in all", fontsize=SMALL)
    axes.set_ylabel("difference in scores at equal shares", fontsize=SMALL)


def _draw_sureness(axes: Any, plan: Plan, curves: PlanCurves) -> None:
    failure, horizons = plan.assumptions.failure, curves.horizons
    rare = f"1 in {_count(round(1.0 / failure), ' ')}"
    tolerated = f"{100.0 * failure:g}%, as asked" if failure >= 1e-4 else rare
    if plan.failure is not None:
        axes.axhline(100.0 * failure, label=f"wrong at most\n{tolerated}", **GIVEN)
    axes.plot(
        horizons, curves.undecided_percent, marker="o", label="no decision\nyet", **_measured(0)
    )
    axes.plot(horizons, curves.wrong_percent, marker="s", label="wrong group\nkept", **_measured(1))
    axes.set_ylim(-5.0, 105.0)
    axes.set_yticks(ticks := range(0, 101, 20), [f"{tick}%" for tick in ticks])
    axes.set_xlabel(f"{plural(plan.assumptions.unit)} in all", fontsize=SMALL)
    axes.set_ylabel("percent of runs", fontsize=SMALL)


def _draw_costs(axes: Any, plan: Plan, curves: PlanCurves) -> None:
    wide = [*curves.horizons[:1], _horizon_limits(plan, curves)[1]]
    most = "at most this in\n19 of 20 runs"
    axes.plot(wide, wide, label="everything you have", **GIVEN)
    axes.plot(curves.horizons, curves.choices, marker="o", label="average", **_measured(0))
    axes.plot(curves.horizons, curves.choices_95, marker="s", label=most, **_measured(1))
    axes.set_yscale("log")
    spent = [*curves.choices, *curves.choices_95] or [float(plan.assumptions.horizon)]
    # Choices that are left over would otherwise take most of the height.
    above = max(5.0, (max(spent) / min(spent)) ** 0.3)
    axes.set_ylim(min(spent) / 1.3, above * max(spent))
    axes.set_yticks(ticks := log_ticks(*axes.get_ylim()), [_count(tick, " ") for tick in ticks])
    units = plural(plan.assumptions.unit)
    axes.set_xlabel(f"{units} available", fontsize=SMALL)
    axes.set_ylabel(f"{units} spent comparing", fontsize=SMALL)


def _finish(axes: Any, plan: Plan, curves: PlanCurves, title: str) -> None:
    axes.set_xscale("log")
    axes.set_xlim(*_horizon_limits(plan, curves))
    axes.set_xticks(
        ticks := log_ticks(*axes.get_xlim(), dense_below=0.0), [_count(t) for t in ticks]
    )
    axes.minorticks_off()
    axes.tick_params(labelsize=SMALL)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=10.0, loc="left", pad=17.0)
    axes.legend(fontsize=SMALL, frameon=True, framealpha=0.8, edgecolor="none", handlelength=1.4)
    mark_given(axes, plan.assumptions.horizon, "planned", SMALL)


def _measured(index: int) -> dict[str, Any]:
    return line_style(index) | {"linewidth": 1.8, "markersize": 3.5}


def _horizon_limits(plan: Plan, curves: PlanCurves) -> tuple[float, float]:
    shown = [*curves.horizons, float(plan.assumptions.horizon)]
    return min(shown) / 1.5, 1.5 * max(shown)


def _count(number: float, space: str = "\n") -> str:
    for scale, name in SCALES:
        if number >= scale:
            return f"{number / scale:,.0f}{space}{name}"
    return f"{number:,.0f}"


WORDS = {
    "outsiders": "outsiders\nalone",
    "neutral": "neutral\nblocks",
    "recused": "recusal",
    "panel": "panels with\nequal seats",
    "committee": "the whole\ncommittee",
}
SMALL_WAYS = 9.0
ENOUGH, TOO_FEW = LIGHT["good"], LIGHT["bad"]
MOST_APART = 15.0  # the axis is logarithmic if one way takes so many times the choices of another


def draw_ways(plans: Sequence[Plan]) -> Any:
    """Draw the choices per way to judge, from plans that differ only in that."""
    given = plans[0].assumptions
    figure, axes = new_figure(width=7.2, height=1.35 + 0.66 * len(plans))
    start = _limit_ways(axes, plans)
    for row, plan in enumerate(plans):
        _draw_way(axes, plan, row, start)
    axes.set_ylim(len(plans) - 0.55, -0.75)
    axes.set_yticks(range(len(plans)), [WORDS[plan.assumptions.judges] for plan in plans])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(f"{plural(given.unit)} until one group is left", fontsize=SMALL_WAYS)
    mark_given(axes, given.horizon, f"there are {given.horizon:,}", SMALL_WAYS)
    title = f"{_question(plans[0])}: what it takes, by who judges"
    figure.suptitle(title, fontsize=11.0, fontweight="bold", x=0.01, ha="left")
    return figure


def _limit_ways(axes: Any, plans: Sequence[Plan]) -> float:
    """Set the limits of the axis of choices; return where it begins."""
    horizon = plans[0].assumptions.horizon
    most = max([plan.enough_choices or 0.0 for plan in plans] + [horizon])
    least = min([plan.needed.choices for plan in plans if plan.needed] + [horizon])
    start = 0.0
    if most > MOST_APART * least:
        axes.set_xscale("log")
        start = 0.5 * least
    axes.set_xlim(start, 1.12 * most if start == 0.0 else 1.6 * most)
    return start


def _draw_way(axes: Any, plan: Plan, row: int, start: float) -> None:
    """Draw a bar up to the average, a lighter one up to enough choices, and both in numbers."""
    from affinity_bandits.planning.sentences import tell_count

    color = ENOUGH if plan.enough else TOO_FEW
    most = plan.enough_choices
    text = "no number of choices is enough"
    if plan.needed is not None and most is not None:
        text = f"{tell_count(plan.needed.choices)} on average, {tell_count(most)} in 19 of 20 cases"
        text += "" if plan.enough else ": more than there are"
        for end, alpha in ((most, 0.35), (plan.needed.choices, 1.0)):
            axes.barh(
                row, end - start, left=start, height=0.34, color=color, alpha=alpha, linewidth=0
            )
    axes.annotate(
        text,
        (0.0, row - 0.2),
        (4.0, 1.0),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        va="bottom",
        fontsize=SMALL_WAYS,
        bbox={"facecolor": LIGHT["surface"], "edgecolor": "none", "pad": 1.0},
    )
