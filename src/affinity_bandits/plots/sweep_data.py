"""The data of a sweep's picture: its axes, its panels and their values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput, UnknownName
from affinity_bandits.kernels import FloatArray

VALUES = {
    "regret": ("regret", "mean regret against the true means"),
    "median": ("regret_runs", "regret of the median run"),
    "wrong": ("wrong_arm", "runs that end on the wrong arm"),
    "undecided": ("undecided", "runs without a decision"),
}
"""From what can be asked for to the measure, and what it is called on paper."""
Interval = tuple[float, float, float]
BoolArray = npt.NDArray[np.bool_]


class AxisLike(Protocol):
    """What a picture needs of an axis."""

    @property
    def key(self) -> str:
        """Its name in the sweep's file."""

    @property
    def short(self) -> str:
        """Its name in a title."""

    @property
    def words(self) -> str:
        """What it measures."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Its values in words."""

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """Its values as numbers, if they are."""


class CellLike(Protocol):
    """What a picture needs of a cell."""

    @property
    def place(self) -> tuple[int, ...]:
        """Where it lies on each axis."""

    @property
    def replicates(self) -> int:
        """How many are finished."""

    @property
    def regret(self) -> Interval | None:
        """Mean regret."""

    @property
    def regret_runs(self) -> Interval | None:
        """Regret of the median run and of those around it."""

    @property
    def wrong_arm(self) -> Interval | None:
        """How often it ended on the wrong arm."""

    @property
    def undecided(self) -> Interval | None:
        """How often there was no decision."""


class Panel(NamedTuple):
    """One heat map, or one set of curves; nan where there is nothing to show."""

    title: str
    mean: FloatArray  # [row, column]
    low: FloatArray
    high: FloatArray
    missing: BoolArray  # nothing is finished


class SweepGrid(NamedTuple):
    """The data of a sweep's picture.

    Attributes:
        value: what is shown, a key of `VALUES`.
        x: the axis of the columns.
        y: the axis of the rows of a heat map; without one, rows are curves.
        curves: what the curves differ in, in words.
        columns: what stands at each column, in the order drawn.
        rows: what stands at each row.
        numbers: where the columns lie, if the axis is one of numbers.
        panels: one for each combination of what is left.
        replicates: the least and the most that a drawn cell has.
        missing: cells of which nothing is finished.
        without: cells for which the value has no meaning, because their policy never decides.
    """

    value: str
    x: AxisLike
    y: AxisLike | None
    curves: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    numbers: FloatArray | None
    panels: tuple[Panel, ...]
    replicates: tuple[int, int]
    missing: int
    without: int


def sweep_grid(
    axes: Sequence[AxisLike],
    cells: Iterable[CellLike],
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
    shape = tuple(len(axis.labels) for axis in axes)
    figures = np.full((4, *shape), math.nan)
    missing = without = 0
    least, most = 0, 0
    for cell in cells:
        found: Interval | None = getattr(cell, measure)
        if found is not None:
            place: tuple[Any, ...] = (slice(None), *cell.place)
            figures[place] = (*found, 0.0)
            least = min(least or cell.replicates, cell.replicates)
            most = max(most, cell.replicates)
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
            title = _title(rest, rest_place)
            panels.append(Panel(title, part[0], part[1], part[2], np.isnan(part[3])))
    return SweepGrid(
        value,
        across,
        up,
        "" if row_axis is None else row_axis.words,
        _ticks(across, order),
        ("",) if row_axis is None else _ticks(row_axis, row_order),
        None if across.numbers is None else np.array(across.numbers, dtype=float)[order],
        tuple(panels),
        (least, most),
        missing,
        without,
    )


def measure_of(value: str) -> str:
    """Return the attribute of a cell that holds a value."""
    return VALUES[checks.choice("value", value, tuple(VALUES))][0]


def chosen_axes(
    axes: Sequence[AxisLike], x: str | None, y: str | None
) -> tuple[AxisLike, AxisLike | None]:
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


def _of_numbers(axis: AxisLike) -> bool:
    return axis.numbers is not None and axis.key != "policy"


def _named(parameter: str, name: str, axes: Sequence[AxisLike]) -> AxisLike:
    for axis in axes:
        if name in (axis.key, axis.key.removeprefix("bandit.")):
            return axis
    raise UnknownName(parameter, name, [axis.key for axis in axes])


def _curves(axes: Sequence[AxisLike], across: AxisLike) -> AxisLike | None:
    """Return the axis whose values are curves: the policy, or what else there is."""
    left = [axis for axis in axes if axis is not across and len(axis.labels) > 1]
    left.sort(key=lambda axis: axis.key != "policy")
    return left[0] if left else None


def _order(axis: AxisLike) -> list[int]:
    places = range(len(axis.labels))
    if axis.numbers is None:
        return list(places)
    numbers = axis.numbers
    return sorted(places, key=lambda i: numbers[i])


def _ticks(axis: AxisLike, order: Sequence[int]) -> tuple[str, ...]:
    if axis.numbers is None or axis.key == "policy":
        return tuple(axis.labels[i] for i in order)
    return tuple(_number(axis.numbers[i]) for i in order)


def _number(value: float) -> str:
    """Return a number as an axis shows it."""
    exponent = round(math.log10(value)) if value >= 1e5 else 0
    if exponent and value == 10.0**exponent:
        return f"$10^{{{exponent}}}$"
    if value >= 1e7:
        power = math.floor(math.log10(value))
        return f"{value / 10.0**power:.3g}$\\cdot 10^{{{power}}}$"
    return f"{value:,.0f}" if abs(value) >= 1000 and value == round(value) else f"{value:.4g}"


def _title(rest: Sequence[AxisLike], place: Sequence[int]) -> str:
    parts = [
        axis.labels[i] if axis.key == "policy" else f"{axis.short} {axis.labels[i]}"
        for axis, i in zip(rest, place, strict=True)
        if len(axis.labels) > 1 or axis.key == "policy"
    ]
    return "; ".join(parts)
