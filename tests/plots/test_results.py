"""The picture of regret shows the runs or the mean, within what is possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from affinity_bandits import AffinityBandit, InvalidInput, Power, simulate
from affinity_bandits.plots import (
    draw_quantiles,
    draw_ranking,
    draw_regret,
)
from affinity_bandits.plots.results import quantile_fans
from affinity_bandits.plots.style import save_figure
from tests.plots.test_style import RESULT
from tests.simulation.test_rankings import made

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[10, 10])


def test_lines_end_where_the_summary_says() -> None:
    result = simulate(BANDIT, ["ucb1", "elimination"], 5000, 25)
    runs, means = draw_regret(result).axes[0], draw_regret(result, band="t").axes[0]
    for i, row in enumerate(result.summary()):
        assert runs.lines[i].get_ydata()[-1] == row.regret_runs.estimate
        assert means.lines[i].get_ydata()[-1] == pytest.approx(row.regret.estimate)


def test_a_picture_is_drawn_where_and_as_the_reader_wants() -> None:
    result = simulate(BANDIT, ["ucb1", "elimination"], 500, 3)
    figure = Figure()
    axes = figure.subplots()
    drawn = result.plot(ax=axes, scale="linear", labels={"elimination": "Algorithm 1"})
    assert drawn is figure
    assert axes.get_yscale() == "linear"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ucb1", "Algorithm 1"]
    with pytest.raises(InvalidInput, match="band must be one of betting, bootstrap, runs, t"):
        result.plot(band="sd")


def test_a_notebook_shows_a_picture_by_itself() -> None:
    figure = simulate(BANDIT, "ucb1", 100, 2).plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert isinstance(figure, Figure)


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
    assert len(axes.lines) == 2
    for line in axes.lines:
        assert not (np.asarray(line.get_ydata(), dtype=float) <= 0.0).any()
    save_figure(figure, tmp_path / "regret.png")


@pytest.mark.slow
def test_without_any_regret_there_is_no_logarithm(tmp_path: Path) -> None:
    equal = simulate(AffinityBandit([0.5, 0.5]), "ucb1", 100, 3)
    save_figure(draw_regret(equal), tmp_path / "regret.png")


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
