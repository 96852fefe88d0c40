"""Shares over time: how the committee of an audited log changed from its first row to its last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affinity_bandits.plots.style import FOR_A_PAGE, cut, line_style, name_lines, new_figure

if TYPE_CHECKING:
    from affinity_bandits.audit.result import Audit

MOST_LINES = 8


def draw_shares(audit: Audit) -> Any:
    """Draw the share of each group in the committee, row by row; return the figure."""
    figure, axes = new_figure(width=FOR_A_PAGE, height=2.8)
    rows = [row for row, _ in audit.shares]
    order = sorted(range(len(audit.groups)), key=lambda place: -audit.groups[place].rows)
    lines = []
    for index, place in enumerate(order[:MOST_LINES]):
        share = [100.0 * shares[place] for _, shares in audit.shares]
        axes.plot(rows, share, **line_style(index))
        lines.append((share[-1], cut(audit.groups[place].name), index))
    name_lines(axes, rows[-1], lines)
    axes.set_xlim(0, rows[-1])
    axes.set_ylim(0, 100)
    axes.set_xlabel("scores given so far")
    axes.set_ylabel("share of those who\nmay judge, %")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure
