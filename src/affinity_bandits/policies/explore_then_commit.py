"""Explore, then commit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits import checks
from affinity_bandits.feedback import Feedback
from affinity_bandits.policies.phased_elimination import Phase, PhasedElimination


@dataclass(frozen=True)
class ExploreThenCommit(PhasedElimination):
    """Every arm m times in turn, then the largest mean.

    Args:
        pulls_per_arm: m; None for ceil(n**(2/3) / K).
    """

    name: ClassVar[str] = "explore-then-commit"
    pulls_per_arm: int | None = None

    def __post_init__(self) -> None:
        if self.pulls_per_arm is not None:
            self._set(pulls_per_arm=checks.integer("pulls_per_arm", self.pulls_per_arm, low=1))

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(pulls_per_arm=7)]

    @property
    def assumes(self) -> Feedback:
        """Lattimore, Szepesvari 2020, Theorem 6.1."""
        return Feedback(sigma=1.0)

    def phases(self, arms: int, horizon: int) -> list[Phase]:
        pulls = self.pulls_per_arm
        if pulls is None:
            pulls = math.ceil(horizon ** (2.0 / 3.0) / arms)
        return [Phase(pulls, keep=1)]
