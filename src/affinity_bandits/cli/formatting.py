"""Figures as the terminal's tables show them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from affinity_bandits.displays import Interval, percents, short, span

WIDTH = 80
"""Columns of a text that is to be read on any terminal."""


def two_lines(found: Interval | None, of_runs: bool = False) -> str:
    """Return a figure, and on a second line its ends; a rate `of_runs` is in percent."""
    if found is None:
        return "-"
    parts = percents(found) if of_runs else (short(found[0]), span(found))
    return "{}\n[dim]{}[/]".format(*parts)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def wrapped(text: str, indent: str = "") -> str:
    """Return a text in lines of 80 columns, between whole words; later lines are indented."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
