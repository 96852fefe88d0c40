"""Sequential halving."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits import checks
from affinity_bandits.policies.narrowing import Narrowing, Phase


@dataclass(frozen=True)
class SequentialHalving(Narrowing):
    """Drop the worse half after each phase.

    There are ceil(log2 K) phases (Karnin, Koren, Somekh 2013).

    With B = floor(budget n), a phase with k arms left pulls each floor(B / (k ceil(log2 K)))
    times, at least once, and keeps the ceil(k / 2) best by the means of this phase alone. The
    winner is played to the end.

    Args:
        budget: the part of the horizon that may be spent on exploring.
    """

    name: ClassVar[str] = "sequential-halving"
    budget: float = 0.5

    def __post_init__(self) -> None:
        self._set(budget=checks.number("budget", self.budget, low=0.0, high=1.0, open_low=True))

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(budget=0.1)]

    def phases(self, arms: int, horizon: int) -> list[Phase]:
        total = math.ceil(math.log2(arms))
        spend = math.floor(self.budget * horizon)
        phases = []
        left = arms
        for _ in range(total):
            repetitions = max(1, spend // (left * total))
            left = math.ceil(left / 2)
            phases.append(Phase(repetitions, keep=left))
        return phases
