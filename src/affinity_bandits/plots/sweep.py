"""Pictures of sweeps: heat maps over two axes, curves over one, and how sure each cell is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks
from affinity_bandits.base.displays import format_brief
from affinity_bandits.base.errors import InvalidInput, UnknownName
from affinity_bandits.base.looks import LIGHT
from affinity_bandits.base.words import noun_for
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.plots.style import GREY, draw_band, line_style, log_ticks, new_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Attribute of a cell's summary and title of the picture, by the name of the value.
VALUES = {
    "regret": ("regret", "mean regret against the true means"),
    "median": ("regret_runs", "regret of the median run"),
    "wrong": ("wrong_arm", "runs that end on the wrong arm"),
    "undecided": ("undecided", "runs without a decision"),
}
Axis = Any  # an `experiments.Axis`: key, short, words, labels, numbers
CellSummary = Any  # an `experiments.CellSummary`: place, replicates and the attributes of `VALUES`
BoolArray = npt.NDArray[np.bool_]


class Panel(NamedTuple):
    """One heat map or one set of curves, of regret or percentages; nan for a missing value."""

    title: str
    mean: FloatArray  # [row, column]
    low: FloatArray
    high: FloatArray
    missing: BoolArray  # without finished replicates


class SweepGrid(NamedTuple):
    """The data of a sweep's picture.

    Attributes:
        value: a key of `VALUES`.
        x: the axis of the columns.
        y: the axis of the rows of a heat map; None if rows are curves.
        curves: the title of the curves' legend.
        columns: the labels of the columns, in the order drawn.
        rows: the labels of the rows.
        numbers: the positions of the columns, if the axis is numeric.
        panels: one for each combination of the other axes.
        replicates: the smallest and the largest number of replicates of a drawn cell.
        missing: number of cells whose replicates are all unfinished.
        without: number of cells whose policy never decides, so that this value is undefined.
    """

    value: str
    x: Axis
    y: Axis | None
    curves: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    numbers: FloatArray | None
    panels: tuple[Panel, ...]
    replicates: tuple[int, int]
    missing: int
    without: int


def sweep_grid(
    axes: Sequence[Axis],
    cells: Iterable[CellSummary],
    value: str = "regret",
    x: str | None = None,
    y: str | None = None,
) -> SweepGrid:
    """Return the data of a sweep's picture.

    Args:
        axes: of the sweep.
        cells: all of them, in any order.
        value: "regret", "median", "wrong" or "undecided".
        x: the axis from left to right. With x alone, curves; with neither, a heat map if two axes
            are of numbers, else curves.
        y: the axis from bottom to top.
    """
    measure = measure_of(value)
    across, up = chosen_axes(axes, x, y)
    row_axis = up if up is not None else _curves(axes, across)
    scale = 1.0 if measure.startswith("regret") else 100.0
    figures = np.full((4, *(len(axis.labels) for axis in axes)), math.nan)
    replicates = []
    missing = without = 0
    for cell in cells:
        found = getattr(cell, measure)
        if found is not None:
            place: tuple[Any, ...] = (slice(None), *cell.place)
            figures[place] = [scale * end for end in found] + [0.0]
            replicates.append(cell.replicates)
        elif cell.replicates:
            without += 1
            figures[(3, *cell.place)] = 0.0
        else:
            missing += 1
    order = _order(across)
    if row_axis is None:
        row_order = [0]
    else:  # curves keep the order of the file
        row_order = list(range(len(row_axis.labels))) if up is None else _order(row_axis)
    panels = []
    rest = [axis for axis in axes if axis is not across and axis is not row_axis]
    for rest_place in product(*(range(len(axis.labels)) for axis in rest)):
        at = dict(zip((axis.key for axis in rest), rest_place, strict=True))
        index: tuple[Any, ...] = tuple(at.get(axis.key, slice(None)) for axis in axes)
        part = figures[(slice(None), *index)]
        if row_axis is None:
            part = part[:, None, :]
        elif list(axes).index(across) < list(axes).index(row_axis):
            part = part.swapaxes(1, 2)
        part = part[:, row_order][:, :, order]
        if np.isfinite(part[0]).any():
            panels.append(
                Panel(_title(rest, rest_place), part[0], part[1], part[2], np.isnan(part[3]))
            )
    return SweepGrid(
        value,
        across,
        up,
        "" if row_axis is None else row_axis.words,
        _ticks(across, order),
        ("",) if row_axis is None else _ticks(row_axis, row_order),
        None if across.numbers is None else np.array(across.numbers, dtype=float)[order],
        tuple(panels),
        (min(replicates, default=0), max(replicates, default=0)),
        missing,
        without,
    )


def measure_of(value: str) -> str:
    """Return the attribute of a cell that holds a value."""
    return VALUES[checks.choice("value", value, tuple(VALUES))][0]


def chosen_axes(axes: Sequence[Axis], x: str | None, y: str | None) -> tuple[Axis, Axis | None]:
    """Return the axes to draw over: those asked for, or else the numeric ones."""
    if not axes:
        raise InvalidInput("axes", "at least one, to draw over", {})
    across = None if x is None else _named("x", x, axes)
    up = None if y is None else _named("y", y, axes)
    if across is not None and across is up:
        raise InvalidInput("y", "another axis than x", y)
    varying = [axis for axis in axes if len(axis.labels) > 1 and axis is not up]
    # Policies are compared with each other even where they differ in a number alone.
    varying.sort(key=lambda axis: (axis.numbers is None, axis.key == "policy"))
    if across is None:
        others = varying or [axis for axis in axes if axis is not up]
        if not others:
            raise InvalidInput("y", "left out where there is one axis", y)
        across = others[0]
        if up is None and len(varying) > 1 and _of_numbers(varying[1]) and _of_numbers(across):
            up = varying[1]
    return across, up


def _of_numbers(axis: Axis) -> bool:
    return axis.numbers is not None and axis.key != "policy"


def _named(parameter: str, name: str, axes: Sequence[Axis]) -> Axis:
    for axis in axes:
        if name in (axis.key, axis.key.removeprefix("bandit.")):
            return axis
    raise UnknownName(parameter, name, [axis.key for axis in axes])


def _curves(axes: Sequence[Axis], across: Axis) -> Axis | None:
    """Return the axis whose values are curves: the policy, or else the first that varies."""
    left = [axis for axis in axes if axis is not across and len(axis.labels) > 1]
    left.sort(key=lambda axis: axis.key != "policy")
    return left[0] if left else None


def _order(axis: Axis) -> list[int]:
    places = range(len(axis.labels))
    return sorted(places, key=(axis.numbers or places).__getitem__)


def _ticks(axis: Axis, order: Sequence[int]) -> tuple[str, ...]:
    if axis.numbers is None or axis.key == "policy":
        return tuple(axis.labels[i] for i in order)
    return tuple(_number(axis.numbers[i]) for i in order)


def _number(value: float) -> str:
    exponent = round(math.log10(value)) if value >= 1e5 else 0
    if exponent and value == 10.0**exponent:
        return f"$10^{{{exponent}}}$"
    if value >= 1e7:
        power = math.floor(math.log10(value))
        return f"{value / 10.0**power:.3g}$\\cdot 10^{{{power}}}$"
    return f"{value:,.0f}" if abs(value) >= 1000 and value == round(value) else f"{value:.4g}"


def _title(rest: Sequence[Axis], place: Sequence[int]) -> str:
    parts = [
        axis.labels[i] if axis.key == "policy" else f"{axis.short} {axis.labels[i]}"
        for axis, i in zip(rest, place, strict=True)
        if len(axis.labels) > 1 or axis.key == "policy"
    ]
    return "; ".join(parts)


LOG_RATIO = 30.0  # ratio of the largest value to the smallest from which on a scale is logarithmic
PANELS = 12  # panels per page
COLUMNS = 3
MAX_WRITTEN = 80  # cells of a page up to which their values are written into them
MAX_TICKS = 12
SMALL = 8.5
SMALLEST = 0.12  # side of the smallest square, relative to the cell
COLORS = "viridis"  # even steps of lightness, for color-blind readers and for print


def draw_sweep(grid: SweepGrid, fixed: str = "") -> list[Any]:
    """Draw a sweep; return a figure for each dozen panels, all to the same scale.

    Args:
        grid: the data of the picture.
        fixed: the settings that all cells share, in words.
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
    _write_notes(grid, figure, fixed)
    return figure


def _write_notes(grid: SweepGrid, figure: Any, fixed: str) -> None:
    """Write a title above the panels, and below them the settings that all cells share."""
    least, most = grid.replicates
    runs = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    notes = [f"{runs} {noun_for(most, 'run')} per cell"]
    if grid.y is None:
        spans = "from 5% to 95% of runs" if grid.value == "median" else "95% confidence"
        notes.append(f"{'bands' if grid.numbers is not None else 'bars'}: {spans}")
    if grid.missing:
        many = "cell is" if grid.missing == 1 else "cells are"
        hatched = " (hatched)" if grid.y is not None else ""
        notes.append(f"{grid.missing:,} {many} not run yet{hatched}")
    if grid.without and grid.y is not None:
        notes.append("white: the policy never decides")
    title = VALUES[grid.value][1].capitalize()
    figure.suptitle(title, fontsize=11.0, fontweight="bold", x=0.01, ha="left")
    lines = [*([fixed] if fixed else []), "; ".join(notes)]
    figure.supxlabel("\n".join(lines), fontsize=SMALL - 0.5, color=GREY, x=0.01, ha="left")


def _is_regret(grid: SweepGrid) -> bool:
    return grid.value in ("regret", "median")


def _draw_maps(
    grid: SweepGrid,
    figure: Any,
    places: Sequence[Any],
    panels: Sequence[Panel],
    squares: bool = False,
) -> None:
    """Draw heat maps; with `squares`, cells are larger the narrower their interval is."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.patches import Rectangle

    colors = ScalarMappable(color_scale(grid), COLORS)
    columns, rows = len(grid.columns), len(grid.rows)
    x_ticks = range(0, columns, math.ceil(columns / MAX_TICKS))
    y_ticks = range(0, rows, math.ceil(rows / MAX_TICKS))
    for axes, panel in zip(places, panels, strict=True):
        for row, column in np.argwhere(panel.missing):
            ground = Rectangle((column - 0.5, row - 0.5), 1.0, 1.0)
            ground.set(
                facecolor=LIGHT["page"], edgecolor=LIGHT["others"], hatch="////", linewidth=0.0
            )
            axes.add_patch(ground)
        if squares:
            _draw_squares(axes, panel, colors, _is_regret(grid))
        else:
            _draw_cells(axes, panel, colors)
        axes.grid(visible=False)
        axes.set_xticks(x_ticks, [grid.columns[k] for k in x_ticks])
        _slant(axes, grid)
        axes.set_yticks(y_ticks, [grid.rows[k] for k in y_ticks])
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_ylim(-0.5, rows - 0.5)
        axes.tick_params(length=0.0)
        axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
        if grid.y is not None and axes.get_subplotspec().is_first_col():
            axes.set_ylabel(grid.y.words, fontsize=SMALL + 0.5)
        if not squares and columns * rows * len(panels) <= MAX_WRITTEN:
            _write(axes, panel, colors.norm, grid)
    bar = figure.colorbar(colors, ax=list(places), shrink=0.95, pad=0.02)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    low, high = colors.get_clim()
    if not _is_regret(grid):
        bar.ax.yaxis.set_major_formatter(lambda tick, _: f"{tick:g}%")
    elif low > 0.0:
        bar.ax.minorticks_off()
        ticks = log_ticks(low, high, dense_below=1e4)
        bar.ax.set_yticks(ticks, [format_brief(tick) for tick in ticks])
    else:
        bar.ax.yaxis.set_major_formatter(lambda tick, _: format_brief(tick))


def _draw_cells(axes: Any, panel: Panel, colors: Any) -> None:
    axes.imshow(
        np.ma.maximum(np.ma.masked_invalid(panel.mean), colors.norm.vmin),
        norm=colors.norm,
        cmap=COLORS,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        zorder=2,
    )


def _draw_squares(axes: Any, panel: Panel, colors: Any, is_regret: bool) -> None:
    from matplotlib.patches import Rectangle

    axes.set_aspect("equal", adjustable="box")
    axes.set_facecolor(LIGHT["page"])
    sure = sureness(panel, is_regret)
    for (row, column), value in np.ndenumerate(panel.mean):
        if math.isfinite(value):
            side = SMALLEST + (0.96 - SMALLEST) * math.sqrt(sure[row, column])
            color = colors.to_rgba(np.array(max(value, colors.norm.vmin)))
            corner = (column - side / 2.0, row - side / 2.0)
            axes.add_patch(Rectangle(corner, side, side, color=color, linewidth=0.0))


def color_scale(grid: SweepGrid) -> Any:
    """Return the color scale of all panels: logarithmic for regret over a wide range."""
    from matplotlib.colors import LogNorm, Normalize

    if not _is_regret(grid):
        return Normalize(0.0, 100.0)
    values, positive = _values(grid)
    if _is_wide(positive):
        return LogNorm(positive.min(), positive.max())
    return Normalize(min(0.0, float(values.min())), float(values.max()) or 1.0)


def _values(grid: SweepGrid) -> tuple[FloatArray, FloatArray]:
    values = np.concatenate([panel.mean.ravel() for panel in grid.panels])
    values = values[np.isfinite(values)]
    return values, values[values > 0.0]


def _is_wide(positive: FloatArray) -> bool:
    return len(positive) > 0 and positive.max() > LOG_RATIO * positive.min()


def _write(axes: Any, panel: Panel, norm: Any, grid: SweepGrid) -> None:
    for (row, column), value in np.ndenumerate(panel.mean):
        if math.isfinite(value):
            axes.text(
                column,
                row,
                format_brief(value) if _is_regret(grid) else f"{value:.3g}%",
                ha="center",
                va="center",
                fontsize=7.0,
                color=LIGHT["ink" if float(norm(max(value, norm.vmin))) > 0.55 else "surface"],
                zorder=3,
            )


def _slant(axes: Any, grid: SweepGrid) -> None:
    if grid.numbers is not None:
        return
    room = 0.75 * 72.0 * axes.figure.get_figwidth() / axes.get_gridspec().ncols
    # A character is some 0.6 of its size wide; two more keep names apart.
    widest = 0.6 * SMALL * (2 + max(len(name) for name in grid.columns))
    if widest * len(grid.columns) > room:
        axes.tick_params(axis="x", rotation=25)
        for name in axes.get_xticklabels():
            name.set(ha="right", rotation_mode="anchor")


def _draw_curves(
    grid: SweepGrid, figure: Any, places: Sequence[Any], panels: Sequence[Panel]
) -> None:
    x = np.arange(len(grid.columns), dtype=float) if grid.numbers is None else grid.numbers
    for axes, panel in zip(places, panels, strict=True):
        for row, name in enumerate(grid.rows):
            if not np.isfinite(panel.mean[row]).any():
                continue
            style = line_style(row)
            mean, low, high = (part[row] for part in panel[1:4])
            if grid.numbers is None:
                style["linestyle"] = "none"  # nothing lies between two names
                axes.errorbar(
                    x, mean, [mean - low, high - mean], label=name, fmt="o", capsize=3.0, **style
                )
                continue
            axes.plot(x, mean, label=name, marker="o", markersize=3.5, linewidth=1.8, **style)
            draw_band(axes, x, low, high, style["color"])
        if axes.get_subplotspec().is_first_col():
            unit = "regret" if _is_regret(grid) else "percent of runs"
            axes.set_ylabel(unit, fontsize=SMALL + 0.5)
    _scale_curves(grid, places, x)
    if len(grid.rows) > 1:
        _add_legend(grid, figure, places)


def _add_legend(grid: SweepGrid, figure: Any, places: Sequence[Any]) -> None:
    handles: dict[str, Any] = {}
    for axes in places:
        found, labels = axes.get_legend_handles_labels()
        handles |= zip(labels, found, strict=True)
    rows = [name for name in grid.rows if name in handles]
    figure.legend(
        [handles[name] for name in rows],
        rows,
        title=grid.curves,
        title_fontsize=SMALL,
        alignment="left",
        loc="outside right upper",
        fontsize=SMALL,
        frameon=False,
    )


def _scale_curves(grid: SweepGrid, places: Sequence[Any], x: FloatArray) -> None:
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
    _, positive = _values(grid)
    if _is_wide(positive):
        first.set_yscale("log")
        top = max(float(np.nanmax(panel.high)) for panel in grid.panels)
        first.set_ylim(0.5 * positive.min(), 1.5 * top)
    else:
        first.set_ylim(bottom=0.0)


def sureness(panel: Panel, is_regret: bool) -> FloatArray:
    """Return the certainty of each cell, from 0 to 1; NaN if its value is missing.

    This is 1 minus the width of the interval, for regret relative to its upper end.
    """
    width = panel.high - panel.low
    scale = np.where(panel.high > 0.0, panel.high, 1.0) if is_regret else 100.0
    return np.asarray(np.clip(1.0 - width / scale, 0.0, 1.0), dtype=np.float64)


def draw_sureness(grid: SweepGrid) -> Figure:
    """Draw heat maps of a sweep with a square in each cell, larger for narrower intervals.

    Args:
        grid: the result of `sweep_grid`, over two axes.
    """
    if grid.y is None:
        raise InvalidInput("grid", "one over two axes (x and y)", grid.x.words)
    if not grid.panels:
        raise InvalidInput("value", "measured in a finished cell", grid.value)
    words = "a square fills its cell where the 95% interval has no width"
    figure: Figure = _page(grid, grid.panels, partial(_draw_maps, squares=True), words)
    return figure
