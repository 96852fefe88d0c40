"""Pictures of simulation results: regret over time, quantiles, ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.displays import format_brief
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.words import counted
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.plots.style import (
    GREY,
    METHODS,
    cut,
    draw_band,
    line_style,
    new_figure,
    new_figures,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from affinity_bandits.simulation import Ranking, Result


def draw_regret(
    result: Result,
    level: float = 0.95,
    *,
    band: str = "runs",
    scale: str = "log",
    ax: Axes | None = None,
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Draw regret over time; return the figure.

    Args:
        result: the result of `simulate`.
        level: of the band, if it is one of the mean.
        band: "runs", the median run and the runs between which 90% of all lie; or the mean with an
            interval, "betting", "bootstrap" or "t"; see `regret_interval`.
        scale: "log" or "linear", of both axes.
        ax: axes to draw on, instead of a new figure.
        labels: other names for the lines, by the policies' labels.
    """
    from affinity_bandits.simulation.intervals import KINDS, middle_runs

    kinds = tuple(kind for kind in KINDS if kind != "quantiles")
    checks.choice("band", band, ("runs", *kinds))
    checks.choice("scale", scale, ("log", "linear"))
    checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    figure, axes = new_figure() if ax is None else (cast("Figure", ax.get_figure()), ax)
    names = {run.label: run.label for run in result.runs} | dict(labels or {})
    times = result.checkpoints.astype(float)
    if band == "runs":
        middle, lows, highs = middle_runs(result.regret, axis=1)
    else:
        middle, lows, highs = result.regret_band(level, band)
    for i, run in enumerate(result.runs):
        style = line_style(i)
        # On a logarithmic axis, a line that comes from 0 would rise out of the frame as a cliff.
        seen = np.where((middle[i] > 0.0) | (scale == "linear"), middle[i], np.nan)
        draw_band(axes, times, lows[i], highs[i], style["color"])
        axes.plot(times, seen, label=cut(names[run.label], 40), **style)
    gaps = result.bandit.gaps[result.bandit.gaps > 0.0]
    axes.set_xlim(1.0, float(result.horizon))
    if scale == "log":
        axes.set_xscale("log")
    if scale == "log" and len(gaps):  # where all arms are equally good there is no regret
        axes.set_yscale("log")
        # Below one pull of the smallest gap there is nothing to see but the axis.
        axes.set_ylim(bottom=0.5 * float(gaps.min()))
    axes.set_xlabel("pulls t")
    axes.set_ylabel("regret against the true means")
    axes.set_title(_title(result, band, level), fontsize=9.5, loc="left")
    axes.legend(loc="upper left", frameon=False)
    return figure


WIDEST = 80
"""Characters of a line of the title."""


def _title(result: Result, band: str, level: float) -> str:
    bandit, runs = result.bandit, len(result.replicates)
    more = ", ..." if bandit.arms > 4 else ""
    means = ", ".join(f"{mean:g}" for mean in bandit.true_means[:4]) + more
    initial = ", ".join(str(pulls) for pulls in (bandit.initial_pulls or ())[:4]) + more
    drawn = f"mean and {level:.0%} interval ({band})"
    if band == "runs":
        drawn = "median run, and the middle 90%"
    world = f"true means {means}; bias f(x) = {bandit.bias}; initial pulls {initial}"
    return f"{fill(world, WIDEST)}\n{bandit.noise}; {counted(runs, 'run')}: {drawn}"


# Of the largest mean regret to the smallest, from which on the axis is logarithmic.
LOG_RATIO = 20.0


def draw_ranking(ranking: Ranking | Result) -> Figure:
    """Draw mean regret with its interval, and each policy's rank or range of ranks.

    For a result, its `ranking()` is drawn. Policies that share ranks have paired differences within
    chance; intervals of single policies may overlap even if their difference is clear.
    """
    from affinity_bandits.simulation import Ranking

    if not isinstance(ranking, Ranking):
        ranking = ranking.ranking()
    ranked = ranking.policies
    figure, axes = new_figure(width=5.6, height=1.1 + 0.32 * len(ranked))
    for place, one in enumerate(ranked):
        mean, low, high = one.regret
        axes.plot([low, high], [place, place], color=METHODS[0], linewidth=2.2, alpha=0.45)
        axes.plot([mean], [place], "o", color=METHODS[0], markersize=5.0)
        axes.annotate(
            f"{format_brief(mean)}   rank {one.rank}",
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


IN_A_ROW = 3
MOST_PANELS = 12


class QuantileFan(NamedTuple):
    """The quantiles of one policy.

    Attributes:
        label: its name.
        times: the checkpoints.
        median: regret of the median run.
        bands: part of runs, lower and upper end of each band, the widest first.
    """

    label: str
    times: FloatArray
    median: FloatArray
    bands: tuple[tuple[float, FloatArray, FloatArray], ...]


def quantile_fans(result: Result, parts: Sequence[float] = (0.5, 0.9)) -> list[QuantileFan]:
    """Return the bands that contain these parts of the runs, for each policy.

    Every end is the regret of a run, even if runs form clusters.
    """
    wanted = checks.numbers_list("parts", parts, low=0.0, high=1.0)
    if not wanted:
        raise InvalidInput("parts", "at least one part of the runs", parts)
    levels = [0.5]
    for part in sorted(wanted, reverse=True):
        levels += [0.5 - part / 2.0, 0.5 + part / 2.0]
    found = np.quantile(result.regret, np.clip(levels, 0, 1), axis=1, method="inverted_cdf")
    times = result.checkpoints.astype(float)
    return [
        QuantileFan(
            run.label,
            times,
            found[0, i],
            tuple(
                (part, found[1 + 2 * j, i], found[2 + 2 * j, i])
                for j, part in enumerate(sorted(wanted, reverse=True))
            ),
        )
        for i, run in enumerate(result.runs)
    ]


def draw_quantiles(result: Result, parts: Sequence[float] = (0.5, 0.9)) -> Figure:
    """Draw the median run over time, and a band for each part of the runs.

    Args:
        result: the result of `simulate`, with at most 12 policies.
        parts: parts of the runs.
    """
    if len(result.runs) > MOST_PANELS:
        raise InvalidInput("result", f"of at most {MOST_PANELS} policies", len(result.runs))
    fans = quantile_fans(result, parts)
    width = 2.6 * min(IN_A_ROW, len(fans)) + 0.9
    figure, panels = new_figures(len(fans), IN_A_ROW, width, 2.5)
    gaps = result.bandit.gaps[result.bandit.gaps > 0.0]
    floor = 0.5 * float(gaps.min()) if len(gaps) else 0.0
    ceiling = max(float(high.max()) for fan in fans for _, _, high in fan.bands)
    for i, (axes, fan) in enumerate(zip(panels, fans, strict=True)):
        color = METHODS[i % len(METHODS)]
        for j, (part, low, high) in enumerate(fan.bands):
            # Below one pull of the smallest gap there is nothing to see but the axis.
            axes.fill_between(
                fan.times,
                np.maximum(low, floor),
                np.maximum(high, floor),
                color=color,
                alpha=0.18 + 0.17 * j,
                linewidth=0,
                label=f"{part:.0%} of runs",
            )
        seen = np.where(fan.median > 0.0, fan.median, np.nan)
        axes.plot(fan.times, seen, color=color, linewidth=1.6, label="median run")
        axes.set_title(cut(fan.label, 34), fontsize=9.5, loc="left")
        axes.set_xscale("log")
        axes.set_xlim(1.0, float(result.horizon))
        if len(gaps):
            axes.set_yscale("log")
            axes.set_ylim(floor, 2.0 * max(ceiling, floor))
        if i % IN_A_ROW == 0:
            axes.set_ylabel("regret")
        if i + IN_A_ROW >= len(fans):
            axes.set_xlabel("pulls t")
    panels[0].legend(loc="upper left", frameon=False, fontsize=8.0, handlelength=1.4)
    return figure
