"""Ways to judge beside each other: how many choices each takes, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from affinity_bandits.plots.style import COLOURS, mark_given, new_figure

if TYPE_CHECKING:
    from affinity_bandits.planning import Plan

WORDS = {
    "strangers": "strangers only",
    "panel": "panels with\nequal seats",
    "committee": "the whole\ncommittee",
}
SMALL = 9.0
ENOUGH, TOO_FEW = COLOURS[0], COLOURS[1]
MOST_APART = 15.0
"""Where one way takes so many times the choices of another, the axis is logarithmic."""


def draw_ways(plans: Sequence[Plan]) -> Any:
    """Draw what each way to judge takes, plans that differ in nothing else; return the figure."""
    given = plans[0].assumptions
    figure, axes = new_figure(width=7.2, height=1.35 + 0.66 * len(plans))
    start = _limit(axes, plans)
    for row, plan in enumerate(plans):
        _draw_way(axes, plan, row, start)
    axes.set_ylim(len(plans) - 0.55, -0.75)
    axes.set_yticks(range(len(plans)), [WORDS[plan.assumptions.judges] for plan in plans])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("choices until one group is left", fontsize=SMALL)
    mark_given(axes, given.horizon, f"there are {given.horizon:,}", SMALL)
    figure.suptitle(_headline(plans), fontsize=11.0, fontweight="bold", x=0.01, ha="left")
    return figure


def _limit(axes: Any, plans: Sequence[Plan]) -> float:
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
    """Draw a bar up to the average, a lighter one up to what is enough, and both in numbers."""
    colour = ENOUGH if plan.enough else TOO_FEW
    most = plan.enough_choices
    text = "no number of choices is enough"
    if plan.needed is not None and most is not None:
        text = f"{plan.needed.choices:,.0f} on average, {most:,.0f} in 19 of 20 cases"
        text += "" if plan.enough else ": more than there are"
        for end, alpha in ((most, 0.35), (plan.needed.choices, 1.0)):
            axes.barh(
                row, end - start, left=start, height=0.34, color=colour, alpha=alpha, linewidth=0
            )
    axes.annotate(
        text,
        (0.0, row - 0.2),
        (4.0, 1.0),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        va="bottom",
        fontsize=SMALL,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )


def _headline(plans: Sequence[Plan]) -> str:
    given = plans[0].assumptions
    asked = f"{given.groups} groups, differences of at least {given.smallest_difference:g}"
    return f"{asked}: what it takes, by who judges"
