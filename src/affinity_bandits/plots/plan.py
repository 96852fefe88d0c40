"""A plan at a glance: what can be told apart, how surely, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray
from affinity_bandits.plots.style import COLOURS, GREY, line_style, mark_given, new_panels

if TYPE_CHECKING:
    from affinity_bandits.planning import Plan

TITLES = (
    "How small a difference can be told apart",
    "How sure the answer is",
    "What it costs",
)
SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))
SMALL = 8.5
"""Font size of everything but titles."""
CLEAR = 80.0
"""Pixels from other lines beyond which a label gains nothing by moving further away."""
APART = 25.0
"""Pixels between two lines beyond which nobody takes the label of one for the other's."""
MARGIN, BESIDE = 6.0, 9.0
"""Pixels that a label keeps from everything, and that lie between it and its own line."""
SIDES = ((0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0))
"""Where a label may stand beside its line: of equally good places, the first is taken."""


class PlanCurves(NamedTuple):
    """What is drawn of a plan, over the number of choices available.

    The smallest difference that can be told apart is nan where none can.
    """

    horizons: FloatArray
    detectable: FloatArray
    undecided_percent: FloatArray
    wrong_percent: FloatArray
    choices: FloatArray
    choices_95: FloatArray


def plan_curves(plan: Plan) -> PlanCurves:
    """Return what is drawn of a plan."""
    points = plan.reach
    return PlanCurves(
        np.array([point.horizon for point in points], dtype=float),
        np.array([math.nan if p.detectable is None else p.detectable for p in points], dtype=float),
        100.0 * np.array([point.undecided for point in points], dtype=float),
        100.0 * np.array([point.wrong for point in points], dtype=float),
        np.array([point.choices for point in points], dtype=float),
        np.array([point.choices_95 for point in points], dtype=float),
    )


def draw_plan(plan: Plan) -> Any:
    """Draw what a plan can tell apart, how surely and at what cost; return the figure."""
    # A plan exists, so its room is loaded; without one, pictures should not load it.
    from affinity_bandits.planning.reach import RUNS

    figure, panels = new_panels(1, 3, 10.4, 4.0)
    curves = plan_curves(plan)
    labels = [
        draw(axes, plan, curves)
        for draw, axes in zip((_draw_differences, _draw_sureness, _draw_costs), panels, strict=True)
    ]
    for axes, title in zip(panels, TITLES, strict=True):
        _finish(axes, plan, curves, title)
    figure.suptitle(_headline(plan), fontsize=11.5, fontweight="bold", x=0.01, ha="left")
    figure.supxlabel(
        "One choice is one person or item chosen. Simulated in the hardest world that is assumed, "
        f"{RUNS} runs a point.\nThe wrong group is kept in at most {100.0 * plan.failure:.2g}% of "
        "runs whatever the bias: that is proven.",
        fontsize=SMALL,
        color=GREY,
        x=0.01,
        ha="left",
    )
    figure.draw_without_rendering()  # labels are placed where the layout leaves room
    for axes, named in zip(panels, labels, strict=True):
        _place(axes, named)
    return figure


def _headline(plan: Plan) -> str:
    wanted = plan.assumptions
    asked = f"{wanted.groups} groups, differences of at least {wanted.smallest_difference:g}"
    if plan.enough:
        return f"{asked}: plan for {wanted.horizon:,} choices"
    # A number that suffices was found with runs of its own: where it is close, it may be the
    # planned one.
    if plan.sufficient is None or plan.sufficient <= wanted.horizon:
        return f"{asked}: {wanted.horizon:,} choices are too few"
    return f"{asked}: {wanted.horizon:,} choices are too few, about {plan.sufficient:,} would do"


def _draw_differences(axes: Any, plan: Plan, curves: PlanCurves) -> dict[str, Any]:
    """Draw the smallest difference that is told apart; return the lines to be labelled."""
    told = np.isfinite(curves.detectable)
    matters = plan.assumptions.smallest_difference
    (found,) = axes.plot(curves.horizons[told], curves.detectable[told], marker="o", **_measured(0))
    line = axes.axhline(matters, **_given())
    axes.set_yscale("log")
    shown = [*curves.detectable[told], matters]
    if not told.any():
        shown.append(plan.assumptions.best_mean - plan.assumptions.lowest)
        axes.text(
            0.5,
            0.85,
            "no difference is told apart\nwith these numbers of choices",
            transform=axes.transAxes,
            color=COLOURS[0],
            fontsize=SMALL,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.0},
        )
    _limit(axes, shown, below=1.6, above=1.6)
    axes.set_yticks(ticks := _ticks(*axes.get_ylim()), [f"{tick:g}" for tick in ticks])
    axes.set_xlabel("choices in all", fontsize=SMALL)
    axes.set_ylabel("difference in scores at equal shares", fontsize=SMALL)
    return {"difference\nthat matters": line, "told apart in\n19 of 20 runs": found}


def _draw_sureness(axes: Any, plan: Plan, curves: PlanCurves) -> dict[str, Any]:
    """Draw how often there is no answer or a wrong one; return the lines to be labelled."""
    failure = plan.assumptions.failure
    line = axes.axhline(100.0 * failure, **_given())
    (undecided,) = axes.plot(curves.horizons, curves.undecided_percent, marker="o", **_measured(0))
    (wrong,) = axes.plot(curves.horizons, curves.wrong_percent, marker="s", **_measured(1))
    axes.set_ylim(-13.0, 105.0)  # room for a label below a line at 0
    axes.set_yticks(ticks := range(0, 101, 20), [f"{tick}%" for tick in ticks])
    axes.set_xlabel("choices in all", fontsize=SMALL)
    axes.set_ylabel("percent of runs", fontsize=SMALL)
    rare = f"1 in {_count(round(1.0 / failure), ' ')}"
    tolerated = f"{100.0 * failure:g}%, as asked" if failure >= 1e-4 else rare
    return {
        "wrong group kept": wrong,
        f"wrong at most\n{tolerated}": line,
        "no decision yet": undecided,
    }


def _draw_costs(axes: Any, plan: Plan, curves: PlanCurves) -> dict[str, Any]:
    """Draw how many choices comparing takes; return the lines to be labelled."""
    wide = [*curves.horizons[:1], _horizon_limits(plan, curves)[1]]
    (everything,) = axes.plot(wide, wide, **_given())
    (mean,) = axes.plot(curves.horizons, curves.choices, marker="o", **_measured(0))
    (most,) = axes.plot(curves.horizons, curves.choices_95, marker="s", **_measured(1))
    axes.set_yscale("log")
    spent = [*curves.choices, *curves.choices_95] or [float(plan.assumptions.horizon)]
    # Choices that are left over would otherwise take most of the height.
    _limit(axes, spent, below=1.3, above=max(5.0, (max(spent) / min(spent)) ** 0.3))
    axes.set_yticks(ticks := _ticks(*axes.get_ylim()), [_count(tick, " ") for tick in ticks])
    axes.set_xlabel("choices available", fontsize=SMALL)
    axes.set_ylabel("choices spent comparing", fontsize=SMALL)
    return {
        "at most this in\n19 of 20 runs": most,
        "average": mean,
        "everything\nyou have": everything,
    }


def _finish(axes: Any, plan: Plan, curves: PlanCurves, title: str) -> None:
    """Apply what all panels have in common."""
    axes.set_xscale("log")
    axes.set_xlim(*_horizon_limits(plan, curves))
    axes.set_xticks(ticks := _ticks(*axes.get_xlim(), dense=False), [_count(t) for t in ticks])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(_no_locator())
    axes.tick_params(labelsize=SMALL)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=10.0, loc="left", pad=17.0)
    mark_given(axes, plan.assumptions.horizon, "planned", SMALL)


def _measured(index: int) -> dict[str, Any]:
    return line_style(index) | {"linewidth": 1.8, "markersize": 3.5}


def _given() -> dict[str, Any]:
    return {"color": GREY, "linestyle": (0, (5, 3)), "linewidth": 1.2, "zorder": 1.8}


def _no_locator() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _horizon_limits(plan: Plan, curves: PlanCurves) -> tuple[float, float]:
    shown = [*curves.horizons, float(plan.assumptions.horizon)]
    return min(shown) / 1.5, 1.5 * max(shown)


def _limit(axes: Any, values: Sequence[float], below: float, above: float) -> None:
    axes.set_ylim(min(values) / below, above * max(values))


def _ticks(low: float, high: float, *, dense: bool = True) -> list[float]:
    """Return powers of ten; their doubles and halves too where there would be few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if dense and math.log10(high / low) < 2.5 else (1,)
    ticks = [step * 10.0**decade for decade, step in product(decades, steps)]
    return [tick for tick in ticks if low <= tick <= high]


def _count(number: float, space: str = "\n") -> str:
    """Return a number of choices in words that fit an axis."""
    for scale, name in SCALES:
        if number >= scale:
            return f"{number / scale:,.0f}{space}{name}"
    return f"{number:,.0f}"


def _place(axes: Any, named: dict[str, Any]) -> None:
    """Write a label beside each line, in its colour, where it touches no line and no label."""
    frame = axes.get_window_extent()
    paths = {line: _samples(line, frame) for line in axes.lines}
    taken: list[FloatArray] = []
    for label, line in named.items():
        if len(paths[line]) == 0:
            continue
        text = axes.text(
            0.5,
            0.5,
            label,
            transform=axes.transAxes,
            color=line.get_color(),
            fontsize=SMALL,
            ha="center",
            va="center",
            linespacing=1.1,
        )
        text.set_in_layout(False)
        size = text.get_window_extent()
        others = [path for other, path in paths.items() if other is not line]
        centre = _best_place(paths[line], others, taken, (size.width, size.height), frame)
        text.set_position(axes.transAxes.inverted().transform(centre))
        half = 0.5 * np.array([size.width, size.height])
        taken.append(np.array([centre - half, centre + half]))


def _samples(line: Any, frame: Any) -> FloatArray:
    """Return points along a line, in pixels, as far as they are in the frame."""
    corners = line.get_transform().transform(line.get_xydata())
    if len(corners) == 0:
        return np.empty((0, 2))
    pieces = [corners[:1]]
    for start, end in pairwise(corners):
        count = 1 + int(np.hypot(*(end - start)) / 3.0)
        pieces.append(start + np.linspace(0.0, 1.0, count + 1)[1:, None] * (end - start))
    points = np.concatenate(pieces)
    inside = (points >= [frame.x0 - 1, frame.y0 - 1]) & (points <= [frame.x1 + 1, frame.y1 + 1])
    return np.asarray(points[inside.all(axis=1)])


def _best_place(
    own: FloatArray,
    others: Sequence[FloatArray],
    taken: Sequence[FloatArray],
    size: tuple[float, float],
    frame: Any,
) -> FloatArray:
    """Return the centre, beside its own line, from which a label is furthest from the others.

    Where lines run together, a label could belong to any of them: a part of its own line that is
    far from the others is better.
    """
    half = 0.5 * np.array(size)
    low, high = frame.min + half + MARGIN, frame.max - half - MARGIN
    foreign = np.concatenate([*others, np.empty((0, 2))])
    best, best_score = own[0], -math.inf
    for anchor, side in product(own[::4], SIDES):
        wanted = anchor + np.array(side) * (half + BESIDE)
        centre = np.clip(wanted, low, high)
        clear = min(_distance(foreign, centre, half), CLEAR)
        for corner, opposite in taken:
            between = np.maximum(np.maximum(corner - centre, centre - opposite) - half, 0.0)
            clear = min(clear, float(np.hypot(*between)))
        score = clear + min(_distance(foreign, anchor, np.zeros(2)), APART)
        if (centre != wanted).any():  # out of the frame: moved back, perhaps away from its line
            score -= 500.0
        if clear < MARGIN or _distance(own, centre, half) < MARGIN:
            score -= 1000.0
        if score > best_score:
            best, best_score = centre, score
    return np.asarray(best)


def _distance(points: FloatArray, centre: FloatArray, half: FloatArray) -> float:
    """Return how far a box is from the nearest of some points."""
    outside = np.maximum(np.abs(points - centre) - half, 0.0)
    return float(np.hypot(outside[:, 0], outside[:, 1]).min(initial=math.inf))
