"""Arrivals of several types, one at a time, from docs/study/studies/contexts.md."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.naive.environment import philox
from tests.support.naive.policies.base import NaivePolicy, RoundPolicy
from tests.support.naive.policies.head_start_elimination import HeadStartElimination


class HalfCounts(HeadStartElimination):
    """The wealth is multiplied by the square root of what it would be."""

    def log_factor(self, stake: float, i: int, j: int) -> float:
        return 0.5 * super().log_factor(stake, i, j)


class PerType:
    """A policy for each type."""

    def __init__(self, policies: Sequence[NaivePolicy]) -> None:
        self.policies = policies

    def select(self, kind: int, rng: np.random.Generator) -> int:
        return self.policies[kind].select(rng)

    def update(self, kind: int, arm: int, y: float) -> None:
        self.policies[kind].update(arm, y)


class LinUCB:
    """Ridge regression on one-hot group and one-hot type, solved anew for each arrival."""

    def __init__(self, K: int, C: int, alpha: float) -> None:
        self.K, self.C, self.alpha = K, C, alpha
        self.A = np.eye(K + C)
        self.b = np.zeros(K + C)

    def x(self, arm: int, kind: int) -> Any:
        return np.eye(self.K + self.C)[arm] + np.eye(self.K + self.C)[self.K + kind]

    def select(self, kind: int, rng: np.random.Generator) -> int:
        inverse = np.linalg.inv(self.A)
        theta = inverse @ self.b
        features = [self.x(arm, kind) for arm in range(self.K)]
        indices = [x @ theta + self.alpha * np.sqrt(x @ inverse @ x) for x in features]
        # Rounding must not choose between groups that are alike.
        return next(arm for arm in range(self.K) if indices[arm] > max(indices) - 1e-9)

    def update(self, kind: int, arm: int, y: float) -> None:
        x = self.x(arm, kind)
        self.A += np.outer(x, x)
        self.b += y * x


def shuffled(arms: list[int], rng: np.random.Generator) -> list[int]:
    """Return the arms in an order drawn by exchanging each, from the last on, with one before."""
    order = list(arms)
    for place in range(len(order) - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        order[place], order[other] = order[other], order[place]
    return order


def naive_types(
    means: Sequence[Sequence[float]],
    bias: Callable[[float], float],
    initial: Sequence[int],
    types: Sequence[float],
    arrivals: str,
    sigma: float,
    policy: Any,
    policy_json: object,
    horizon: int,
    seed: int,
    run: int,
    shuffles: bool = True,
) -> list[tuple[int, int, float]]:
    """Return (type, group, score) of each arrival."""
    noise = np.random.Generator(philox(seed, "noise", None, run))
    drawn = np.random.Generator(philox(seed, "type", None, run))
    own = np.random.Generator(philox(seed, "policy", policy_json, run))
    committee = [arm for arm, count in enumerate(initial) for _ in range(count)]
    log: list[tuple[int, int, float]] = []
    order: list[int] = []
    turn = 0
    for clock in range(horizon):
        by_rounds = isinstance(policy, RoundPolicy)
        if by_rounds and not order:
            order = shuffled(policy.active, own) if shuffles else list(policy.active)
            turn = 0
        if arrivals == "drawn":
            u = drawn.random()
            kind = next(
                c for c in range(len(types)) if u < sum(types[: c + 1]) or c + 1 == len(types)
            )
        else:
            at = turn if arrivals == "by turn" and by_rounds else clock
            kind = int(types[at % len(types)])
        arm = order.pop(0) if by_rounds else policy.select(kind, own)
        share = committee.count(arm) / len(committee)
        mean = means[arm][kind] * bias(share)
        if sigma > 0.0:
            y = mean + sigma * noise.standard_normal()
        else:
            y = 1.0 if noise.random() < mean else 0.0
        committee.append(arm)
        turn += 1
        if by_rounds:
            policy.update(arm, y)
        else:
            policy.update(kind, arm, y)
        log.append((kind, arm, y))
    return log
