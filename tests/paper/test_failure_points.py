"""The bracket of a failure point, by hand."""

from __future__ import annotations

import math

import pytest

from affinity_bandits.paper.failure_points import bracket, power_of_ten


def table(undecided: list[int], deceived: list[int]) -> dict[str, list[float]]:
    size = len(undecided)
    return {
        "horizon": [10] * size,
        "value": list(range(size)),
        "undecided": undecided,
        "deceived": deceived,
        "runs": [100] * size,
    }


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
    assert bracket(table(undecided, deceived), "value", 10) == expected


def test_numbers_as_in_formulas() -> None:
    assert power_of_ten(10**15) == "$10^{15}$"
    assert power_of_ten(4 * 10**6) == r"$4 \times 10^{6}$"
