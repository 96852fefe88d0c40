"""What a fair comparison costs beside an ordinary test: `python -m research.practice --json`.

Every scenario of `practice_scenarios` runs with the head-start policy, given the initial pulls or
only a bound on their differences, and with a target as a plan would set it ("aimed"): .85 of the
choices that suffice in 95% of runs without one. The cost of a run is the number of choices until
one group is left. The baseline is a fixed-size test that assumes no bias.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from affinity_bandits.policies import HeadStartElimination
from affinity_bandits.simulation.intervals import proportion_interval
from checks.bench.measure import Lines, geometric_mean, main_of_lines
from research.practice_play import played
from research.practice_scenarios import FAILURE, SCENARIOS, Scenario, holdout

RUNS = 2_000
HORIZON = 100_000
SEED = 20_261
AIMED = "aimed"
TARGET = 0.85
PILOT_RUNS, PILOT_SEED = 400, 20_262


class Line(NamedTuple):
    """One policy on one scenario."""

    scenario: str
    policy: str
    holdout: bool
    ordinary_test: int
    mean_ratio: float
    p95_ratio: float
    failures: int
    runs: int
    undecided: int


def policies(scenario: Scenario) -> dict[str, HeadStartElimination]:
    """Return the policies that run on a scenario, told what can be known before it."""
    pulls = scenario.initial_pulls
    known = HeadStartElimination(initial_pulls=pulls, bounded=True, failure=FAILURE)
    bound = HeadStartElimination(max(pulls) - min(pulls), bounded=True, failure=FAILURE)
    return {
        "head_start": known,
        "bound_only": bound,
        AIMED: known,
        f"{AIMED}.bound_only": bound,
    }


def with_target(scenario: Scenario, policy: HeadStartElimination) -> HeadStartElimination:
    """Return the policy with the target that a plan would set."""
    _, choices = played(scenario, policy, runs=PILOT_RUNS, horizon=HORIZON, seed=PILOT_SEED)
    return replace(policy, target=round(TARGET * float(np.quantile(choices, 0.95))))


def measure(item: tuple[Scenario, str, HeadStartElimination, bool], runs: int) -> Line:
    """Run one policy on one scenario."""
    scenario, label, policy, held = item
    if label.startswith(AIMED):
        policy = with_target(scenario, policy)
    dropped, choices = played(scenario, policy, runs=runs, horizon=HORIZON, seed=SEED)
    best = int(np.argmax(scenario.means))
    test = scenario.ordinary_test
    return Line(
        scenario=scenario.name,
        policy=label,
        holdout=held,
        ordinary_test=test,
        mean_ratio=float(choices.mean()) / test,
        p95_ratio=float(np.quantile(choices, 0.95)) / test,
        failures=int(dropped[best]),
        runs=runs,
        undecided=int((choices == HORIZON).sum()),
    )


def work() -> list[tuple[Scenario, str, HeadStartElimination, bool]]:
    """Return a scenario, a policy under its label, and whether it is held out, for each line."""
    return [
        (scenario, label, policy, held)
        for held, scenarios in ((False, SCENARIOS), (True, holdout()))
        for scenario in scenarios
        for label, policy in policies(scenario).items()
    ]


def figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return what the scenarios say of each policy, the hold-out by itself."""
    found: dict[str, float] = {}
    for label in dict.fromkeys(line.policy for line in lines):
        own = "" if label == "head_start" else f".{label}"
        for held in (False, True):
            some = [line for line in lines if (line.policy, line.holdout) == (label, held)]
            key = f"practice{own}.holdout" if held else f"practice{own}"
            found[f"{key}.mean_ratio"] = geometric_mean(line.mean_ratio for line in some)
            found[f"{key}.p95_ratio"] = geometric_mean(line.p95_ratio for line in some)
            found[f"{key}.worst_failure"] = max(
                proportion_interval(line.failures, line.runs, 0.95)[2] for line in some
            )
            for line in [] if held else some:
                found[f"practice.ordinary_test.{line.scenario}"] = line.ordinary_test
                found[f"{key}.{line.scenario}.mean_ratio"] = line.mean_ratio
                found[f"{key}.{line.scenario}.p95_ratio"] = line.p95_ratio
    return found


def table(lines: Sequence[Line]) -> str:
    """Return a line for each chosen scenario: mean and 95th percentile over the ordinary test."""
    labels = list(dict.fromkeys(line.policy for line in lines))
    text = [f"{'scenario':<36}  {'test':>5}  " + "  ".join(f"{label:>13}" for label in labels)]
    for name in dict.fromkeys(line.scenario for line in lines if not line.holdout):
        own = {line.policy: line for line in lines if line.scenario == name}
        cells = [f"{own[one].mean_ratio:>6.2f} {own[one].p95_ratio:>6.2f}" for one in labels]
        test = own[labels[0]].ordinary_test
        text.append(f"{name:<36}  {test:>5}  " + "  ".join(cells))
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(
        main_of_lines(Lines(__doc__ or "", Line, work(), measure, figures, table, RUNS, first=2))
    )
