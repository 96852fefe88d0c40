"""Figure 9: the pulls of the suboptimal arm scale as 1 / Delta^2."""

from __future__ import annotations

from typing import Any

import numpy as np

from affinity_bandits.kernels import FloatArray
from affinity_bandits.paper import gaps
from affinity_bandits.paper.evidence import LEVEL, TWO_SIDED, student_interval
from affinity_bandits.paper.item import Claim, Data, Item
from affinity_bandits.plots.style import COLOURS, draw_band, new_figure
from affinity_bandits.simulation.intervals import middle_runs

LABEL = "fig:scaleGapInv"
SLOPES = (0.85, 1.15)
"""Room for what is not noise: a whole number of octaves of steps bends a fitted slope by less
than .05, and the slowly growing logarithm in m_r by as much again."""


def slopes(data: Data) -> FloatArray:
    """Return, for every run, the slope of log T_1 against log(1 / Delta^2)."""
    x = -2.0 * np.log(gaps.by_run(data, "gap")[:, 0])
    y = np.log(gaps.by_run(data, "pulls"))
    x = x - x.mean()
    fitted: FloatArray = x @ y / (x @ x)
    return fitted


def claims(data: Data) -> list[Claim]:
    """Judge the exponent."""
    mean, low, high = (float(end) for end in student_interval(slopes(data), TWO_SIDED))
    return [
        Claim(
            "The expected plays of the suboptimal arm scale proportionally to 1/Delta^2",
            LABEL,
            f"Student's bounds of the slope of log T_1 against log(1/Delta^2), over a whole number "
            f"of octaves, inside [{SLOPES[0]:g}, {SLOPES[1]:g}], level {LEVEL:.1%} each",
            f"slope {mean:.4g}, bounds {low:.4g} and {high:.4g}",
            SLOPES[0] < low and high < SLOPES[1],
        )
    ]


def draw(data: Data) -> Any:
    """Draw the mean pulls against 1/Delta^2, with the runs around it and a line of slope 1."""
    figure, axes = new_figure()
    x = gaps.by_run(data, "gap")[:, 0] ** -2.0
    pulls = gaps.by_run(data, "pulls")
    mean = pulls.mean(axis=1)
    _, low, high = middle_runs(pulls, axis=1)
    scale = np.exp(np.mean(np.log(mean / x)))
    axes.plot(
        x,
        scale * x,
        color="0.35",
        linewidth=1.2,
        linestyle="--",
        label=r"proportional to $1/\Delta^2$",
    )
    draw_band(axes, x, low, high, COLOURS[0])
    axes.plot(x, mean, color=COLOURS[0], marker=".", markersize=4, label="Algorithm 1")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(mean.min() / 2.0, mean.max() * 2.0)
    axes.set_xlabel(r"$1 / \Delta^2$")
    axes.set_ylabel("pulls of the suboptimal arm, mean $T_1(n)$")
    axes.legend(frameon=False, loc="upper left")
    return figure


ITEM = Item(
    identity="figure-9",
    title="Pulls of the suboptimal arm scale as 1/Delta^2",
    labels=(LABEL,),
    notes=(
        f"{gaps.NOTES} Both axes are logarithmic, so that proportionality is a line of slope 1. "
        "Bands hold the middle 90% of runs."
    ),
    settings=gaps.SETTINGS,
    run=gaps.run,
    claims=claims,
    draw=draw,
)
