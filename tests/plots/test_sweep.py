"""The picture of a sweep shows what the cells say, and what is not there."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments.summaries import CellSummary
from affinity_bandits.experiments.sweep import Axis, axis_of
from affinity_bandits.plots import (
    draw_sureness,
    draw_sweep,
    sweep_grid,
)
from affinity_bandits.plots.style import save_figure
from affinity_bandits.plots.sweep import color_scale, sureness

POLICY = axis_of("policy", ["ucb1", "elimination"])
HORIZON = axis_of("horizon", [1000, 10, 100])
BIAS = axis_of("bandit.bias", [{"name": "power", "alpha": a} for a in (1.0, 2.0)])
NOISE = axis_of("bandit.noise", ["bernoulli", "gaussian"])


def cells(axes: list[Axis]) -> list[CellSummary]:
    """Cells whose regret is told by their place; the first policy never decides."""
    made = []
    rate = (0.5, 0.4, 0.6)
    for place in product(*(range(len(axis.labels)) for axis in axes)):
        number = 1.0 + sum(10**i * at for i, at in enumerate(place))
        decides = POLICY not in axes or place[axes.index(POLICY)] == 1
        runs = (number, number - 0.5, number + 0.5)
        regret = (number, number - 1.0, number + 1.0)
        verdict = rate if decides else None
        made.append(CellSummary("id", place, 7, regret, runs, rate, verdict, "steps"))
    return made


def texts(figure: Any) -> str:
    import matplotlib.text

    return "\n".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def test_two_axes_of_numbers_are_a_heat_map_for_each_policy() -> None:
    axes = [POLICY, HORIZON, BIAS]
    grid = sweep_grid(axes, cells(axes))
    assert (grid.x, grid.y) == (HORIZON, BIAS)
    assert grid.columns == ("10", "100", "1,000")
    assert grid.rows == ("1", "2")
    assert [panel.title for panel in grid.panels] == ["ucb1", "elimination"]
    # Regret is 1 + policy + 10 horizon + 100 bias, horizons in the order 1000, 10, 100.
    assert grid.panels[0].mean.tolist() == [[11, 21, 1], [111, 121, 101]]
    assert grid.panels[1].mean.tolist() == [[12, 22, 2], [112, 122, 102]]
    turned = sweep_grid(axes, cells(axes), x="bias", y="horizon")
    assert turned.panels[0].mean.tolist() == [[11, 111], [21, 121], [1, 101]]


def test_one_axis_of_numbers_is_a_curve_for_each_policy() -> None:
    axes = [HORIZON, POLICY, NOISE]
    grid = sweep_grid(axes, cells(axes))
    assert grid.y is None
    assert grid.rows == ("ucb1", "elimination")
    assert [panel.title for panel in grid.panels] == ["noise bernoulli", "noise gaussian"]
    assert grid.panels[1].mean.tolist() == [[102, 103, 101], [112, 113, 111]]
    (figure,) = draw_sweep(grid)
    lines = figure.axes[0].lines
    assert [line.get_xdata().tolist() for line in lines] == [[10.0, 100.0, 1000.0]] * 2
    assert lines[0].get_ydata().tolist() == grid.panels[0].mean[0].tolist()


def test_x_alone_means_curves_and_names_are_drawn_where_there_are_no_numbers() -> None:
    grid = sweep_grid([HORIZON, BIAS], cells([HORIZON, BIAS]), x="horizon")
    assert (grid.x, grid.y, grid.curves) == (HORIZON, None, "alpha of the power bias")
    (figure,) = draw_sweep(sweep_grid([POLICY], cells([POLICY])))
    assert figure.axes[0].get_xlabel() == "policy"


def test_missing_cells_are_hatched_and_said() -> None:
    axes = [HORIZON, BIAS]
    some = [cell if i else CellSummary("id", cell.place, 0) for i, cell in enumerate(cells(axes))]
    grid = sweep_grid(axes, some)
    assert grid.missing == 1
    assert grid.panels[0].missing.sum() == 1
    (figure,) = draw_sweep(grid, "true means 0.4, 0.6")
    assert [patch.get_hatch() for patch in figure.axes[0].patches] == ["////"]
    assert "1 cell is not run yet (hatched)" in texts(figure)
    assert "true means 0.4, 0.6" in texts(figure)
    assert "alpha of the power bias" in texts(figure)


def test_a_policy_that_never_decides_has_no_panel_of_decisions() -> None:
    axes = [POLICY, HORIZON, BIAS]
    grid = sweep_grid(axes, cells(axes), "undecided")
    assert [panel.title for panel in grid.panels] == ["elimination"]
    assert grid.without == 6


@pytest.mark.slow
@pytest.mark.parametrize(("values", "log"), [((0.0, 1.0, 1e5, 3, 4, 5), True), (range(6), False)])
def test_colors_are_logarithmic_where_the_range_is_wide(
    values: Any, log: bool, tmp_path: Path
) -> None:
    """Zero regret is on no logarithmic scale, and must not break it."""
    axes = [HORIZON, BIAS]
    some = [
        cell._replace(regret=(value, value, value))
        for cell, value in zip(cells(axes), values, strict=True)
    ]
    grid = sweep_grid(axes, some)
    assert (type(color_scale(grid)).__name__ == "LogNorm") is log
    (figure,) = draw_sweep(grid)
    save_figure(figure, tmp_path / "zero.png")
    assert ("100k" in texts(figure)) is log


@pytest.mark.slow
@pytest.mark.parametrize("value", ["regret", "median", "wrong", "undecided"])
@pytest.mark.parametrize("x", ["horizon", "policy"])
def test_every_value_can_be_drawn_with_one_replicate(value: str, x: str, tmp_path: Path) -> None:
    axes = [POLICY, HORIZON]
    single = [cell._replace(replicates=1, regret=(1.0, 0.02, 900.0)) for cell in cells(axes)]
    for i, figure in enumerate(draw_sweep(sweep_grid(axes, single, value, x))):
        save_figure(figure, tmp_path / f"{i}.png")


@pytest.mark.slow
def test_many_panels_are_put_on_several_pages_of_one_scale() -> None:
    axes = [axis_of("bandit.memory", list(range(1, 14))), HORIZON, BIAS]
    figures = draw_sweep(sweep_grid(axes, cells(axes), x="horizon", y="bias"))
    assert [len(figure.axes) - 1 for figure in figures] == [12, 1]
    limits = {figure.axes[0].images[0].norm.vmax for figure in figures}
    assert len(limits) == 1


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("value must be one of", {"value": "regrets"}),
        ("x must be one of", {"x": "noise"}),
        ("y must be another axis", {"x": "bias", "y": "bias"}),
        ("axes must be at least one", {"axes": []}),
        ("finished cell", {}),
    ],
)
def test_mistakes_are_named(words: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=words):
        draw_sweep(sweep_grid(**{"axes": [HORIZON, BIAS], "cells": [], **given}))


def test_the_surer_a_cell_the_larger_its_square() -> None:
    grid = sweep_grid([BIAS, HORIZON], cells([BIAS, HORIZON]), "regret", "horizon", "bias")
    (panel,) = grid.panels
    figure = draw_sureness(grid)
    sides = np.array([square.get_width() for square in figure.axes[0].patches])
    sure = sureness(panel, True).ravel()
    assert (np.argsort(sides) == np.argsort(sure)).all()
    assert (sides <= 1.0).all()
    with pytest.raises(InvalidInput, match="over two axes"):
        draw_sureness(sweep_grid([HORIZON], cells([HORIZON]), "regret", "horizon"))
