"""The picture of regret shows the mean with its interval and the runs, within what is possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Power, simulate
from affinity_bandits.plots import draw_regret
from affinity_bandits.plots.style import save_figure

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[10, 10])


def test_lines_end_where_the_summary_says() -> None:
    result = simulate(BANDIT, ["ucb1", "elimination"], 5000, 25)
    lines = draw_regret(result).axes[0].lines
    for i, row in enumerate(result.summary()):
        low, median, high, mean = (line.get_ydata()[-1] for line in lines[4 * i : 4 * i + 4])
        assert (median, low, high) == row.regret_runs
        assert mean == pytest.approx(row.regret[0])


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [1, 25])
def test_nothing_is_drawn_outside_of_what_is_possible(replicates: int, tmp_path: Path) -> None:
    """The cliff of a logarithmic axis: an end below 0, or a line that comes from 0."""
    result = simulate(BANDIT, ["ucb1", "exp3"], 5000, replicates)
    figure = draw_regret(result)
    axes = figure.axes[0]
    for band in axes.collections:
        for path in band.get_paths():
            times, heights = path.vertices.T
            assert (heights >= 0.0).all()
            assert (heights <= 0.2 * times * (1.0 + 1e-9)).all()
    thin = [line for line in axes.lines if line.get_linewidth() <= 1.0]
    assert len(thin) == 6  # median and both ends, of two policies
    for line in thin:
        assert not (np.asarray(line.get_ydata(), dtype=float) <= 0.0).any()
    save_figure(figure, tmp_path / "regret.png")


@pytest.mark.slow
def test_without_any_regret_there_is_no_logarithm(tmp_path: Path) -> None:
    equal = simulate(AffinityBandit([0.5, 0.5]), "ucb1", 100, 3)
    save_figure(draw_regret(equal), tmp_path / "regret.png")
