"""How fast a run with a log is beside the same run without: `python -m bench.logs --json`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from affinity_bandits import AffinityBandit, Gaussian, InGroupBonus, Joining, Judges, Power, StepRun
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.simulation.logged_run import LoggedRun
from bench.measure import in_turn, main

REPLICATES = 4
SLICES = 9

PANEL = AffinityBandit(
    [0.45, 0.6, 0.5],
    bias=InGroupBonus(0.5),
    initial_pulls=[40, 10, 25],
    joining=Joining(part=0.2),
    judges=Judges("panel", seats=9, seating="in proportion"),
)
CASES: dict[str, tuple[AffinityBandit, str, int]] = {
    "bernoulli.k2": (AffinityBandit([0.4, 0.6], bias=Power(1.0)), "ucb1", 1_000_000),
    "gaussian.k2": (AffinityBandit([0.4, 0.6], "power", noise=Gaussian()), "ucb1", 1_000_000),
    "bernoulli.k32": (
        AffinityBandit(np.linspace(0.4, 0.6, 32).tolist(), bias=Power(1.0)),
        "ucb1",
        200_000,
    ),
    "uniform.k2": (AffinityBandit([0.4, 0.6], bias=Power(1.0)), "uniform", 1_000_000),
    "rounds.k2": (AffinityBandit([0.4, 0.6], bias=Power(1.0)), "elimination", 1_000_000),
    "panel.k3": (PANEL, "ucb1", 500_000),
    "panel.rounds.k3": (PANEL, "elimination", 500_000),
}


def run() -> dict[str, float]:
    """Return the figures of this benchmark: speed with a log as a part of that without."""
    figures: dict[str, float] = {}
    for name, (bandit, policy, horizon) in CASES.items():
        figures |= compared(name, bandit, policy, horizon)
    return figures


def compared(name: str, bandit: AffinityBandit, policy: str, horizon: int) -> dict[str, float]:
    """Compare runs whose logs are in memory in the end with runs that keep none.

    In pairs of neighbours, and by the middle of them: the shortest times of the two need not come
    from the same spell of the machine.
    """
    made = policy_from_json(policy, bandit)
    plain = StepRun(bandit, made, horizon)
    logged = LoggedRun(bandit, made, horizon)
    everybody = LoggedRun(bandit, made, horizon, unchosen=True)

    def without() -> Any:
        for replicate in range(REPLICATES):
            plain.restart(replicate)
            plain.advance(horizon)
        return plain.pulls

    def with_log(run: LoggedRun) -> Any:
        return [run.log(replicate).pulls for replicate in range(REPLICATES)][-1]

    # Both must do the same work, or the comparison says nothing.
    np.testing.assert_array_equal(with_log(logged), without())
    np.testing.assert_array_equal(with_log(everybody), without())
    found = in_turn(without, lambda: with_log(logged), SLICES)
    with_others = in_turn(without, lambda: with_log(everybody), SLICES)
    return {
        f"logs.{name}.speed": found.speed[0],
        f"logs.{name}.work": found.work[0],
        f"logs.{name}.work_least": found.work[1],
        f"logs.{name}.everybody.work": with_others.work[0],
    }


if __name__ == "__main__":
    sys.exit(main(run))
