"""Regret of the runs against time, as bands of quantiles, a panel for each policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray
from affinity_bandits.plots.style import COLOURS, cut, new_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from affinity_bandits.simulation import Result

IN_A_ROW = 3
MOST_PANELS = 12


class QuantileFan(NamedTuple):
    """What is drawn of one policy.

    Attributes:
        label: its name.
        times: the checkpoints.
        median: regret of the median run.
        bands: from the widest to the narrowest, the part of runs in it, its lower and upper end.
    """

    label: str
    times: FloatArray
    median: FloatArray
    bands: tuple[tuple[float, FloatArray, FloatArray], ...]


def quantile_fans(result: Result, parts: Sequence[float] = (0.5, 0.9)) -> list[QuantileFan]:
    """Return the bands between which lie these parts of the runs, for each policy.

    Every end is the regret of a run: of two clusters it is in one of them, not between.
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
    """Draw the median run over time, and bands in which lie parts of the runs; return the figure.

    Args:
        result: of `simulate`; of at most 12 policies.
        parts: of the runs, a band each.
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
        colour = COLOURS[i % len(COLOURS)]
        for j, (part, low, high) in enumerate(fan.bands):
            # Below one pull of the smallest gap there is nothing to see but the axis.
            axes.fill_between(
                fan.times,
                np.maximum(low, floor),
                np.maximum(high, floor),
                color=colour,
                alpha=0.18 + 0.17 * j,
                linewidth=0,
                label=f"{part:.0%} of runs",
            )
        seen = np.where(fan.median > 0.0, fan.median, np.nan)
        axes.plot(fan.times, seen, color=colour, linewidth=1.6, label="median run")
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
