"""A sweep at a glance: heat maps over two axes, or curves over one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray
from affinity_bandits.plots.style import draw_band, line_style, new_figures
from affinity_bandits.plots.sweep_data import VALUES, BoolArray, Panel, SweepGrid

LOG_RATIO = 30.0
"""Where the largest is this many times the smallest, a logarithmic scale shows more."""
PANELS = 12
"""On one page."""
COLUMNS = 3
MOST_WRITTEN = 80
"""Cells of a page up to which their figures are written into them."""
MOST_TICKS = 12
SMALL = 8.5
GREY = "#595959"
COLOURS = "viridis"
"""Even steps of lightness: told apart by colour-blind readers, and in print."""


def draw_sweep(grid: SweepGrid, fixed: str = "") -> list[Any]:
    """Draw a sweep; return a figure for each dozen panels, all to the same scale.

    Args:
        grid: what to draw.
        fixed: what all cells share, in words.
    """
    if not grid.panels:
        raise InvalidInput("value", "measured in a finished cell", grid.value)
    pages = [grid.panels[i : i + PANELS] for i in range(0, len(grid.panels), PANELS)]
    draw = _draw_curves if grid.y is None else _draw_maps
    return [_page(grid, page, draw, fixed) for page in pages]


def _page(grid: SweepGrid, panels: Sequence[Panel], draw: Any, fixed: str) -> Any:
    columns = 2 if len(panels) in (2, 4) else min(COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    wide = max(2.7, min(4.6, 0.62 * len(grid.columns))) if grid.y is not None else 3.4
    high = max(2.4, min(3.8, 0.36 * len(grid.rows))) if grid.y is not None else 2.7
    if len(panels) == 1:
        wide, high = max(wide, 4.6), max(high, 3.2)
    figure, used = new_figures(
        len(panels), columns, columns * wide + 1.4, high + 1.1 / rows, sharex=True, sharey=True
    )
    for place, panel in zip(used, panels, strict=True):
        place.set_title(panel.title, fontsize=9.5, loc="left")
        place.tick_params(labelsize=SMALL)
    draw(grid, figure, used, panels)
    for i, place in enumerate(used):
        below = i + columns >= len(used)
        place.tick_params(labelbottom=below)
        place.set_xlabel(grid.x.words if below else "", fontsize=SMALL + 0.5)
    _tell(grid, figure, fixed)
    return figure


def _tell(grid: SweepGrid, figure: Any, fixed: str) -> None:
    """Write above the panels what is shown, and below them the settings that all cells share."""
    least, most = grid.replicates
    runs = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    notes = [f"{runs} run{'' if most == 1 else 's'} a cell"]
    if grid.y is None:
        spans = "from 5% to 95% of runs" if grid.value == "median" else "95% confidence"
        notes.append(f"{'bands' if grid.numbers is not None else 'bars'}: {spans}")
    if grid.missing:
        many = "cell is" if grid.missing == 1 else "cells are"
        hatched = " (hatched)" if grid.y is not None else ""
        notes.append(f"{grid.missing:,} {many} not run yet{hatched}")
    if grid.without and grid.y is not None:
        notes.append("white: the policy never decides")
    figure.suptitle(_words(grid).capitalize(), fontsize=11.0, fontweight="bold", x=0.01, ha="left")
    lines = [*([fixed] if fixed else []), "; ".join(notes)]
    figure.supxlabel("\n".join(lines), fontsize=SMALL - 0.5, color=GREY, x=0.01, ha="left")


def _words(grid: SweepGrid) -> str:
    return VALUES[grid.value][1]


def _is_regret(grid: SweepGrid) -> bool:
    return grid.value in ("regret", "median")


def _factor(grid: SweepGrid) -> float:
    return 1.0 if _is_regret(grid) else 100.0


def _draw_maps(
    grid: SweepGrid, figure: Any, places: Sequence[Any], panels: Sequence[Panel]
) -> None:
    norm = colour_scale(grid)
    columns, rows = np.arange(len(grid.columns)), np.arange(len(grid.rows))
    written = len(columns) * len(rows) * len(panels) <= MOST_WRITTEN
    for axes, panel in zip(places, panels, strict=True):
        _hatch(axes, panel.missing)
        shown = np.ma.masked_invalid(_factor(grid) * panel.mean)
        mesh = axes.imshow(
            shown if norm.vmin is None else np.ma.maximum(shown, norm.vmin),
            norm=norm,
            cmap=COLOURS,
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            zorder=2,
        )
        axes.grid(visible=False)
        axes.set_xticks(some := _thinned(columns), [grid.columns[k] for k in some])
        _slant(axes, grid)
        axes.set_yticks(some := _thinned(rows), [grid.rows[k] for k in some])
        axes.tick_params(length=0.0)
        axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
        if grid.y is not None and _is_left(axes):
            axes.set_ylabel(grid.y.words, fontsize=SMALL + 0.5)
        if written:
            _write(axes, shown, norm, grid)
    bar = figure.colorbar(mesh, ax=list(places), shrink=0.95, pad=0.02)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    if not _is_regret(grid):
        bar.ax.yaxis.set_major_formatter(lambda tick, _: f"{tick:g}%")
    elif norm.vmin > 0.0:
        bar.ax.minorticks_off()
        bar.ax.set_yticks(ticks := _log_ticks(norm.vmin, norm.vmax), [_figure(t) for t in ticks])
    else:
        bar.ax.yaxis.set_major_formatter(lambda tick, _: _figure(tick))


def colour_scale(grid: SweepGrid) -> Any:
    """Return the colour scale of all panels: logarithmic for regret over a wide range."""
    from matplotlib.colors import LogNorm, Normalize

    if not _is_regret(grid):
        return Normalize(0.0, 100.0)
    values = np.concatenate([panel.mean.ravel() for panel in grid.panels])
    values = values[np.isfinite(values)]
    positive = values[values > 0.0]
    if len(positive) and positive.max() > LOG_RATIO * positive.min():
        return LogNorm(positive.min(), positive.max())
    top = float(values.max()) or 1.0
    return Normalize(0.0 if values.min() >= 0.0 else float(values.min()), top)


def _hatch(axes: Any, missing: BoolArray) -> None:
    """Hatch the cells of which nothing is finished."""
    from matplotlib.patches import Rectangle

    for row, column in np.argwhere(missing):
        ground = Rectangle((column - 0.5, row - 0.5), 1.0, 1.0)
        ground.set(facecolor="#f2f2f2", edgecolor="#b0b0b0", hatch="////", linewidth=0.0)
        axes.add_patch(ground)


def _write(axes: Any, shown: Any, norm: Any, grid: SweepGrid) -> None:
    for (row, column), value in np.ndenumerate(np.ma.filled(shown, math.nan)):
        if not math.isfinite(value):
            continue
        light = float(norm(max(value, norm.vmin))) > 0.55
        axes.text(
            column,
            row,
            _figure(value) if _is_regret(grid) else f"{value:.3g}%",
            ha="center",
            va="center",
            fontsize=7.0,
            color="black" if light else "white",
            zorder=3,
        )


def _figure(value: float) -> str:
    """Return a figure in at most five characters."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * scale:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


def _is_left(axes: Any) -> bool:
    return bool(axes.get_subplotspec().is_first_col())


def _slant(axes: Any, grid: SweepGrid) -> None:
    """Slant names that would run into each other."""
    if grid.numbers is not None:
        return
    room = 0.75 * 72.0 * axes.figure.get_figwidth() / axes.get_gridspec().ncols
    # A character is some 0.6 of its size wide; two more keep names apart.
    widest = 0.6 * SMALL * (2 + max(len(name) for name in grid.columns))
    if widest * len(grid.columns) > room:
        axes.tick_params(axis="x", rotation=25)
        for name in axes.get_xticklabels():
            name.set(ha="right", rotation_mode="anchor")


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, with their doubles and halves where there would be few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 1e4 * low else (1,)
    ticks = [step * 10.0**decade for decade, step in product(decades, steps)]
    return [tick for tick in ticks if low <= tick <= high]


def _thinned(places: Any) -> Any:
    return places[:: math.ceil(len(places) / MOST_TICKS)]


def _draw_curves(
    grid: SweepGrid, figure: Any, places: Sequence[Any], panels: Sequence[Panel]
) -> None:
    numbers = grid.numbers
    x = np.arange(len(grid.columns), dtype=float) if numbers is None else numbers
    factor = _factor(grid)
    for axes, panel in zip(places, panels, strict=True):
        for row, name in enumerate(grid.rows):
            if not np.isfinite(panel.mean[row]).any():
                continue
            style = line_style(row)
            mean, low, high = (factor * part[row] for part in panel[1:4])
            if numbers is None:
                style["linestyle"] = "none"  # nothing lies between two names
                axes.errorbar(
                    x, mean, [mean - low, high - mean], label=name, fmt="o", capsize=3.0, **style
                )
                continue
            axes.plot(x, mean, label=name, marker="o", markersize=3.5, linewidth=1.8, **style)
            draw_band(axes, x, low, high, style["color"])
        if _is_left(axes):
            unit = "regret" if _is_regret(grid) else "percent of runs"
            axes.set_ylabel(unit, fontsize=SMALL + 0.5)
    _scale_curves(grid, places, x)
    if len(grid.rows) > 1:
        named: dict[str, Any] = {}
        for axes in places:
            handles, labels = axes.get_legend_handles_labels()
            named |= zip(labels, handles, strict=True)
        ordered = [name for name in grid.rows if name in named]
        figure.legend(
            [named[name] for name in ordered],
            ordered,
            title=grid.curves,
            title_fontsize=SMALL,
            alignment="left",
            loc="outside right upper",
            fontsize=SMALL,
            frameon=False,
        )


def _scale_curves(grid: SweepGrid, places: Sequence[Any], x: FloatArray) -> None:
    """Give all panels the same scales."""
    first = places[0]
    if grid.numbers is None:
        first.set_xticks(x, grid.columns)
        for axes in places:
            _slant(axes, grid)
        first.set_xlim(-0.5, len(x) - 0.5)
    elif x[0] > 0.0 and x[-1] >= LOG_RATIO * x[0]:
        first.set_xscale("log")
    if not _is_regret(grid):
        first.set_ylim(-3.0, 103.0)
        return
    values = np.concatenate([panel.mean.ravel() for panel in grid.panels])
    positive = values[np.isfinite(values) & (values > 0.0)]
    if len(positive) and positive.max() > LOG_RATIO * positive.min():
        first.set_yscale("log")
        top = max(float(np.nanmax(panel.high)) for panel in grid.panels)
        first.set_ylim(0.5 * positive.min(), 1.5 * top)
    else:
        first.set_ylim(bottom=0.0)
