"""Regret against time, one line a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from affinity_bandits.kernels import FloatArray
from affinity_bandits.plots.style import line_style, new_figure

if TYPE_CHECKING:
    from affinity_bandits.simulation import Result


class RegretCurve(NamedTuple):
    """What is drawn of one policy."""

    label: str
    times: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def regret_curves(result: Result, level: float = 0.95) -> list[RegretCurve]:
    """Return mean regret and its confidence band over time, one curve a policy."""
    mean, low, high = result.regret_band(level)
    # Regret cannot be negative, but a symmetric interval can reach below 0.
    return [
        RegretCurve(run.label, result.checkpoints.astype(float), mean[i], low[i].clip(0.0), high[i])
        for i, run in enumerate(result.runs)
    ]


def draw_regret(result: Result, level: float = 0.95) -> Any:
    """Draw mean regret with its confidence band on logarithmic axes; return the figure."""
    figure, axes = new_figure()
    for i, curve in enumerate(regret_curves(result, level)):
        style = line_style(i)
        axes.plot(curve.times, curve.mean, label=curve.label, **style)
        if len(result.replicates) > 1:
            axes.fill_between(
                curve.times, curve.low, curve.high, color=style["color"], alpha=0.18, linewidth=0
            )
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
    bandit = result.bandit
    means = ", ".join(f"{mean:g}" for mean in bandit.true_means[:4])
    means += ", ..." if bandit.arms > 4 else ""
    initial = ", ".join(str(pulls) for pulls in (bandit.initial_pulls or ())[:4])
    initial += ", ..." if bandit.arms > 4 else ""
    return (
        f"true means {means}; bias f(x) = {bandit.bias}; initial pulls {initial}\n"
        f"{bandit.noise}; mean of {len(result.replicates)} runs with {level:.0%} confidence band"
    )
