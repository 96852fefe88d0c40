"""Sweeps: every combination is a cell; mistakes are named."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits import AffinityBandit, Gaussian, Power
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.experiments import (
    Cell,
    Sweep,
    axes_of,
)
from affinity_bandits.experiments.sweep import axis_of, fixed_words, label
from affinity_bandits.policies import POLICIES
from tests.experiments.test_summaries import SWEEP

FIXED: dict[str, Any] = {"bandit.true_means": [0.4, 0.6], "policy": "ucb1", "horizon": 100}


def test_every_cell_has_the_values_of_its_place() -> None:
    axes = {
        "bandit.bias": ["sigmoid", {"name": "power", "alpha": 2}],
        "bandit.memory": [50, None],
        "policy": [name for name in POLICIES if name not in ("lucb", "memory-elimination")],
        "horizon": [10, 1e3],
        "checkpoints": [1, 5, [3, 7, 500]],
    }
    sweep = Sweep(axes, {"bandit.true_means": [0.4, 0.6]}, seed=3)
    for one in itertools.islice(sweep.planned(), 0, None, 7):
        cell = one.cell()
        assert cell.identity == one.identity == Cell.from_json(cell.to_json()).identity
        assert cell.horizon == one.values["horizon"] == cell.checkpoints[-1]
        assert cell.policy.name == one.values["policy"]
        assert cell.bandit.memory == one.values["bandit.memory"]


def test_a_planned_cell_has_the_identity_of_one_made_by_hand() -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Power(2.0), noise=Gaussian(0.5))
    by_hand = Cell(bandit, policy_from_json("elimination"), 1000, (10,), seed=7)
    sweep = Sweep(
        {"policy": ["elimination"]},
        {
            "bandit.true_means": [0.4, 0.6],
            "bandit.bias": {"name": "power", "alpha": 2},
            "bandit.noise": {"name": "gaussian", "sigma": 0.5},
            "horizon": 1000,
            "checkpoints": [10],
        },
        seed=7,
    )
    assert [cell.identity for cell in sweep.planned()] == [by_hand.identity]
    # Identities do not depend on positions.
    one = Sweep({"horizon": [100, 200], "policy": ["ucb1", "moss"]}, {"bandit.true_means": [0.5]})
    two = Sweep({"policy": ["moss", "ucb1"], "horizon": [200, 100]}, {"bandit.true_means": [0.5]})
    assert {cell.identity for cell in one.planned()} == {cell.identity for cell in two.planned()}


def test_json_and_toml_give_the_same_sweep(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(
        """
        replicates = 7
        seed = 2
        [axes]
        policy = ["ucb1", {name = "elimination", offset = 2}]
        [axes.bandit]
        bias = ["constant", "power"]
        [fixed]
        horizon = 1e4
        [fixed.bandit]
        true_means = [0.4, 0.6]
        """
    )
    sweep = Sweep.from_toml(path)
    assert len(sweep) == 4
    again = Sweep.from_json(sweep.to_json())
    assert again == sweep
    assert [one.identity for one in again.planned()] == [one.identity for one in sweep.planned()]


@pytest.mark.parametrize(
    ("axes", "fixed", "parameter"),
    [
        ({"horizons": [1]}, FIXED, "axis of the sweep"),
        ({"horizon": 5}, FIXED, "axes.horizon"),
        ({"horizon": []}, {}, "axes.horizon"),
        ({"horizon": [5]}, FIXED, "horizon"),
        ({"bandit.bias": ["constant"]}, {"horizon": 5}, "bandit.true_means"),
        ({"bandit.bias": [{"name": "power", "alpha": 0.5}]}, FIXED, "bandit.bias: alpha"),
        ({"bandit.noise": ["loud"]}, FIXED, "bandit.noise: noise"),
        ({"bandit.memory": [0]}, FIXED, "bandit.memory: memory"),
        ({"engine": ["fast"]}, FIXED, "engine"),
        ({"bandit.initial_pulls": [[0, 1]]}, FIXED, "bandit.initial_pulls: initial_pulls[0]"),
    ],
)
def test_mistakes_are_named(axes: Any, fixed: Any, parameter: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Sweep(axes, fixed)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("key", ["bandit.bias", "policy"])
def test_an_axis_may_have_one_value_with_settings(key: str) -> None:
    axis = axis_of(key, [{"name": "power", "alpha": 2.0}])
    assert len(axis.labels) == 1
    assert axis.key == key


@pytest.mark.parametrize(
    ("key", "values", "numbers", "words"),
    [
        ("horizon", [10, 100], (10.0, 100.0), "pulls of a run (horizon)"),
        ("horizon", [10, 10], None, "pulls of a run (horizon)"),
        (
            "bandit.bias",
            [{"name": "power", "alpha": 2}, {"name": "power", "alpha": 1}],
            (2.0, 1.0),
            "alpha of the power bias",
        ),
        ("bandit.bias", ["power", "sigmoid"], None, "bias"),
        ("bandit.bias", [{"name": "power", "alpha": 2}, {"name": "sigmoid"}], None, "bias"),
        (
            "bandit.initial_pulls",
            [[10, 5], [20, 5]],
            (10.0, 20.0),
            "initial pulls of arm 0 (others: 5)",
        ),
        ("bandit.initial_pulls", [None, [20, 5]], None, "initial pulls"),
        ("bandit.initial_pulls", [[10, 5], [20, 6]], None, "initial pulls"),
        (
            "bandit.true_means",
            [[0.4, 0.6], [0.3, 0.7]],
            (0.2, 0.4),
            "gap between the best true mean and the next",
        ),
        ("bandit.true_means", [[0.4, 0.6], [0.3, 0.5]], None, "true means"),
        ("policy", ["ucb1", "moss"], None, "policy"),
    ],
)
def test_an_axis_is_read_as_numbers_where_one_number_varies(
    key: str, values: list[object], numbers: tuple[float, ...] | None, words: str
) -> None:
    axis = axis_of(key, values)
    assert axis.numbers == (None if numbers is None else pytest.approx(numbers))
    assert axis.words == words
    assert len(axis.labels) == len(values)


def test_values_are_labeled_for_a_reader() -> None:
    clipped = {"name": "clipped", "base": {"name": "power", "alpha": 2.0}, "low": 0.1}
    assert label(clipped) == "clipped(base=power(alpha=2), low=0.1)"
    assert label(1_000_000) == "1,000,000"
    assert fixed_words(SWEEP) == "horizon 200"
    assert [axis.short for axis in axes_of(SWEEP)] == ["policy", "true means"]
