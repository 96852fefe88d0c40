"""Sweeps: cells planned as text are the cells that are built; mistakes are named."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from affinity_bandits import AffinityBandit, Clipped, Gaussian, Power
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.errors import InvalidInput
from affinity_bandits.experiments import Cell, SerialExecutor, Store, Sweep, run_cells
from affinity_bandits.policies import POLICIES, HandicapElimination
from affinity_bandits.policies.as_steps import AsSteps

FIXED: dict[str, Any] = {"bandit.true_means": [0.4, 0.6], "policy": "ucb1", "horizon": 100}


@pytest.mark.slow
def test_every_planned_cell_is_the_one_that_is_built() -> None:
    axes = {
        "bandit.bias": [
            "sigmoid",
            {"name": "power", "alpha": 2},
            Clipped(Power(1.5), 0.1).to_json(),
        ],
        "bandit.initial_pulls": [[1, 1], [100, 10]],
        "bandit.noise": ["bernoulli", {"name": "gaussian", "sigma": 2}],
        "bandit.memory": [50, 60],
        "policy": [name for name in POLICIES if name != "lucb"],
        "horizon": [10, 1e3],
        "checkpoints": [1, 5, [3, 7, 500]],
        "engine": ["auto", "steps"],
    }
    sweep = Sweep(axes, {"bandit.true_means": [0.4, 0.6]}, seed=3)
    planned = list(itertools.islice(sweep.planned(), 0, None, 17))
    assert len(planned) > 100
    for one in planned:
        cell = one.cell()  # which refuses to be another one than was planned
        assert cell.identity == one.identity
        values = sweep.values(one)
        assert cell.horizon == values["horizon"]
        assert cell.policy.name == values["policy"]


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


def test_results_from_before_a_policy_chose_otherwise_are_not_taken_for_its_own(
    tmp_path: Path,
) -> None:
    """The handicap without a failure probability, which is another cell now; with one it is not."""
    name, guarded = "handicap-elimination", {"name": "handicap-elimination", "failure": 0.05}
    sweep = Sweep(
        {"policy": [name, guarded, "ucb1"]},
        {"bandit.true_means": [0.4, 0.6], "horizon": 100},
        replicates=2,
    )
    store = Store(tmp_path)
    with patch.object(HandicapElimination, "revision", 0):
        before = [one.identity for one in sweep.planned()]
        run_cells(sweep, store, SerialExecutor())
    after = [one.identity for one in sweep.planned()]
    assert [one.cell().identity for one in sweep.planned()] == after
    assert before[0] != after[0]
    assert before[1:] == after[1:]
    assert run_cells(sweep, store, SerialExecutor()).run == 2
    policy = AsSteps(HandicapElimination())
    assert (policy.revision, AsSteps(HandicapElimination(failure=0.05)).revision) == (1, 0)


def test_identities_do_not_depend_on_positions() -> None:
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
    assert sweep == Sweep.from_toml(str(path))
    assert len(sweep) == 4
    assert Sweep.from_json(sweep.to_json()) == sweep
    assert [one.identity for one in Sweep.from_json(sweep.to_json()).planned()] == [
        one.identity for one in sweep.planned()
    ]


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


def test_a_combination_that_does_not_fit_is_said_when_it_is_built() -> None:
    sweep = Sweep({"bandit.initial_pulls": [[1, 2, 3]]}, FIXED)
    (planned,) = sweep.planned()
    with pytest.raises(InvalidInput, match="initial_pulls must be as long as"):
        planned.cell()
