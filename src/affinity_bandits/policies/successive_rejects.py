"""Successive rejects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from affinity_bandits.feedback import Feedback
from affinity_bandits.policies.phased_elimination import Budgeted, Phase


@dataclass(frozen=True)
class SuccessiveRejects(Budgeted):
    """Drop the worst arm after each of K - 1 phases.

    From Audibert, Bubeck, Munos 2010.

    With B = floor(budget n), log_K = 1/2 + sum_{i=2}^K 1/i and
    n_k = ceil((B - K) / (log_K (K + 1 - k))), phase k pulls each arm left n_k - n_{k-1} times
    and drops the arm with the lowest mean over all phases. The winner is played to the end.
    A phase of no pulls is made one pull, so that every phase is a round.

    Args:
        budget: the part of the horizon that may be spent on exploring.
    """

    name: ClassVar[str] = "successive-rejects"
    cumulative: ClassVar[bool] = True

    @property
    def assumes(self) -> Feedback:
        """Theorem 2 of the source, for [0, 1]; its proof needs Hoeffding's inequality alone."""
        return Feedback(sigma=0.5)

    def phases(self, arms: int, horizon: int) -> list[Phase]:
        log_k = 0.5 + sum(1.0 / i for i in range(2, arms + 1))
        spare = max(0, math.floor(self.budget * horizon) - arms)
        ends = [math.ceil(spare / (log_k * (arms + 1 - k))) for k in range(1, arms)]
        lengths = (max(1, end - before) for before, end in zip([0, *ends], ends, strict=False))
        return [Phase(length, arms - k) for k, length in enumerate(lengths, start=1)]
