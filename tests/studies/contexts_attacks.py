"""Instances that try to make a comparison in passes drop a best group, inside its assumptions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from affinity_bandits.bias import Bias, Constant, PiecewisePower
from affinity_bandits.policies import HandicapElimination
from affinity_bandits.studies.contexts_model import TypedBandit, simulate_types
from affinity_bandits.studies.contexts_policies import HalfCountHandicap


class Attack(NamedTuple):
    bandit: TypedBandit
    best: list[int]
    horizon: int


class Found(NamedTuple):
    """How often a best group was dropped: in each instance, and in the worst ones again."""

    bold: list[int]
    worst: list[int]


def step(share: float, low: float) -> PiecewisePower:
    """All but a step just below a share, so that the share itself is above it."""
    return PiecewisePower([share * (1.0 - 2e-6), share * (1.0 - 1e-6)], [low, 1.0])


def visited(groups: int, rng: np.random.Generator) -> Bias:
    """A bias that is steep at shares which groups have in their turns."""
    low = float(rng.choice([0.001, 0.1, 0.5]))
    kind = int(rng.integers(4))
    if kind == 0:
        return Constant()
    if kind == 1:
        return step(1.0 / groups, low)
    if kind == 2:  # between two turns of some pass
        members = int(rng.choice([6, 20, 60]))
        return step(members / (groups * members + int(rng.integers(groups + 1))), low)
    return PiecewisePower([0.9 / groups, 1.1 / groups], [low, 1.0])


def attacks(count: int) -> list[Attack]:
    """Groups that tie in every pass, some that are worse, and one with a head start that leads.

    Two groups may be best for opposite types: a pass has one arrival of each. With more groups
    rows are alike, so that they tie in passes of those that are left, too.
    """
    rng = np.random.default_rng(23)
    found = []
    for number in range(count):
        groups = int(rng.choice([2, 3, 4], p=[0.6, 0.25, 0.15]))
        high, low = float(rng.choice([1.0, 0.9, 0.5])), float(rng.choice([0.0, 0.1]))
        order = [[0, 1], [0, 1, 1], [0, 0, 1], [1, 0]][int(rng.integers(4))]
        rows = [[high, low] for _ in range(groups)]
        best = list(range(groups))
        if groups == 2 and number % 2:
            rows[1] = [low, high]
            order = order if len(order) == 2 else [0, 1]
        elif groups > 2 and number % 3 == 0:
            worse = int(rng.integers(groups))
            rows[worse] = [0.3 * high, 0.3 * low]
            best.remove(worse)
        initial = [1] * groups
        initial[int(rng.integers(groups))] = int(rng.choice([1, 1, 5, 40]))
        opposite = rows[0] != rows[1] and groups == 2
        arrivals = "by turn" if opposite else str(rng.choice(["by turn", "listed"]))
        bandit = TypedBandit(rows, visited(groups, rng), initial, order, arrivals)
        found.append(Attack(bandit, best, 200 * groups + 2 * sum(initial)))
    return found


def dropped(
    attack: Attack,
    kind: type[HandicapElimination],
    level: float,
    runs: int,
    seed: int,
    *,
    shuffles: bool = True,
) -> int:
    """Return in how many runs the best group that was dropped most often was dropped."""
    policy = kind(bounded=True, failure=level, initial_pulls=attack.bandit.initial)
    found = simulate_types(attack.bandit, policy, attack.horizon, runs, seed, shuffles=shuffles)
    return int((found.kept[:, attack.best] == 0).sum(axis=0).max())


def searched(instances: int, runs: int, worst: int, again: int, bold: float, level: float) -> Found:
    """Rank instances at a bold level, and run the worst ones again at a usual one."""
    tried = attacks(instances)
    failed = [dropped(attack, HalfCountHandicap, bold, runs, 5) for attack in tried]
    numbers = np.argsort(failed, kind="stable")[-worst:]
    return Found(failed, [dropped(tried[at], HalfCountHandicap, level, again, 6) for at in numbers])
