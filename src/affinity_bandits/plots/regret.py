"""Regret against time, one line a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray
from affinity_bandits.plots.style import draw_band, line_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from affinity_bandits.simulation import Result


class RegretCurve(NamedTuple):
    """What is drawn of one policy.

    Attributes:
        label: its name.
        times: the checkpoints.
        mean: mean regret; `low` and `high` are the ends of its interval.
        median: regret of the median run; between `run_low` and `run_high` lie 90% of runs.
    """

    label: str
    times: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    median: FloatArray
    run_low: FloatArray
    run_high: FloatArray


def regret_curves(result: Result, level: float = 0.95) -> list[RegretCurve]:
    """Return mean regret with its interval and the runs' spread over time, one curve a policy."""
    from affinity_bandits.simulation.intervals import middle_runs

    parts = (*result.regret_band(level), *middle_runs(result.regret, axis=1))
    times = result.checkpoints.astype(float)
    return [
        RegretCurve(run.label, times, *(part[i] for part in parts))
        for i, run in enumerate(result.runs)
    ]


def draw_regret(result: Result, level: float = 0.95) -> Figure:
    """Draw mean and median regret over time on logarithmic axes; return the figure."""
    figure, axes = new_figure()
    for i, curve in enumerate(regret_curves(result, level)):
        style = line_style(i)
        colour = style["color"]
        draw_band(axes, curve.times, curve.low, curve.high, colour)
        for runs, width in ((curve.run_low, 0.5), (curve.median, 1.0), (curve.run_high, 0.5)):
            # A line that comes from 0 would rise out of the frame as a cliff.
            seen = np.where(runs > 0.0, runs, np.nan)
            axes.plot(curve.times, seen, color=colour, alpha=0.6, linewidth=width)
        axes.plot(curve.times, curve.mean, label=curve.label, **style)
    axes.set_xscale("log")
    gaps = result.bandit.gaps[result.bandit.gaps > 0.0]
    if len(gaps):  # where all arms are equally good there is no regret, and no logarithm of it
        axes.set_yscale("log")
        # Below one pull of the smallest gap there is nothing to see but the axis.
        axes.set_ylim(bottom=0.5 * float(gaps.min()))
    axes.set_xlim(1.0, float(result.horizon))
    axes.set_xlabel("pulls t")
    axes.set_ylabel("regret against the true means")
    axes.set_title(_title(result, level), fontsize=9.5, loc="left")
    axes.legend(loc="upper left", frameon=False)
    return figure


def _title(result: Result, level: float) -> str:
    bandit, runs = result.bandit, len(result.replicates)
    means = ", ".join(f"{mean:g}" for mean in bandit.true_means[:4])
    means += ", ..." if bandit.arms > 4 else ""
    initial = ", ".join(str(pulls) for pulls in (bandit.initial_pulls or ())[:4])
    initial += ", ..." if bandit.arms > 4 else ""
    return (
        f"true means {means}; bias f(x) = {bandit.bias}; initial pulls {initial}\n"
        f"{bandit.noise}; mean of {runs} run{'' if runs == 1 else 's'}, "
        f"{level:.0%} confidence band\n"
        "thin lines: median run; 5% and 95% of runs"
    )
