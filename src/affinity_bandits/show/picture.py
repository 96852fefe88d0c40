"""One moment of several courses side by side: the committee above, scores and true values below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from affinity_bandits.plots.style import COLOURS, GREY, SETTINGS, cut, need_matplotlib
from affinity_bandits.show.courses import Course

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 3.1
HEIGHT = 4.4
"""Inches of a course."""
DPI = 100


def draw_moment(courses: Sequence[Course], groups: Sequence[str], place: int = -1) -> Figure:
    """Draw a moment of each course, and what went before it; return the figure.

    Args:
        courses: with the same groups and the same moments.
        groups: their names.
        place: which moment; -1 is the last.
    """
    need_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = SETTINGS
    with mpl.rc_context(settings):
        figure = Figure(figsize=(WIDTH * len(courses), HEIGHT), layout="constrained", dpi=DPI)
        figure.subplots(2, len(courses), height_ratios=(1.0, 0.25 + 0.22 * len(groups)))
        draw_again(figure, courses, groups, place)
    return figure


def draw_again(
    figure: Figure, courses: Sequence[Course], groups: Sequence[str], place: int
) -> None:
    """Draw another moment into a figure that `draw_moment` made."""
    for number, axes in enumerate(figure.axes):
        axes.clear()
        draw = _committee if number < len(courses) else _scores
        column = number % len(courses)
        draw(axes, courses[column], groups, place, first=column == 0)
    figure.suptitle(f"after {courses[0].at(place).choices:,} choices", fontsize=10.5)


def _committee(
    axes: Any, course: Course, groups: Sequence[str], place: int, *, first: bool
) -> None:
    """Fill in the committee from the first moment to this one."""
    seen = place % len(course.choices) + 1
    axes.stackplot(
        course.choices[:seen],
        100.0 * course.shares[:seen].T,
        colors=[COLOURS[group % len(COLOURS)] for group in range(len(groups))],
        linewidth=0,
    )
    axes.set_xscale("log")
    axes.minorticks_off()  # most of the time that a frame takes is that of ticks
    axes.set_xlim(course.choices[0], course.choices[-1])
    axes.set_ylim(0, 100)
    axes.set_xlabel("choices so far", fontsize=8.5)
    if first:
        axes.set_ylabel("the committee, %")
    else:
        axes.set_yticklabels([])
    best = groups[int(course.true_means.argmax())]
    axes.set_title(course.name, fontsize=11, pad=18)
    axes.text(
        0.5,
        1.03,
        f"{cut(best)}: {course.at(place).right:.0%} of all choices",
        transform=axes.transAxes,
        ha="center",
        va="bottom",
        fontsize=9,
        color=GREY,
    )


def _scores(axes: Any, course: Course, groups: Sequence[str], place: int, *, first: bool) -> None:
    """Draw each group's mean score as a bar, and its true value as a line across it."""
    moment = course.at(place)
    heights = [-float(group) for group in range(len(groups))]
    for group, height in enumerate(heights):
        score = float(moment.scores[group])
        colour = COLOURS[group % len(COLOURS)]
        if math.isnan(score):
            axes.text(0.01, height, "not chosen of late", va="center", fontsize=8, color=GREY)
        else:
            axes.barh(height, score, height=0.55, color=colour, alpha=0.75)
        true = float(course.true_means[group])
        axes.plot([true, true], [height - 0.42, height + 0.42], color="black", linewidth=2.2)
    axes.set_yticks(heights, [cut(name, 16) for name in groups] if first else [""] * len(groups))
    axes.set_ylim(-len(groups) + 0.4, 0.6)
    axes.set_xlim(0, 1.15 * float(course.true_means.max()))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("score as seen (line: true value)", fontsize=8.5)
