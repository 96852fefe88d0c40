"""Is the best group dropped no more often than stated? `python -m bench.validity --json`.

Exact ties are where it is hardest: nothing is to be found, every drop is a mistake, and any help
from the bias would be seen. Every number of groups meets every bias and every noise; what the
policy is told of the initial pulls, its failure probability and who leads are dealt out in turn.
The biases are steep where shares lie when groups take turns. In half of the cells a wrong group
leads for ever, so that every bet is made against the group that counts.

    validity.broken          cells in which the lower 95% limit of the measured failure probability
                             is above the stated one
    validity.worst_ratio     the largest measured one, as a part of the stated one
    validity.planted_caught  of the cells in which the policy is told too few initial pulls, the
                             part in which that is seen
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits import AffinityBandit, simulate
from affinity_bandits.bias import Bias, InGroupBonus, PiecewisePower, Power
from affinity_bandits.kernels import bind
from affinity_bandits.noise import Bernoulli, Beta, Empirical, Gaussian, Noise, Ordinal
from affinity_bandits.policies import HandicapElimination
from affinity_bandits.policies.bets import BettingState
from affinity_bandits.policies.round import RoundKernels
from affinity_bandits.simulation.intervals import proportion_interval
from bench.lines import Lines, main

RUNS = 4_000
SEED = 20_262
GROUPS = (2, 3, 8, 64)
FAILURES = (0.05, 0.2)
TOLD = ("pulls", "bound", "interval")
FAVOURED = 40
"""Initial pulls of one rival; all other groups have 10."""
MARKS = (0.1, 0.35, 0.35, 0.5, 0.55, 0.55, 0.6, 0.75, 0.8, 0.97)
NOISES: dict[str, tuple[Noise, float]] = {
    "coins": (Bernoulli(), 0.5),
    "rare coins": (Bernoulli(), 0.05),
    "Gaussian": (Gaussian(1.0), 0.5),
    "stars": (Ordinal(5), 0.6),
    "Beta": (Beta(4.0), 0.4),
    "marks": (Empirical(MARKS), 0.55),
}
"""Noise and the true mean of all groups."""
STEP_BY_STEP = ("Beta",)
"""Noises whose rounds are played pull by pull, so with fewer of them."""


class Cell(NamedTuple):
    """One tie, and what the policy is told."""

    groups: int
    bias: str
    noise: str
    told: str
    failure: float
    forced: bool
    short: bool  # told too few initial pulls: the planted error


class Line(NamedTuple):
    """How often the first group was dropped."""

    cell: dict[str, Any]
    failures: int
    runs: int
    lower: float
    broken: bool


@dataclass(frozen=True)
class WrongLeader(HandicapElimination):
    """The policy with a leader that is never the first group, and never another one."""

    name = "wrong-leader"

    def kernels(self) -> RoundKernels:
        absorb = bind(HandicapElimination.absorb, takes_the_lead=second_leads)
        return RoundKernels(self.plan, absorb, self.candidate)


def second_leads(state: BettingState, price: float) -> bool:
    """Let the second group lead, or whoever is left of those after it; a kernel."""
    leader = state.leader[0]
    if leader >= 0 and state.dropped_in[leader] == 0:
        return False
    for position in range(state.left[0]):
        if state.active[position] > 0:
            state.leader[0] = state.active[position]
            return True
    return False


def biases(groups: int) -> dict[str, Bias]:
    """Return biases that are steep at the equal share."""
    equal = 1.0 / groups
    return {
        "share": Power(1.0),
        "step": PiecewisePower([0.9998 * equal, 1.0002 * equal, 1.0], [0.4, 1.0, 1.0]),
        "ramp": PiecewisePower([0.9 * equal, 1.1 * equal, 1.0], [0.4, 1.0, 1.0]),
        "bonus": InGroupBonus(0.5),
    }


def cells() -> list[Cell]:
    """Return the cells, the planted errors last."""
    found: list[Cell] = []
    for groups in GROUPS:
        for bias in biases(groups):
            for noise in NOISES:
                turn = len(found)
                found.append(
                    Cell(
                        groups,
                        bias,
                        noise,
                        TOLD[turn % 3],
                        FAILURES[turn // 3 % 2],
                        forced=(turn // 6 + turn // 24) % 2 == 1,
                        short=False,
                    )
                )
    planted = [
        Cell(groups, "step", noise, "pulls", 0.05, forced=True, short=True)
        for groups in (2, 3)
        for noise in ("coins", "Gaussian", "stars")
    ]
    return [*found, *planted]


def policy_of(cell: Cell, pulls: Sequence[int]) -> HandicapElimination:
    """Return the policy of a cell."""
    told = list(pulls)
    if cell.short:
        # The leader is said to have two fewer than it has: as many as the others, then.
        told[1] -= 2
    chosen = WrongLeader if cell.forced else HandicapElimination
    scale: dict[str, Any] = {"sigma": 1.0} if cell.noise == "Gaussian" else {"bounded": True}
    if cell.told == "bound":
        return chosen(max(told) - min(told), failure=cell.failure, **scale)
    if cell.told == "interval":
        pairs = [[max(0, one - 2), one + 3] for one in told]
        return chosen(initial_pulls=pairs, failure=cell.failure, **scale)
    return chosen(initial_pulls=told, failure=cell.failure, **scale)


def measure(cell: Cell, runs: int) -> Line:
    """Run one cell."""
    noise, mean = NOISES[cell.noise]
    pulls = [10, FAVOURED, *[10] * (cell.groups - 2)]
    bandit = AffinityBandit(
        [mean] * cell.groups,
        bias=biases(cell.groups)[cell.bias],
        initial_pulls=pulls,
        noise=noise,
    )
    passes = 300 if cell.noise in STEP_BY_STEP else 1_000 if cell.groups > 8 else 4_000
    policy = policy_of(cell, pulls)
    horizon = passes * cell.groups
    result = simulate(bandit, policy, horizon, runs, SEED, checkpoints=1, progress=False)
    failures = int((~result.candidates[0, :, 0].astype(bool)).sum())
    lower = proportion_interval(failures, runs, 0.95)[1]
    return Line(cell._asdict(), failures, runs, lower, lower > cell.failure)


def figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return what the cells say."""
    real = [line for line in lines if not line.cell["short"]]
    planted = [line for line in lines if line.cell["short"]]
    ratios = [line.failures / line.runs / line.cell["failure"] for line in real]
    return {
        "validity.cells": len(real),
        "validity.broken": sum(line.broken for line in real),
        "validity.worst_ratio": max(ratios),
        "validity.median_ratio": float(np.median(ratios)),
        "validity.planted_caught": sum(line.broken for line in planted) / len(planted),
    }


def table(lines: Sequence[Line]) -> str:
    """Return a line for each cell: how often the best group was dropped."""
    text = []
    for line in lines:
        words = " ".join(f"{name}={value}" for name, value in line.cell.items())
        text.append(f"{line.failures / line.runs:.4f}  {words}")
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(main(Lines(__doc__ or "", Line, cells(), measure, figures, table, RUNS)))
