"""How public objects look at a prompt and in a notebook, and what types their results have."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Assumptions,
    Cell,
    Experiment,
    PairedDifference,
    PiecewisePower,
    Plan,
    PolicyRun,
    Power,
    Result,
    SummaryRow,
    Sweep,
    make_plan,
    simulate,
)
from affinity_bandits.displays import LONGEST, html_table, one_line, short, some
from affinity_bandits.experiments import CellSummary, Kept, Shard, Summary, axes_of
from affinity_bandits.experiments.summaries import Finished
from affinity_bandits.planning import (
    Example,
    HardWorld,
    Outcome,
    Reach,
    ScheduledRound,
    examples,
    hard_worlds,
)
from affinity_bandits.planning.stress import Stress
from affinity_bandits.policies import UCB1

FIFTY = AffinityBandit(np.linspace(0.1, 0.9, 50), bias=Power(1.5), initial_pulls=range(1, 51))
MANY_GROUPS = Assumptions(groups=50, horizon=10**9, smallest_difference=0.3)
LONG = "a caveat that goes on and on, " * 30
SWEEP = Sweep(
    axes={
        "bandit.bias": [{"name": "power", "alpha": 1.0 + i / 10} for i in range(50)],
        "policy": ["ucb1", "elimination"],
    },
    fixed={"bandit.true_means": [0.4, 0.6], "horizon": 1000},
)
CELL = Cell(FIFTY, UCB1(), 1000, checkpoints=tuple(range(1, 1000)))
PLANNED = next(iter(SWEEP.planned()))
LARGE = {
    "bandit": FIFTY,
    "bias": PiecewisePower(np.linspace(0.01, 1, 100), np.linspace(0.1, 1, 100)),
    "run": PolicyRun(LONG, {"name": "ucb1", "settings": LONG}, False, "steps", LONG, LONG),
    "row": SummaryRow(LONG, "steps", (1 / 3, 1 / 7, 1e9 / 3), (1e9 / 7,) * 3, (1 / 3,) * 3, None),
    "outcome": Outcome(600, 0, 0, 1 / 3, 1 / 7, (1e6 / 7,) * 50, (1e6 / 7,) * 50),
    "example": examples(MANY_GROUPS)[-1],
    "world": hard_worlds(MANY_GROUPS)[-1],
    "cell": CELL,
    "shard": Shard(CELL, 0, 10),
    "experiment": Experiment([CELL], 10),
    "sweep": SWEEP,
    "planned": PLANNED,
    "kept": Kept(PLANNED.identity, PLANNED.text * 5),
    "axis": axes_of(SWEEP)[0],
    "cell summary": CellSummary("0" * 32, (0,) * 9, 5, *((1 / 3, 1 / 7, 1e9 / 3),) * 4, LONG, LONG),
    "finished": Finished(1, 2, {"policy": [(1, 2)] * 500}),
    "summary": Summary(0, 0, 100, {f"shard {i}": LONG for i in range(100)}, [LONG] * 100),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_object_is_one_short_line(name: str) -> None:
    shown = repr(LARGE[name])
    assert len(shown) <= LONGEST
    assert "\n" not in shown
    assert type(LARGE[name]).__name__ in shown


def test_what_is_small_can_be_typed_back() -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Power(2.0), initial_pulls=[10, 5], memory=30)
    names = {name: getattr(__import__("affinity_bandits"), name) for name in ("Power", "Bernoulli")}
    assert eval(repr(bandit), {"AffinityBandit": AffinityBandit, **names}) == bandit


def test_a_sweep_says_how_much_it_is() -> None:
    assert repr(SWEEP) == (
        "<Sweep: cells: 100 (bandit.bias of 50, policy of 2), replicates of each: 100, seed 0>"
    )


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    given = {
        "enough": Assumptions(groups=2, horizon=100_000, smallest_difference=0.3),
        "too few": Assumptions(groups=2, horizon=200, smallest_difference=0.3),
    }
    return {name: make_plan(one, progress=False) for name, one in given.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["enough", "too few"])
def test_a_plan_is_one_short_line_with_its_verdict(plans: dict[str, Plan], name: str) -> None:
    plan = plans[name]
    shown = repr(plan)
    assert len(shown) <= 200
    assert shown.startswith("<Plan: 2 groups, differences of 0.3 or more, ")
    assert f"{plan.assumptions.horizon:,} choices: {name}" in shown
    assert plan.enough or f"{plan.sufficient:,} would do" in shown
    assert str(plan.policy) in shown


@pytest.mark.slow
def test_a_notebook_shows_the_plan(plans: dict[str, Plan]) -> None:
    plan = plans["enough"]
    text = plan._repr_html_()
    assert text.startswith("<table><caption>2 groups, differences of 0.3 or more, ")
    assert "at most 5%, proven" in text
    assert f"{short(plan.cost.choices_95)} of 100,000" in text


def test_every_text_of_a_table_is_escaped() -> None:
    text = html_table("<b>", ["a & b"], [["<i>", '"quoted"']])
    assert "&lt;b&gt;" in text
    assert "a &amp; b" in text
    assert "<i>" not in text
    assert "<thead>" not in html_table("", (), [])


def test_names_in_a_row() -> None:
    assert some(["a", "b"]) == "a, b"
    assert some([str(i) for i in range(9)]) == "0, 1, 2, 3, ... 5 more"
    assert len(some(["x" * 1000] * 1000)) < 140


def test_numbers_of_either_sign_are_short() -> None:
    assert [short(x) for x in (123456.7, -123456.7, 0.123456, -12.3456)] == [
        *("123,457", "-123,457", "0.123", "-12.3")
    ]


PUBLIC_RESULTS = [
    *(Result, PolicyRun, SummaryRow, PairedDifference),
    *(Plan, Outcome, Reach, ScheduledRound, HardWorld, Example, Stress),
    *(Summary, CellSummary, Finished),
]


@pytest.mark.parametrize("result", PUBLIC_RESULTS)
def test_no_result_is_of_any_type(result: type) -> None:
    annotations = dict(inspect.get_annotations(result))
    for name, member in vars(result).items():
        function = member.fget if isinstance(member, property) else member
        function = getattr(function, "__func__", function)
        if not name.startswith("_") and inspect.isfunction(function):
            for part, annotation in inspect.get_annotations(function).items():
                annotations[f"{name}.{part}"] = annotation
    assert annotations
    found = {at: one for at, one in annotations.items() if re.search(r"\bAny\b", str(one))}
    assert not found


def test_the_line_of_a_simulation_and_of_its_parts() -> None:
    result = simulate(FIFTY, ["uniform", "elimination"], 10_000, 200, progress=False)
    assert len(repr(result)) <= 200
    for one in (*result.runs, *result.summary()):
        assert repr(one) == one_line(one)
        assert len(repr(one)) <= LONGEST
