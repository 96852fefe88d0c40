"""Bands of quantiles, rankings, sureness, and figures in the size of a journal's column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.plots import (
    draw_quantiles,
    draw_ranking,
    draw_sureness,
    save_for_print,
    sweep_grid,
)
from affinity_bandits.plots.results import quantile_fans
from affinity_bandits.plots.sweep import sureness
from tests.plots.test_sweep_picture import BIAS, HORIZON, cells
from tests.simulation.test_ranking import made

RESULT = made(np.random.default_rng(0).random((3, 40)))


def test_bands_hold_the_parts_of_runs_that_they_say() -> None:
    for fan, regret in zip(quantile_fans(RESULT, [0.9, 0.5]), RESULT.regret, strict=True):
        (wide, low, high), (narrow, inner_low, inner_high) = fan.bands
        assert (wide, narrow) == (0.9, 0.5)
        assert low[-1] <= inner_low[-1] <= fan.median[-1] <= inner_high[-1] <= high[-1]
        for part, below, above in fan.bands:
            inside = (regret[:, -1] >= below[-1]) & (regret[:, -1] <= above[-1])
            assert part <= inside.mean() <= part + 0.1


def test_wrong_parts_are_refused() -> None:
    for parts in ([], [1.5], "half"):
        with pytest.raises(InvalidInput, match="parts"):
            quantile_fans(RESULT, parts)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at most 12 policies"):
        draw_quantiles(made(np.full((13, 2), 0.5)))


def test_a_ranking_shows_every_policy_with_its_ranks() -> None:
    ranking = RESULT.ranking()
    axes = draw_ranking(ranking).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        one.label for one in ranking.policies
    ]
    assert all(any(one.rank in text.get_text() for text in axes.texts) for one in ranking.policies)


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


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_figures_fit_a_column(suffix: str, tmp_path: Path) -> None:
    figure = draw_ranking(RESULT.ranking())
    save_for_print(figure, tmp_path / f"a{suffix}", columns=1)
    assert figure.get_size_inches()[0] == pytest.approx(3.4)
    assert (tmp_path / f"a{suffix}").stat().st_size > 1000
    again = tmp_path / f"b{suffix}"
    save_for_print(draw_ranking(RESULT.ranking()), again, columns=1)
    assert again.read_bytes() == (tmp_path / f"a{suffix}").read_bytes()
    for place, columns in (("a.gif", 1), (f"a{suffix}", 3)):
        with pytest.raises(InvalidInput):
            save_for_print(figure, tmp_path / place, columns)
