"""Courses as a picture, a film (GIF) or one page with a slider."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.base.looks import LIGHT, read_style
from affinity_bandits.base.progress import show_progress
from affinity_bandits.plots.loop.courses import Course, tell_status
from affinity_bandits.plots.style import GREY, GROUPS, SETTINGS, cut, need_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDTH, HEIGHT, DPI = 3.1, 4.4, 100  # of a course, in inches


def draw_moment(courses: Sequence[Course], groups: Sequence[str], place: int = -1) -> Figure:
    """Draw a moment of each course, and the moments before it; return the figure.

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
        axes.grid(visible=False)
        draw = _committee if number < len(courses) else _scores
        column = number % len(courses)
        draw(axes, courses[column], groups, place, first=column == 0)
    figure.suptitle(f"after {courses[0].choices[place]:,} choices", fontsize=10.5)


def _committee(
    axes: Any, course: Course, groups: Sequence[str], place: int, *, first: bool
) -> None:
    """Fill in the committee from the first moment to this one."""
    seen = place % len(course.choices) + 1
    axes.stackplot(
        course.choices[:seen],
        100.0 * course.shares[:seen].T,
        colors=[GROUPS[group % len(GROUPS)] for group in range(len(groups))],
        linewidth=0,
    )
    axes.set_xscale("log")
    ticks = [10**power for power in (1, 3, 5) if 10**power <= course.choices[-1]]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()  # most of the time that a frame takes is that of ticks
    axes.set_xlim(course.choices[0], course.choices[-1])
    axes.set_ylim(0, 100)
    axes.set_xlabel("choices so far", fontsize=8.5)
    if first:
        axes.set_ylabel("the committee, %")
    else:
        axes.set_yticklabels([])
    axes.set_title(course.name, fontsize=11, pad=18)
    axes.text(
        0.5,
        1.03,
        _caption(course, groups, place),
        transform=axes.transAxes,
        ha="center",
        va="bottom",
        fontsize=9,
        color=GREY,
    )


def _caption(course: Course, groups: Sequence[str], place: int) -> str:
    best = course.best
    if len(best) == len(groups):
        return "all groups are worth the same"
    named = cut(" and ".join(groups[group] for group in best))
    return f"{named}: {course.right[place]:.0%} of all choices"


def _scores(axes: Any, course: Course, groups: Sequence[str], place: int, *, first: bool) -> None:
    """Draw each group's mean score as a bar, and its true value as a line across it."""
    heights = [-float(group) for group in range(len(groups))]
    for group, height in enumerate(heights):
        score = float(course.scores[place, group])
        color = GROUPS[group % len(GROUPS)]
        if math.isnan(score):
            axes.text(0.01, height, "no longer chosen", va="center", fontsize=8, color=GREY)
        else:
            axes.barh(height, score, height=0.55, color=color, alpha=0.75)
        true = float(course.true_means[group])
        axes.plot([true, true], [height - 0.42, height + 0.42], color=LIGHT["ink"], linewidth=2.2)
    axes.set_yticks(heights, [cut(name, 16) for name in groups] if first else [""] * len(groups))
    axes.set_ylim(-len(groups) + 0.4, 0.6)
    axes.set_xlim(0, 1.15 * float(course.true_means.max()))
    axes.set_xlabel("score as seen (line: true value)", fontsize=8.5)


EVERY = 2  # moments from one frame to the next
MILLISECONDS = 120
AT_THE_END = 2_500  # milliseconds of each frame, and of the last
COLORS_KEPT = 64


def write_film(courses: Sequence[Course], groups: Sequence[str], path: Path) -> None:
    """Write a film of the courses.

    Args:
        courses: with the same groups and the same moments.
        groups: their names.
        path: a .gif file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    places = range((len(courses[0].choices) - 1) % EVERY, len(courses[0].choices), EVERY)
    frames: list[Any] = []
    figure = draw_moment(courses, groups)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    figure.set_layout_engine("none")  # where things stand is found once: it takes longest
    with show_progress(words=lambda: f"drawn: {len(frames)} of {len(places)} frames"):
        for place in places:
            draw_again(figure, courses, groups, place)
            canvas.draw()
            drawn = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3])
            frames.append(drawn.quantize(COLORS_KEPT))
    frames[0].save(
        path,
        save_all=True,
        append_images=frames[1:],
        duration=[MILLISECONDS] * (len(frames) - 1) + [AT_THE_END],
        loop=0,
    )


DIGITS = 4
FILES = resources.files("affinity_bandits.plots.loop")
COURSE_STYLE = FILES.joinpath("course.css")


def write_page(courses: Sequence[Course], groups: Sequence[str], path: str | Path) -> None:
    """Write the page to an .html file."""
    Path(path).write_text(page(courses, groups), encoding="utf-8")


def page(courses: Sequence[Course], groups: Sequence[str]) -> str:
    """Return the page as HTML.

    Args:
        courses: with the same groups and the same moments.
        groups: their names.
    """
    data = page_data(courses, groups)
    values = ", ".join(
        f"{escape(name)} {mean:g}" for name, mean in zip(groups, data["means"], strict=True)
    )
    found = courses[0].best
    named = " or ".join(groups[group] for group in found)
    best = f"So {named} should be chosen."
    if len(found) == len(groups):
        best = "All groups are worth the same, so no choice is wrong."
    return (
        FILES.joinpath("page.html")
        .read_text(encoding="utf-8")
        .replace("{{values}}", values)
        .replace("{{best}}", escape(best))
        .replace("{{style}}", read_style(COURSE_STYLE, FILES.joinpath("page.css")))
        .replace("{{version}}", escape(__version__))
        .replace("{{script}}", FILES.joinpath("course.js").read_text(encoding="utf-8"))
        # No name may end the script that it stands in.
        .replace("{{data}}", json.dumps(data).replace("<", "\\u003c"))
    )


def page_data(courses: Sequence[Course], groups: Sequence[str]) -> dict[str, Any]:
    """Return the data that course.js draws, ready for JSON."""
    means = courses[0].true_means
    return {
        "groups": list(groups),
        "colors": [f"var(--group-{place % len(GROUPS) + 1})" for place in range(len(groups))],
        "means": _numbers(means),
        "choices": courses[0].choices.tolist(),
        "courses": [
            {
                "name": one.name,
                "shares": [_numbers(row) for row in one.shares],
                "scores": [_numbers(row) for row in one.scores],
                "decided": one.decided > 0,
                "since": one.since,
                "status": tell_status(one, groups),
            }
            for one in courses
        ],
    }


def _numbers(row: Any) -> list[float | None]:
    """Return numbers that are short enough for a page; None for NaN."""
    return [None if math.isnan(one) else round(float(one), DIGITS) for one in row]
