"""How public objects look at a prompt and in a notebook, and what types their results have."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Assumptions,
    Cell,
    Experiment,
    PiecewisePower,
    PolicyRun,
    Power,
    SummaryRow,
    Sweep,
)
from affinity_bandits.base.displays import LONGEST, Interval, html_table
from affinity_bandits.experiments import CellSummary, Kept, Shard, Summary, axes_of
from affinity_bandits.experiments.summaries import FinishedCounts
from affinity_bandits.planning import (
    Outcome,
    hard_worlds,
)
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
WIDE = Interval(1 / 3, 1 / 7, 1e9 / 3)
LARGE = {
    "bandit": FIFTY,
    "bias": PiecewisePower(np.linspace(0.01, 1, 100), np.linspace(0.1, 1, 100)),
    "run": PolicyRun(LONG, {"name": "ucb1", "settings": LONG}, False, "steps", LONG, LONG),
    "row": SummaryRow(LONG, "steps", WIDE, WIDE, WIDE, None, 1 / 3, WIDE, 40, 40),
    "outcome": Outcome(600, 0, 0, 1 / 3, 1 / 7, (1e6 / 7,) * 50, (1e6 / 7,) * 50),
    "world": hard_worlds(MANY_GROUPS)[-1],
    "cell": CELL,
    "shard": Shard(CELL, 0, 10),
    "experiment": Experiment([CELL], 10),
    "sweep": SWEEP,
    "planned": PLANNED,
    "kept": Kept(PLANNED.identity, PLANNED.text * 5),
    "axis": axes_of(SWEEP)[0],
    "cell summary": CellSummary("0" * 32, (0,) * 9, 5, *(WIDE,) * 5, 1 / 3, LONG, LONG),
    "finished": FinishedCounts(1, 2, {"policy": [(1, 2)] * 500}),
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


def test_every_text_of_a_table_is_escaped() -> None:
    text = html_table("<b>", ["a & b"], [["<i>", '"quoted"']])
    assert "&lt;b&gt;" in text
    assert "a &amp; b" in text
    assert "<i>" not in text
    assert "<thead>" not in html_table("", (), [])
