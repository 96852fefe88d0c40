"""Exponents, brackets and numbers of Figures 10 to 12, on data made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.experiments import Store
from affinity_bandits.paper import StoreCellRunner
from affinity_bandits.paper.scaling import BOUNDS, FIGURE_10, bracket, exponents, power_of_ten
from affinity_bandits.theory import horizon_condition


@pytest.mark.parametrize(
    ("undecided", "deceived", "expected"),
    [
        ([0, 0, 50, 100, 100], [0] * 5, (1.0, 3.0)),
        ([0, 0, 40, 20, 0], [0, 0, 10, 80, 100], (1.0, 3.0)),
        ([0, 0, 0], [0, 0, 0], (2.0, math.inf)),
        ([100, 100], [0, 0], (-math.inf, 0.0)),
        ([0, 100, 0, 100], [0, 0, 0, 0], (0.0, 3.0)),
    ],
    ids=["one kind", "both kinds count", "never fails", "always fails", "no first failure alone"],
)
def test_bracket(undecided: list[int], deceived: list[int], expected: tuple[float, float]) -> None:
    size = len(undecided)
    data = {
        "horizon": [10] * size,
        "value": list(range(size)),
        "undecided": undecided,
        "deceived": deceived,
        "runs": [100] * size,
    }
    assert bracket(data, "value", 10) == expected


def test_numbers_as_in_formulas() -> None:
    assert power_of_ten(10**15) == "$10^{15}$"
    assert power_of_ten(4 * 10**6) == r"$4 \times 10^{6}$"


def test_every_failure_of_figure_10_is_undecided(tmp_path: Path) -> None:
    """What its notes say, and why the two kinds are counted separately."""
    settings = replace(
        FIGURE_10.settings["quick"], values=(1.0, 3.0, 4.5), replicates=100, horizons=(10**6,)
    )
    data = FIGURE_10.run(settings, StoreCellRunner(Store(tmp_path)))
    assert sum(data["undecided"]) > 0
    assert sum(data["deceived"]) == 0


def test_the_exponent_of_a_known_power() -> None:
    arms = np.repeat([2, 4, 8], 2)
    data = {
        "bias": ["linear"] * 6,
        "arms": arms,
        "run": [0, 1] * 3,
        "regret": np.tile([1, 5], 3) * (arms - 1) * np.log(12 / np.pi**2 * arms**2 * 1e6) * arms**2,
        "horizon": [10**6] * 6,
    }
    assert exponents(data, "linear") == pytest.approx([2.0, 2.0])


def test_the_grid_of_the_bounds_is_large_and_mostly_meets_the_condition() -> None:
    settings = BOUNDS.settings["quick"]
    met = [
        horizon_condition(instance.bandit(settings.biases), instance.horizon).holds
        for instance in settings.instances()
    ]
    assert len(met) == 320
    assert 250 < sum(met) < 320
