"""Scores against share, a panel a group: what the log has, and what a bonus would make of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from affinity_bandits.plots.style import COLOURS, FOR_A_PAGE, GREY, cut, new_figures

if TYPE_CHECKING:
    from affinity_bandits.audit.result import Audit, GroupLine
    from affinity_bandits.kernels import FloatArray

MOST_GROUPS = 6
IN_A_ROW = 2


def draw_scores(audit: Audit) -> Any:
    """Draw mean scores by share for each group with the fitted bonus and its set."""
    lines = sorted(audit.groups, key=lambda line: -line.rows)[:MOST_GROUPS]
    lines = [line for line in lines if line.cells]
    figure, panels = new_figures(len(lines), IN_A_ROW, FOR_A_PAGE, 2.5)
    for axes, line in zip(panels, lines, strict=True):
        _draw_group(axes, audit, line)
    for axes in panels[::IN_A_ROW]:
        axes.set_ylabel("mean score")
    return figure


def _draw_group(axes: Any, audit: Audit, line: GroupLine) -> None:
    share, mean, rows = (np.array(column, dtype=float) for column in zip(*line.cells, strict=True))
    size = 8.0 + 60.0 * rows / rows.max()
    axes.scatter(100.0 * share, mean, s=size, color=COLOURS[0], alpha=0.65, linewidth=0, zorder=3)
    low, high = float(share.min()), float(share.max())
    margin = max(0.02, 0.08 * (high - low))
    seen = np.linspace(max(0.0, low - margin), min(1.0, high + margin), 60)
    level = float(np.sum(rows * (mean - audit.lowest)) / rows.sum())
    centre = float(np.sum(rows * share) / rows.sum())
    if audit.bonus is not None:
        ends = [_curve(seen, centre, level, bonus) for bonus in audit.bonus]
        axes.fill_between(
            100.0 * seen,
            audit.lowest + np.minimum(*ends),
            audit.lowest + np.maximum(*ends),
            color=COLOURS[1],
            alpha=0.15,
            linewidth=0,
        )
    if audit.likely_bonus is not None:
        curve = audit.lowest + _curve(seen, centre, level, audit.likely_bonus)
        axes.plot(100.0 * seen, curve, color=COLOURS[1], linewidth=1.6)
    axes.axhline(audit.lowest + level, color=GREY, linestyle=":", linewidth=1.2)
    axes.set_title(f"{cut(line.name, 18)}, {line.rows:,} scores", fontsize=9.5, loc="left")
    axes.set_xlabel("share of judges, %")
    spread = max(float(mean.max() - mean.min()), 0.12 * audit.points)
    middle = 0.5 * float(mean.max() + mean.min())
    axes.set_ylim(
        max(audit.lowest - 0.02 * audit.points, middle - 0.8 * spread),
        min(audit.highest + 0.02 * audit.points, middle + 0.8 * spread),
    )


def _curve(share: FloatArray, centre: float, level: float, bonus: float) -> FloatArray:
    """Return what a bonus makes of a group's mean score, which is the level at its mean share."""
    slope = 1.0 if math.isinf(bonus) else bonus / (1.0 + bonus)
    return np.asarray(level * (1.0 - slope + slope * share) / (1.0 - slope + slope * centre))
