"""Sequential halving."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from affinity_bandits.feedback import Feedback
from affinity_bandits.policies.phased_elimination import Budgeted, Phase


@dataclass(frozen=True)
class SequentialHalving(Budgeted):
    """Drop the worse half after each phase.

    There are ceil(log2 K) phases (Karnin, Koren, Somekh 2013).

    With B = floor(budget n), a phase with k arms left pulls each floor(B / (k ceil(log2 K)))
    times, at least once, and keeps the ceil(k / 2) best by the means of this phase alone. The
    winner is played to the end.

    Args:
        budget: the part of the horizon that may be spent on exploring.
    """

    name: ClassVar[str] = "sequential-halving"

    @property
    def assumes(self) -> Feedback:
        """Theorem 4.1 of the source, for [0, 1]; its proof needs Hoeffding's inequality alone."""
        return Feedback(sigma=0.5)

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
