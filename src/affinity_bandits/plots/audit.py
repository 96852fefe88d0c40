"""Pictures of an audit: mean scores from own and other judges, and the size of the favor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affinity_bandits.base.looks import LIGHT
from affinity_bandits.plots.style import GREY, GROUPS, cut, new_figure

if TYPE_CHECKING:
    from affinity_bandits.audit.conclude import Audit, GroupScores

WIDTH = 4.4
"""Inches: text of a picture of this width can be read on a telephone."""
SIZE = 11.5
"""Points: 12 pixels on a telephone."""
DOT: dict[str, Any] = {"markersize": 8.0, "markeredgewidth": 2.0}
MOST_GROUPS = 10
"""Groups in a picture: those with the most scores."""


def draw_means(audit: Audit) -> Any:
    """Draw each group's mean score from judges of its own group and from other judges."""
    groups = sorted(audit.groups, key=lambda group: -group.scores)[:MOST_GROUPS]
    figure, axes = new_figure(WIDTH, 1.0 + 0.42 * len(groups))
    rows = range(len(groups))
    judged = any(group.own[0] or group.other[0] for group in groups)
    if judged:
        for row, group in zip(rows, groups, strict=True):
            ends = [mean for _, mean in (group.own, group.other) if mean is not None]
            axes.plot(ends, [row] * len(ends), color=GREY, linewidth=1.0, zorder=1)
        for row, group in zip(rows, groups, strict=True):
            color = _color(audit, group)
            for mean, inside in ((group.own[1], color), (group.other[1], LIGHT["surface"])):
                if mean is not None:
                    axes.plot([mean], [row], "o", color=color, markerfacecolor=inside, **DOT)
        axes.set_title("filled: own judges; hollow: other judges", fontsize=SIZE, color=GREY)
    else:
        for row, group in zip(rows, groups, strict=True):
            axes.plot([group.mean], [row], "o", color=_color(audit, group), **DOT)
    end = "" if audit.scale[0] < audit.scale[1] else f" ({audit.scale[1]:g} is the best)"
    axes.set_xlabel(f"mean score, in points{end}", fontsize=SIZE)
    _name_rows(axes, [group.name for group in groups])
    return figure


def draw_favor(audit: Audit) -> Any:
    """Draw the favor with its 95% interval: of all judges and, from three groups on, by group."""
    assert audit.favor is not None
    lines = [("all judges", audit.favor, LIGHT["ink"])]
    for group in sorted(audit.groups, key=lambda group: -group.scores):
        if group.favor is not None and len(lines) <= MOST_GROUPS:
            lines.append((group.name, group.favor, _color(audit, group)))
    figure, axes = new_figure(WIDTH, 0.9 + 0.42 * len(lines))
    axes.axvline(0.0, color=GREY, linestyle=":", linewidth=1.4)
    for row, (_, favor, color) in enumerate(lines):
        axes.plot([favor.low, favor.high], [row, row], color=color, linewidth=3.0)
        axes.plot([favor.points], [row], "o", color=color, markersize=7.0)
    more = "more" if audit.scale[0] < audit.scale[1] else "better"
    axes.set_xlabel(f"points {more}, with 95% intervals", fontsize=SIZE)
    _name_rows(axes, [name for name, _, _ in lines])
    return figure


def _color(audit: Audit, group: GroupScores) -> str:
    """Return the color that a group has in all pictures of the audit."""
    return GROUPS[audit.groups.index(group) % len(GROUPS)]


def _name_rows(axes: Any, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), [cut(name, 16) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(labelsize=SIZE)
    axes.ticklabel_format(axis="x", style="plain", useOffset=False)
