"""Figure 7: Efficient-UCBV and LUCB pull the wrong arm linearly often, Algorithm 1 does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from affinity_bandits.paper import rivals
from affinity_bandits.paper.evidence import mean_above, proportion_below
from affinity_bandits.paper.item import Claim, Data, Item, column
from affinity_bandits.plots.style import draw_estimates, new_figure
from affinity_bandits.simulation.intervals import mean_interval


def claims(data: Data) -> list[Claim]:
    """Judge whose pulls of arm 1 grow with n to the end of the horizon."""
    policy, gap, n = column(data, "policy"), column(data, "gap"), column(data, "horizon")
    pulls, late = column(data, "pulls"), column(data, "late_pulls")
    found = []
    for name, shown in rivals.RIVALS.items():
        largest = (policy == name) & (gap == gap.max())
        found += [
            mean_above(
                f"{shown} suffers linear regret when the gap of initial pulls is large "
                f"({gap.max():,}): E T_1(n) is more than n/2",
                rivals.LABEL,
                pulls[largest] / n[largest],
                0.5,
                (0.0, 1.0),
                " n",
            ),
            mean_above(
                f"{shown} still pulls arm 1 more often than not in the last tenth of the horizon",
                rivals.LABEL,
                late[largest] / (rivals.LAST_PART * n[largest]),
                0.5,
                (0.0, 1.0),
                " of those pulls",
            ),
        ]
    ours = policy == rivals.OURS
    found.append(
        proportion_below(
            "Algorithm 1 does not: at every gap shown it has stopped pulling arm 1 before the last "
            "tenth of the horizon",
            rivals.LABEL,
            int((late[ours] > 0).sum()),
            int(ours.sum()),
            0.1,
        )
    )
    return found


def draw(data: Data) -> Any:
    """Draw the mean of T_1(n) against the gap, with 95% intervals."""
    figure, axes = new_figure()
    policy, gap = column(data, "policy"), column(data, "gap")
    pulls, n = column(data, "pulls"), float(column(data, "horizon")[0])
    for i, (name, shown) in enumerate(rivals.NAMES.items()):
        mine = policy == name
        gaps = np.unique(gap[mine])
        bands = np.array([mean_interval(pulls[mine & (gap == x)], 0.0, n) for x in gaps])
        draw_estimates(axes, gaps, bands, i, shown)
    axes.axhline(n, color="0.4", linewidth=0.8, linestyle=":")
    axes.annotate("n", (0.005, n), xycoords=("axes fraction", "data"), va="bottom", color="0.3")
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.08 * n)
    axes.set_xlabel(r"gap of initial arm pulls, $T^0_{\mathrm{max}} - T^0_{\mathrm{min}}$")
    axes.set_ylabel("pulls of the suboptimal arm, mean $T_1(n)$")
    axes.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.5))
    return figure


ITEM = Item(
    identity="figure-7",
    title="Efficient-UCBV and LUCB pull the wrong arm linearly often, Algorithm 1 does not",
    labels=(rivals.LABEL,),
    notes=f"{rivals.NOTES} Bands are 95% intervals of the mean.",
    settings=rivals.SETTINGS,
    run=rivals.run,
    claims=claims,
    draw=draw,
)
