"""Figure 6: Algorithm 1 finds the best arm where Efficient-UCBV and LUCB do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from affinity_bandits.paper import rivals
from affinity_bandits.paper.evidence import proportion_above, proportion_below
from affinity_bandits.paper.item import Claim, Data, Item, column
from affinity_bandits.plots.style import draw_estimates, new_figure
from affinity_bandits.simulation.intervals import proportion_interval


def claims(data: Data) -> list[Claim]:
    """Judge who pulls arm 1 more than half of the time, and where."""
    policy, gap = column(data, "policy"), column(data, "gap")
    wrong = column(data, "pulls") > column(data, "horizon") / 2
    ours = policy == rivals.OURS
    found = [
        proportion_below(
            "Algorithm 1 succeeds: at no gap shown does it pull arm 1 more than half of the time",
            rivals.LABEL,
            int(wrong[ours].sum()),
            int(ours.sum()),
            0.1,
        )
    ]
    for name, shown in rivals.RIVALS.items():
        largest = (policy == name) & (gap == gap.max())
        found.append(
            proportion_above(
                f"{shown} pulls arm 1 more than half of the time in most runs when the gap of "
                f"initial pulls is large ({gap.max():,})",
                rivals.LABEL,
                int(wrong[largest].sum()),
                int(largest.sum()),
                0.5,
            )
        )
    return found


def draw(data: Data) -> Any:
    """Draw the fraction of failed runs against the gap, with exact 95% intervals."""
    figure, axes = new_figure()
    policy, gap = column(data, "policy"), column(data, "gap")
    wrong = column(data, "pulls") > column(data, "horizon") / 2
    for i, (name, shown) in enumerate(rivals.NAMES.items()):
        mine = policy == name
        gaps = np.unique(gap[mine])
        runs = [wrong[mine & (gap == one)] for one in gaps]
        intervals = np.array([proportion_interval(int(flags.sum()), len(flags)) for flags in runs])
        draw_estimates(axes, gaps, intervals, i, shown)
    axes.set_xscale("log")
    axes.set_xlabel(r"gap of initial arm pulls, $T^0_{\mathrm{max}} - T^0_{\mathrm{min}}$")
    axes.set_ylabel("fraction of runs with $T_1(n) > n/2$")
    axes.set_ylim(-0.02, 1.02)
    axes.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.5))
    return figure


ITEM = Item(
    identity="figure-6",
    title="Algorithm 1 succeeds where Efficient-UCBV and LUCB mostly pull the wrong arm",
    labels=(rivals.LABEL,),
    notes=f"{rivals.NOTES} Bands are exact 95% intervals.",
    settings=rivals.SETTINGS,
    run=rivals.run,
    claims=claims,
    draw=draw,
)
