"""A cell of a user's own code is that code: edited, it is another cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from affinity_bandits import AffinityBandit, Clipped, Custom, Power
from affinity_bandits.base.digests import own_code
from affinity_bandits.base.errors import AffinityError, NotSupported
from affinity_bandits.experiments import (
    Cell,
    Experiment,
    Store,
    Sweep,
    cell_summaries,
    run_cells,
    run_experiment,
)
from affinity_bandits.policies import EXP3, POLICIES, UCB1, DebiasedUCBV
from affinity_bandits.simulation import simulate
from tests.experiments.own_code import ALWAYS_FIRST, MINE, loaded

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])


def linear(share: float) -> float:
    return share


def halved(share: float) -> float:
    return 0.5 * share


def test_functions_under_one_label_are_different_cells() -> None:
    found = set()
    for function in (linear, halved):
        bias = Custom(function, 1.0, "mine")
        for used in (bias, Clipped(bias, low=0.1)):
            found.add(Cell(AffinityBandit([0.4, 0.6], bias=used), UCB1(), 100).identity)
        found.add(Cell(BANDIT, DebiasedUCBV(bias), 100).identity)
    assert len(found) == 6
    assert own_code(UCB1.select) != own_code(EXP3.select)


class Louder(UCB1):
    """Under the built-in's name and settings."""

    @staticmethod
    def select(state: Any, rng: Any) -> int:
        return 1


def test_a_policy_under_a_built_in_name_is_another_cell() -> None:
    own, ours = Cell(BANDIT, Louder(), 100), Cell(BANDIT, UCB1(), 100)
    assert own.policy.to_json() == ours.policy.to_json()
    assert own.identity != ours.identity
    again = Cell.from_json(own.to_json())  # from its JSON it would be the built-in one
    assert again.identity == own.identity
    with pytest.raises(NotSupported, match="policy 'ucb1' is not the one"):
        again.check_code()


@pytest.mark.slow
def test_edited_code_is_run_anew_and_the_old_results_stay(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")

    def pulled(folder: str, text: str) -> tuple[str, list[list[int]], int]:
        with loaded(tmp_path / folder, text) as module:
            cell = Cell(BANDIT, module.Mine(), 40)
            summary = run_cells(Experiment([cell], 4), store)
            assert summary.errors == {}
            result = store.read(cell, 4)
            # Reproducible to the bit: the streams are the cell's.
            again = simulate(BANDIT, cell.policy, 40, 4, cell.stream_seed, progress=False)
            assert (again.pulls[:, :, -1] == result.pulls[:, :, -1]).all()
            return cell.identity, result.pulls[0, :, -1].tolist(), summary.run

    before, alike, _ = pulled("before", MINE)
    assert alike == [[20, 20]] * 4
    assert pulled("again", MINE) == (before, alike, 0)
    after, first, ran = pulled("after", ALWAYS_FIRST)
    assert (first, ran) == ([[40, 0]] * 4, 4)
    kept = {item.identity: item for item in store.kept()}
    assert set(kept) == {before, after}
    assert store.result(kept[before]).pulls[0, :, -1].tolist() == alike


@pytest.mark.slow
def test_a_sweep_does_not_mix_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    axes = {"policy": ["mine", "uniform"], "horizon": [20, 30]}
    codes = []
    for text, found, ran in ((MINE, 0, 16), (MINE, 16, 0), (ALWAYS_FIRST, 8, 8)):
        with loaded(tmp_path / str(found), text) as module:
            monkeypatch.setitem(POLICIES, "mine", module.Mine)
            sweep = Sweep(axes, {"bandit.true_means": [0.4, 0.6]}, replicates=4)
            summary = run_cells(sweep, store)
            assert (summary.found, summary.run, summary.failed) == (found, ran, 0)
            codes.append([cell.code for cell in cell_summaries(sweep, store)])
    assert codes[0] == codes[1]
    assert codes[0][:2] != codes[2][:2]
    assert codes[0][2:] == codes[2][2:] == ["", ""]


@pytest.mark.slow
def test_results_are_read_when_the_code_is_gone(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with loaded(tmp_path / "code", MINE) as module:
        bandit = AffinityBandit([0.4, 0.6], bias=Clipped(Custom(halved, 0.5, "half"), low=0.1))
        run_experiment(Experiment([Cell(bandit, module.Mine(), 20)], 3), store)
    (kept,) = store.kept()
    assert kept.content["policy"]["name"] == "mine"
    assert set(kept.content["code"]) == {"policy", "bias"}
    result = store.result(kept)
    assert result.bandit.to_json() == kept.content["bandit"]
    assert result.pulls.shape == (1, 3, 1, 2)
    assert result.summary()[0].regret is not None
    with pytest.raises(NotSupported, match="bias 'clipped' is code of your own"):
        result.bandit.bias.weight(0.5)


def test_code_that_changed_after_the_cell_was_made_is_not_run(tmp_path: Path) -> None:
    cell = Cell(AffinityBandit([0.4, 0.6], bias=Custom(halved, 1.0)), UCB1(), 10)
    cell.with_code({"bias": "of another version"})
    with pytest.raises(AffinityError, match="bias 'custom' is not the one that this run"):
        run_experiment(Experiment([cell], 2), Store(tmp_path))
    assert list(Store(tmp_path).kept()) == []
