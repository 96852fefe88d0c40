"""Noises in cells, sweeps, stores, saved results and at the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

from affinity_bandits import (
    AffinityBandit,
    Beta,
    Cell,
    Experiment,
    NotSupported,
    Result,
    Store,
    Sweep,
    UnknownName,
    policy_from_json,
    run_cells,
    simulate,
)
from affinity_bandits.cli.app import app
from affinity_bandits.experiments.packing import Guess
from affinity_bandits.experiments.processes import unsendable
from affinity_bandits.noise import NOISES

from .examples import EVENLY, spread_evenly
from .examples import NOISES as EXAMPLES

FIXED = {"bandit.true_means": [0.4, 0.6], "policy": "ucb1", "horizon": 50}


def test_cells_of_a_sweep_are_the_cells_that_they_are_built_as() -> None:
    """With the mechanism left out, which is then the noise's own first one."""
    described = [noise.to_json() for noise in EXAMPLES if noise.name != "custom"]
    sweep = Sweep({"bandit.noise": ["bernoulli", "ordinal", *described]}, FIXED, 1)
    for planned in sweep.planned():
        cell = planned.cell()  # fails where the planned identity is not the built one's
        assert cell.bandit.mechanism == cell.bandit.noise.mechanisms[0]


def test_a_sweep_in_a_file_names_noises_with_their_settings(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        """
        replicates = 2
        [axes]
        "bandit.noise" = [
            { name = "ordinal", scores = 5 },
            { name = "beta", concentration = 4 },
            { name = "empirical", column = [40, 60, 60, 80], highest = 100 },
        ]
        [fixed]
        policy = "elimination"
        horizon = 40
        [fixed.bandit]
        true_means = [0.5, 0.6]
        bias = { name = "in-group-bonus", bonus = 0.5 }
        """
    )
    store = Store(tmp_path / "store")
    summary = run_cells(Sweep.from_toml(file), store)
    assert (summary.run, summary.failed) == (6, 0)


@dataclass(frozen=True)
class Mine(Beta):
    """A noise of the user's own, known by its name."""

    name: ClassVar[str] = "mine"


def test_a_noise_of_ones_own_is_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NOISES, "mine", Mine)
    sweep = Sweep({"bandit.noise": ["mine", "beta"]}, FIXED, 1)
    mine, ours = (planned.cell() for planned in sweep.planned())
    assert set(mine.code) == {"bandit"}
    assert not ours.code
    assert mine.bandit.noise == Mine()


def shifted_down(mean: float, u: float) -> float:
    return mean + (2.0 * u - 1.0) * min(mean, 10.0 - mean) * 0.5


def test_two_samplers_under_one_label_are_two_cells() -> None:
    other = type(EVENLY)(shifted_down, 0.0, 10.0, "evenly")
    cells = [
        Cell(AffinityBandit([0.4, 0.6], noise=noise), policy_from_json("ucb1"), 50)
        for noise in (EVENLY, other)
    ]
    assert cells[0].bandit.to_json() == cells[1].bandit.to_json()
    assert cells[0].identity != cells[1].identity
    assert "noise 'evenly'" in str(unsendable(cells[0], "why"))


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
    with pytest.raises(UnknownName, match="noise label"):
        Result.load(tmp_path / "result.npz")


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ("ordinal", "Ordinal(5 scores, 1 to 5) (gated)"),
        ("ordinal:scores=7", "Ordinal(7 scores, 1 to 7) (gated)"),
        ("beta:concentration=4", "Beta(concentration=4) (redrawn)"),
    ],
)
def test_a_command_takes_a_noise_with_its_settings(noise: str, said: str) -> None:
    words = "simulate --means 0.4,0.6 --horizon 60 --replicates 2 --policy ucb1 --noise"
    done = CliRunner().invoke(app, [*words.split(), noise])
    assert done.exit_code == 0, done.output
    assert said in " ".join(done.output.split())


def test_work_is_guessed_by_the_engine_that_a_noise_allows() -> None:
    """Else a shard of scores that are played one by one would take hours, not a second."""

    def guessed(noise: str, mechanism: str | None = None, memory: int | None = None) -> float:
        bandit = AffinityBandit([0.4, 0.6], noise=noise, mechanism=mechanism, memory=memory)
        return Guess().seconds(Cell(bandit, policy_from_json("elimination"), 10**9))

    by_rounds = guessed("bernoulli")
    assert guessed("ordinal") == guessed("gaussian") == by_rounds < 0.001
    by_steps = guessed("bernoulli", memory=9)
    assert guessed("beta") == guessed("ordinal", "scaled") == by_steps > 10.0
    assert guessed("bernoulli", "scaled") == by_steps
