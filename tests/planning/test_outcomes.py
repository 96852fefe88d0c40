"""What runs say of a plan: a number that suffices in 19 of 20 cases is a limit."""

from __future__ import annotations

import pytest

from affinity_bandits.planning.outcomes import exceptions, most
from affinity_bandits.simulation.intervals import proportion_interval


@pytest.mark.parametrize(("runs", "left"), [(20, -1), (59, 0), (93, 1), (150, 2), (300, 8)])
def test_what_suffices_in_19_of_20_cases_is_a_limit_and_no_guess(runs: int, left: int) -> None:
    assert exceptions(runs) == left
    if left >= 0:
        assert proportion_interval(left, runs, 0.9)[2] <= 0.05
    assert proportion_interval(left + 1, runs, 0.9)[2] > 0.05
    assert most(range(runs)) == runs - 1 - max(0, left)
