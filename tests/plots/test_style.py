"""Figures in the size of a journal's column."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.looks import LIGHT
from affinity_bandits.plots import draw_ranking, save_for_print
from affinity_bandits.plots.style import line_style, svg_element
from tests.simulation.test_rankings import made

RESULT = made(np.random.default_rng(0).random((3, 40)))


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


def test_a_figure_of_a_page_has_the_colors_of_the_page() -> None:
    drawn = svg_element(draw_ranking(RESULT.ranking()), "a <b> & c")
    assert drawn.startswith("<svg")
    assert 'aria-label="a &lt;b&gt; &amp; c"' in drawn
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', drawn)) <= {
        "none",
        *(f"var(--{name})" for name in LIGHT),
    }
    assert not re.search(r"style|<g id|#[0-9a-f]{6}\b", drawn)


def test_sixteen_lines_differ() -> None:
    styles = {tuple(line_style(index).values()) for index in range(17)}
    assert len(styles) == 16
