"""Courses as one page with a slider: it needs no network and no other file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from affinity_bandits._version import __version__
from affinity_bandits.plots.style import COLOURS
from affinity_bandits.show.courses import Course

DIGITS = 4


def write_page(courses: Sequence[Course], groups: Sequence[str], path: str | Path) -> None:
    """Write the page to an .html file."""
    Path(path).write_text(page(courses, groups), encoding="utf-8")


def page(courses: Sequence[Course], groups: Sequence[str]) -> str:
    """Return the page as HTML.

    Args:
        courses: with the same groups and the same moments.
        groups: their names.
    """
    means = courses[0].true_means
    best = int(means.argmax())
    data = {
        "groups": list(groups),
        "colours": [COLOURS[place % len(COLOURS)] for place in range(len(groups))],
        "means": _numbers(means),
        "best": best,
        "choices": courses[0].choices.tolist(),
        "courses": [
            {
                "name": one.name,
                "shares": [_numbers(row) for row in one.shares],
                "scores": [_numbers(row) for row in one.scores],
                "right": _numbers(one.right),
            }
            for one in courses
        ],
    }
    values = ", ".join(f"{escape(name)} {mean:g}" for name, mean in zip(groups, means, strict=True))
    template = resources.files("affinity_bandits.show").joinpath("page.html")
    return (
        template.read_text(encoding="utf-8")
        .replace("{{values}}", values)
        .replace("{{best}}", escape(groups[best]))
        .replace("{{version}}", escape(__version__))
        # No name may end the script that it stands in.
        .replace("{{data}}", json.dumps(data).replace("<", "\\u003c"))
    )


def _numbers(row: Any) -> list[float | None]:
    """Return numbers that are short enough for a page; None where there is none."""
    return [None if math.isnan(one) else round(float(one), DIGITS) for one in row]
