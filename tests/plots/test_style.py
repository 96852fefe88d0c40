"""Figures in the size of a journal's column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.plots import (
    draw_ranking,
    save_for_print,
)
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
