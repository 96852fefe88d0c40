"""When a policy decided, what it recommends, and policies and biases given as plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, InPython, InvalidInput, Power, Result, simulate
from affinity_bandits.experiments import Store
from affinity_bandits.simulation.intervals import KINDS, flip_signs

EASY = AffinityBandit([0.1, 0.9, 0.1], bias="constant")
HORIZON = 20_000


def run(policy: object, engine: str = "auto", **settings: object) -> Result:
    return simulate(EASY, policy, HORIZON, 4, engine=engine, progress=False, **settings)  # type: ignore[arg-type]


def test_decisions_are_in_tables_and_stores(tmp_path: object) -> None:
    result = run(["elimination", "ucb1"])
    rows = result.summary()
    assert rows[0].decided_at is not None
    assert rows[0].decided_at.low <= rows[0].decided_at.estimate <= rows[0].decided_at.high
    assert (rows[1].decided_at, rows[1].simple_regret) == (None, 0.0)
    table = rows.to_pandas()
    assert table.loc["elimination", "decided_at"] == rows[0].decided_at.estimate
    assert rows.to_latex().count(r"\\") == 3
    assert result.to_xarray().decided_at.isnull().sum() == 4  # of ucb1
    assert Store(str(tmp_path)).content_hash()


def test_the_result_is_the_same_for_any_number_of_processes() -> None:
    one, two = (run(["ucb1", "elimination"], n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.pulls, two.pulls)
    np.testing.assert_array_equal(one.decided_at, two.decided_at)
    assert one.labels == two.labels


class Last:
    """Always takes the last arm."""

    def __init__(self, arms: int, horizon: int, rng: np.random.Generator) -> None:
        self.arm = arms - 1

    def select(self) -> int:
        return self.arm

    def update(self, arm: int, feedback: float) -> None:
        pass


def test_a_plain_class_is_played_and_a_function_is_a_bias() -> None:
    found = simulate(EASY, InPython(Last), 50, 2, progress=False)
    assert found.runs[0].engine == "python"
    assert (found.pulls[0, :, -1, 2] == 50).all()
    bandit = AffinityBandit([0.4, 0.6], bias=lambda share: share**2)
    assert bandit.bias.weight(0.5) == 0.25
    assert bandit.bias.lipschitz == pytest.approx(2.0, abs=1e-3)
    with pytest.raises(InvalidInput, match="nondecreasing"):
        AffinityBandit([0.4, 0.6], bias=lambda share: 1.0 - share)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_holds_the_mean_and_narrows_with_its_assumptions(kind: str) -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    result = simulate(bandit, "elimination", 5_000, 40, progress=False)
    regret = result.summary(interval=kind)[0].regret
    assert regret.low <= regret.estimate <= regret.high
    wide = result.summary()[0].regret
    assert regret.high - regret.low <= wide.high - wide.low


def test_signs_are_flipped_at_the_level_they_promise() -> None:
    """Of 400 columns of symmetric differences, a 5% test rejects 20, with a standard deviation of
    4.4; a shift of one standard deviation is seen in 20 runs nearly always."""
    rng = np.random.default_rng(5)
    equal = flip_signs(rng.standard_t(2.0, (20, 400)), 999)
    assert 7 <= (equal <= 0.05).sum() <= 33
    shifted = flip_signs(rng.normal(1.0, 1.0, (20, 100)), 999)
    assert (shifted <= 0.05).sum() >= 90
