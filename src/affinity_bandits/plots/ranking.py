"""Policies in the order of their regret, with intervals and the ranks that are left to each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affinity_bandits.displays import brief
from affinity_bandits.plots.style import COLOURS, GREY, cut, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from affinity_bandits.simulation import Ranking

LOG_RATIO = 20.0
"""Of the largest mean regret to the smallest, from which on the axis is logarithmic."""


def draw_ranking(ranking: Ranking) -> Figure:
    """Draw mean regret with its interval, and each policy's rank or range of ranks.

    Policies that share a range of ranks cannot be told apart by paired differences; intervals of
    single policies may overlap where a pair is told apart.
    """
    ranked = ranking.policies
    figure, axes = new_figure(width=5.6, height=1.1 + 0.32 * len(ranked))
    for place, one in enumerate(ranked):
        mean, low, high = one.regret
        axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=2.2, alpha=0.45)
        axes.plot([mean], [place], "o", color=COLOURS[0], markersize=5.0)
        axes.annotate(
            f"{brief(mean)}   rank {one.rank}",
            (1.0, place),
            (6.0, 0.0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=GREY,
            annotation_clip=False,
        )
    axes.set_yticks(range(len(ranked)), [cut(one.label, 30) for one in ranked])
    axes.set_ylim(len(ranked) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    means = [one.regret[0] for one in ranked]
    lows = [one.regret[1] for one in ranked]
    if min(lows) > 0.0 and max(means) > LOG_RATIO * min(means):
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0.0)
    axes.set_xlabel(f"mean regret, {ranking.level:.0%} interval")
    return figure
