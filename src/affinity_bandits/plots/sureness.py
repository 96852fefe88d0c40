"""Heat maps of a sweep that show how sure each cell is: the surer, the larger its square."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray
from affinity_bandits.plots.style import GREY, new_figures
from affinity_bandits.plots.sweep import COLOURS, colour_scale
from affinity_bandits.plots.sweep_data import VALUES, Panel, SweepGrid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IN_A_ROW = 3
SMALLEST = 0.12
"""Side of the square of a cell of which nothing is sure, in parts of the cell."""


def sureness(panel: Panel, is_regret: bool) -> FloatArray:
    """Return how sure each cell is, from 0 to 1.

    Of regret, 1 less the width of the interval in parts of its upper end; of a rate, 1 less the
    width. nan where there is nothing.
    """
    width = panel.high - panel.low
    scale = np.where(panel.high > 0.0, panel.high, 1.0) if is_regret else 1.0
    return np.asarray(np.clip(1.0 - width / scale, 0.0, 1.0), dtype=np.float64)


def draw_sureness(grid: SweepGrid) -> Figure:
    """Draw heat maps of a sweep in which a square fills its cell the more, the surer its value is.

    Args:
        grid: of `sweep_grid`, over two axes.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.patches import Rectangle

    if grid.y is None:
        raise InvalidInput("grid", "one over two axes (x and y)", grid.x.words)
    if not grid.panels:
        raise InvalidInput("value", "measured in a finished cell", grid.value)
    is_regret = grid.value in ("regret", "median")
    factor = 1.0 if is_regret else 100.0
    norm = colour_scale(grid)
    across = min(IN_A_ROW, len(grid.panels))
    wide = across * max(2.4, min(4.2, 0.55 * len(grid.columns))) + 1.3
    high = max(2.3, min(3.6, 0.42 * len(grid.rows) + 0.9))
    figure, places = new_figures(len(grid.panels), IN_A_ROW, wide, high)
    colours = ScalarMappable(norm, COLOURS)
    for i, (axes, panel) in enumerate(zip(places, grid.panels, strict=True)):
        sure = sureness(panel, is_regret)
        for (row, column), value in np.ndenumerate(factor * panel.mean):
            if not math.isfinite(value):
                continue
            side = SMALLEST + (0.96 - SMALLEST) * math.sqrt(sure[row, column])
            corner = (column - side / 2.0, row - side / 2.0)
            shown = np.array(value if norm.vmin is None else max(value, norm.vmin))
            square = Rectangle(corner, side, side, color=colours.to_rgba(shown), linewidth=0.0)
            axes.add_patch(square)
        _frame(axes, grid, panel, left=i % IN_A_ROW == 0, below=i + across >= len(places))
    bar = figure.colorbar(colours, ax=places, shrink=1.0, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8.0)
    bar.set_label(VALUES[grid.value][1] + ("" if is_regret else ", in %"), fontsize=8.0)
    words = "a square fills its cell where the 95% interval has no width"
    figure.supxlabel(words, x=0.01, ha="left", fontsize=8.0, color=GREY)
    return figure


def _frame(axes: Any, grid: SweepGrid, panel: Panel, left: bool, below: bool) -> None:
    axes.set_title(panel.title, fontsize=9.5, loc="left")
    axes.set_xlim(-0.5, len(grid.columns) - 0.5)
    axes.set_ylim(-0.5, len(grid.rows) - 0.5)
    axes.set_aspect("equal", adjustable="box")
    axes.grid(visible=False)
    axes.set_facecolor("#f2f2f2")
    axes.set_xticks(range(len(grid.columns)), grid.columns, fontsize=8.0)
    axes.set_yticks(range(len(grid.rows)), grid.rows, fontsize=8.0)
    axes.tick_params(length=0.0)
    axes.spines[["left", "bottom"]].set_visible(False)
    if below:
        axes.set_xlabel(grid.x.words, fontsize=8.5)
    if left and grid.y is not None:
        axes.set_ylabel(grid.y.words, fontsize=8.5)
