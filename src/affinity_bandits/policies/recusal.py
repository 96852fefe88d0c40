"""A betting elimination for judges who never judge their own group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits.policies.betting import ParallelBettingElimination
from affinity_bandits.policies.contracts import RoundKernels
from affinity_bandits.policies.leading import stay


@dataclass(frozen=True, kw_only=True)
class RecusalElimination(ParallelBettingElimination):
    """Every arm in turn, with bets on the leader; only members of other groups judge.

    Its failure probability holds only if the judges of each group's candidates are equally strict
    on average. Groups are scored by different people, and the policy cannot tell stricter judges
    from a worse group. Shares are the same for all groups, so no head start is needed. The settings
    are those of `HeadStartElimination` without `initial_lead` and `initial_pulls`.
    """

    name: ClassVar[str] = "recusal-elimination"
    judged_by: ClassVar[str] = "recused"

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(bounded=True, failure=0.05)]

    @property
    def judging(self) -> str:
        return (
            "Nobody judges their own group, so own-group favor cannot help one. Groups are scored"
            " by different people: a stricter set of judges looks like a worse group."
        )

    def kernels(self) -> RoundKernels:
        return self._bind(go_on=stay)
