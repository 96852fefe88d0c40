"""Charts as SVG text.

Positions are percentages of the width and pixels of the height, so charts fit any page. Colors are
classes of style.css or attributes of shapes, since inline styles would need a weaker content
security policy. Labels are escaped; shapes consist of numbers and names of this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup, escape

COLORS = 4
"""Number of group colors, the classes group-1 to group-4; further groups have them hatched."""
MOST_TICKS = 12
MOST_SPACED = 30
"""Columns with wide gaps between them: with more, there would be more gap than column."""


Part = Literal["absent", "played", "dropped", "open", "chosen"]
"""What a group did in a round."""


def answer_bar(part: float, label: str) -> Markup:
    """Return a bar that is filled to a fraction of its width."""
    drawn = '<rect class="track" width="100%" height="10" rx="5"/>'
    if part > 0:
        drawn += f'<rect class="fill" width="{_percent(part)}" height="10" rx="5"/>'
    return _svg("progress", 10, label, drawn)


def odds_bar(part: float, kind: str, ticks: Sequence[float], label: str) -> Markup:
    """Return a bar that is filled to a fraction of its width, with lines at some of them."""
    drawn = '<rect class="track" y="5" width="100%" height="14" rx="3"/>'
    if part > 0:
        drawn += f'<rect class="{kind}" y="5" width="{_percent(part)}" height="14" rx="3"/>'
    for tick in ticks:
        x = _percent(tick)
        drawn += f'<line class="tick" x1="{x}" x2="{x}" y1="5" y2="19"/>'
    return _svg("odds", 24, label, drawn)


def timeline(parts: Sequence[Part], progress: float, label: str) -> Markup:
    """Return a group's row: a bar for each round it took part in, a cross where it was dropped."""
    drawn = []
    width = 1.0 / len(parts)
    for place, part in enumerate(parts):
        start = place * width
        if part == "open":
            drawn.append(_bar('class="track"', start, width, 4, 16))
            if progress > 0:
                drawn.append(_bar('class="fill"', start, width * min(progress, 1.0), 4, 16))
                # Once more around the whole, so that the gaps between rounds stay even.
                drawn.append(_bar('class="outline"', start, width, 4, 16))
        elif part != "absent":
            kind = "chosen" if part == "chosen" else "fill"
            drawn.append(_bar(f'class="{kind}"', start, width, 4, 16))
        if part == "dropped":
            # Inside the bar's end, so that it has room in the last column too.
            drawn.append(
                f'<svg x="{_percent(start + width)}" y="4" class="mark">'
                '<rect x="-20" width="20" height="16"/><path d="M-14 4 l8 8 m0 -8 l-8 8"/></svg>'
            )
    return _svg(_dense("timeline", len(parts)), 24, label, "".join(drawn))


def column_labels(labels: Sequence[str]) -> Markup:
    """Return the labels of columns, as many as fit; text elsewhere says the same."""
    step = -(-len(labels) // MOST_TICKS)
    drawn = "".join(
        f'<text x="{_percent((place + 0.5) / len(labels))}" y="12">{escape(label)}</text>'
        for place, label in enumerate(labels)
        if place % step == 0
    )
    return Markup(
        f'<svg class="chart labels" width="100%" height="16" aria-hidden="true">{drawn}</svg>'
    )


def interval(ends: Sequence[float], kind: str, tolerated: float | None, label: str) -> Markup:
    """Return a mean with its interval, and the line below which groups were dropped.

    It is as tall as its row, so that the line runs through all rows of a table.
    """
    drawn = ""
    if tolerated is not None and 0.0 < tolerated <= 1.0:
        x = _percent(tolerated)
        drawn += (
            f'<rect class="beyond" width="{x}" height="100%"/>'
            f'<line class="limit" x1="{x}" x2="{x}" y1="0" y2="100%"/>'
        )
    low, mean, high = map(_percent, ends)
    drawn += f'<line class="whisker {kind}" x1="{low}" x2="{high}" y1="50%" y2="50%"/>'
    for end in (low, high):
        line = f'<line class="whisker {kind}" y1="-5" y2="5"/>'
        drawn += f'<svg class="mark" x="{end}" y="50%">{line}</svg>'
    drawn += f'<circle class="{kind}" cx="{mean}" cy="50%" r="5"/>'
    return _svg("interval", "100%", label, drawn)


def scale_ends(low: str, high: str) -> Markup:
    """Return the labels at the two ends of a scale."""
    return Markup(
        '<svg class="chart scale" width="100%" height="16" aria-hidden="true">'
        f'<text x="0" y="12">{escape(low)}</text>'
        f'<text class="end" x="100%" y="12">{escape(high)}</text></svg>'
    )


def shares(columns: Sequence[Sequence[float]], others: bool, label: str) -> Markup:
    """Return stacked columns with the share of each group, first group on top.

    Args:
        columns: shares by moment; each column sums to 1.
        others: whether the last share is that of all unnamed groups.
        label: the same in words.
    """
    height = 200
    drawn = [_hatches()] if any(len(column) - others > COLORS for column in columns) else []
    width = 1.0 / len(columns)
    for place, column in enumerate(columns):
        top = 0.0
        for group, share in enumerate(column):
            if share > 0:
                last = others and group == len(column) - 1
                paint = 'class="others"' if last else _fill(group)
                drawn.append(_bar(paint, place * width, width, top, share * height))
                top += share * height
    return _svg(_dense("shares", len(columns)), height, label, "".join(drawn))


def swatch(group: int) -> Markup:
    """Return the color of a group in `shares`, for a legend."""
    return Markup(
        '<svg class="chart swatch" width="14" height="14" aria-hidden="true">'
        f'<rect {_fill(group)} width="14" height="14" rx="3"/></svg>'
    )


def _hatches() -> str:
    """Return the hatch patterns for groups that share a color; a page has them once."""
    patterns = (
        f'<pattern id="hatch-{number}" width="6" height="6" patternUnits="userSpaceOnUse"'
        f' patternTransform="rotate(45)"><rect class="group-{number}" width="4" height="6"/>'
        "</pattern>"
        for number in range(1, COLORS + 1)
    )
    return f"<defs>{''.join(patterns)}</defs>"


def _fill(group: int) -> str:
    """Return the attribute that colors a group."""
    again, number = divmod(group, COLORS)
    return f'fill="url(#hatch-{number + 1})"' if again else f'class="group-{number + 1}"'


def _dense(kind: str, columns: int) -> str:
    """Return the CSS classes of a picture, whose gaps are narrow where it has many columns."""
    return f"{kind} dense" if columns > MOST_SPACED else kind


def _svg(kind: str, height: int | str, label: str, drawn: str) -> Markup:
    return Markup(
        f'<svg class="chart {kind}" role="img" aria-label="{escape(label)}" width="100%"'
        f' height="{height}">{drawn}</svg>'
    )


def _bar(paint: str, start: float, width: float, top: float, tall: float) -> str:
    return (
        f'<rect {paint} x="{_percent(start)}" y="{top:.2f}" width="{_percent(width)}"'
        f' height="{tall:.2f}"/>'
    )


def _percent(part: float) -> str:
    return f"{100.0 * part:.2f}%"
