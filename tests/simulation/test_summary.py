"""Tables leave out intervals of amounts from too few runs, and say how many they need."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Power,
    simulate,
)
from affinity_bandits.base.displays import FEWEST_RUNS
from affinity_bandits.simulation.intervals import mean_interval, middle_runs

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
HORIZON = 10**12


def test_the_number_needed_is_that_of_the_quantiles() -> None:
    """Of 20 runs, one is 5% and lies outside of 90%; of 19, 90% would be all."""
    assert FEWEST_RUNS == 20
    for count, outside in ((5, 0), (19, 0), (20, 1), (21, 2), (100, 9)):
        _, low, high = middle_runs(np.arange(count))
        assert ((np.arange(count) < low) | (np.arange(count) > high)).sum() == outside
    # If all runs are alike, everything up to 1 - .025**(1/n) stays possible, for every method.
    for count, least in ((5, 0.522), (19, 0.176), (20, 0.168), (100, 0.036)):
        _, _, high = mean_interval(np.zeros(count), 0.0, 1.0)
        assert 1.0 - 0.025 ** (1.0 / count) == pytest.approx(least, abs=5e-4)
        assert least - 5e-4 < float(high) < 1.1 * least


@pytest.mark.slow
def test_intervals_of_few_runs_are_left_out() -> None:
    few = simulate(BANDIT, "elimination", HORIZON, FEWEST_RUNS - 1, progress=False).summary()
    enough = simulate(BANDIT, "elimination", HORIZON, FEWEST_RUNS, progress=False).summary()
    (found,), (shown,) = few.cells(), enough.cells()
    assert found[1:3] == ("69,152 (too few runs)",) * 2
    assert found[3:6] == ("0% (0 to 18)", "0% (0 to 18)", "691,520 (too few runs)")
    assert shown[1:4] == ("69,152 (69.2k to 69.2k)", "69,152 (51.1k to 34.2G)", "0% (0 to 17)")
    assert shown[5] == "691,520 (692k to 692k)"
    needed = "too few runs for an interval: it needs at least 20"
    assert needed in str(few)
    assert "G" not in str(few)
    assert "too few" not in str(enough)
    # The rows keep their numbers, which hold for every number of runs.
    (row,) = few
    assert (row.runs, row.decided) == (19, 19)
    assert row.regret.high > 1e10
    assert few.to_pandas().loc["elimination", "runs"] == 19


@pytest.mark.slow
def test_runs_that_decided_count_for_when_they_did() -> None:
    table = simulate(BANDIT, "elimination", 5_000, 40, progress=False).summary()
    assert (table[0].runs, table[0].decided) == (40, 0)
    assert table.cells()[0][5] == "-"
    assert "too few" not in str(table)
