"""Pictures of an audit: mean scores from own and other judges, and the size of the favor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affinity_bandits.plots.style import COLORS, GREY, cut, new_figure

if TYPE_CHECKING:
    from affinity_bandits.audit.conclude import Audit

WIDTH = 4.4
"""Inches: text of a picture of this width can be read on a telephone."""
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
        for part, marker, color, label in (
            ("own", "o", COLORS[1], "own judges"),
            ("other", "s", COLORS[0], "other judges"),
        ):
            means = [getattr(group, part)[1] for group in groups]
            known = [(mean, row) for mean, row in zip(means, rows, strict=True) if mean is not None]
            axes.plot(
                *zip(*known, strict=True) if known else ([], []), marker, color=color, label=label
            )
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=8.5
        )
    else:
        axes.plot([group.mean for group in groups], list(rows), "o", color=COLORS[0])
    end = "" if audit.scale[0] < audit.scale[1] else f" ({audit.scale[1]:g} is the best)"
    axes.set_xlabel(f"mean score, in points{end}")
    _name_rows(axes, [group.name for group in groups])
    return figure


def draw_favor(audit: Audit) -> Any:
    """Draw the favor with its 95% interval: of all judges and, from three groups on, by group."""
    assert audit.favor is not None
    groups = [group for group in audit.groups if group.favor is not None]
    groups = sorted(groups, key=lambda group: -group.scores)[:MOST_GROUPS]
    lines = [("all judges", audit.favor), *((g.name, g.favor) for g in groups)]
    figure, axes = new_figure(WIDTH, 0.9 + 0.42 * len(lines))
    axes.axvline(0.0, color=GREY, linestyle=":", linewidth=1.4)
    for row, (_, favor) in enumerate(lines):
        assert favor is not None
        color = COLORS[1] if row == 0 else COLORS[0]
        axes.plot([favor.low, favor.high], [row, row], color=color, linewidth=3.0)
        axes.plot([favor.points], [row], "o", color=color, markersize=7.0)
    more = "more" if audit.scale[0] < audit.scale[1] else "better"
    axes.set_xlabel(f"points {more}, with 95% intervals")
    _name_rows(axes, [name for name, _ in lines])
    return figure


def _name_rows(axes: Any, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), [cut(name, 16) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.ticklabel_format(axis="x", style="plain", useOffset=False)
