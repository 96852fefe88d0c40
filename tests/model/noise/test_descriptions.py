"""Noises in cells, sweeps, stores, saved results and at the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Cell,
    Experiment,
    InvalidInput,
    NotSupported,
    Result,
    Store,
    Sweep,
    policy_from_json,
    run_cells,
    simulate,
)
from tests.model.noise.examples import EVENLY, spread_evenly
from tests.model.noise.examples import NOISES as EXAMPLES

FIXED = {"bandit.true_means": [0.4, 0.6], "policy": "ucb1", "horizon": 50}


def test_cells_of_a_sweep_are_the_cells_that_they_are_built_as() -> None:
    """With the mechanism left out, which is then the noise's own first one."""
    described = [noise.to_json() for noise in EXAMPLES if noise.name != "custom"]
    sweep = Sweep({"bandit.noise": ["bernoulli", "ordinal", *described]}, FIXED, 1)
    for planned in sweep.planned():
        cell = planned.cell()  # fails where the planned identity is not the built one's
        assert cell.bandit.mechanism == cell.bandit.noise.mechanisms[0]


def test_results_of_a_sampler_that_is_gone_can_be_read_and_not_run(tmp_path: Path) -> None:
    bandit = AffinityBandit([0.4, 0.6], noise=EVENLY)
    store = Store(tmp_path)
    run_cells(Experiment([Cell(bandit, policy_from_json("ucb1"), 50)], 3), store)
    (kept,) = store.kept()
    found = store.result(kept)
    assert found.bandit.to_json() == bandit.to_json()
    assert str(found.bandit.noise) == "evenly"
    assert found.regret.shape == (1, 3, 1)
    for use in (lambda: simulate(found.bandit, "ucb1", 10, 1), lambda: found.bandit.feedback):
        with pytest.raises(NotSupported, match="noise 'evenly' is code of your own"):
            use()


def test_a_saved_result_takes_its_sampler_back(tmp_path: Path) -> None:
    bandit = AffinityBandit([0.4, 0.6], noise=EVENLY)
    result = simulate(bandit, "ucb1", 50, 2)
    result.save(tmp_path / "result.npz")
    again = Result.load(tmp_path / "result.npz", samplers={"evenly": spread_evenly})
    assert again.bandit == bandit
    np.testing.assert_array_equal(again.pulls, result.pulls)
    with pytest.raises(InvalidInput, match=r"pass: samplers=\{'evenly': f\}"):
        Result.load(tmp_path / "result.npz")
