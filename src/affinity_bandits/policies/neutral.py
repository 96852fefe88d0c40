"""Neutral blocks: the rater belongs to none of the two groups that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits.base import checks
from affinity_bandits.base.errors import NotSupported
from affinity_bandits.policies.block_bets import BlockElimination, BlockState

TWO_GROUPS = (
    "Two groups: each is judged only by the other's people. Scores cannot tell stricter judges from"
    " worse candidates; no chance of a wrong group can be promised unless outsiders judge. Let"
    " people judge who belong to neither group (outsiders=True), or compare three or more groups."
    " If nobody else can judge, state how much favors may differ, and run"
    " CrossedElimination(favor_gap=0.1) by hand: see docs/plan/crossed-blocks.md."
)


@dataclass(frozen=True, kw_only=True)
class NeutralElimination(BlockElimination):
    """Bets on differences within one rater, who belongs to none of the two groups.

    A rater of group k scores one candidate of each remaining group but k; the leader's raters sit
    out. The best group is dropped with probability at most `failure`, however strict each rater is,
    however much each group favors its own, and however much of the scale anybody uses. It needs
    three groups, or outsiders. Scores lie in [0, 1].

    `Blocks` runs it by hand, a campaign of the live service with many raters at once, and
    `simulate_blocks` in worlds of judges. It is not a policy of
    `simulate` or `Live`, because the sums of a group's scores do not show what one rater thinks of
    two groups.

    Args:
        failure: the probability that the best group is ever dropped.
        outsiders: whether people of no group judge, and nobody else.
        target: scores by which a decision is wanted; some of the bets then aim at it.
    """

    name: ClassVar[str] = "neutral-elimination"
    page: ClassVar[str] = "docs/plan/neutral-blocks.md"
    judged_by: ClassVar[str] = "neutral"
    rule: ClassVar[str] = (
        "One rater, who belongs to neither, scores a candidate of each of several groups. Only the"
        " differences within this rater count. One group leads. Bets are placed on it against each"
        " of the others, and a group is dropped once they have won so much that it cannot be"
        " chance."
    )
    outsiders: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(checks.flag, "outsiders")

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(outsiders=True, target=2000)]

    def start(self, arms: int, horizon: int) -> BlockState:
        """Return a fresh state; the rule needs no horizon.

        Raises:
            NotSupported: there are two groups and no outsiders.
        """
        if arms == 2 and not self.outsiders:
            raise NotSupported(TWO_GROUPS)
        return self._start(arms, outsiders=self.outsiders)

    @property
    def judging(self) -> str:
        if self.outsiders:
            return (
                "Only people of no group judge. Each of them scores a candidate of every group that"
                " is left, so how strict they are favors no group."
            )
        return (
            "Nobody judges their own group, and members of the group that leads judge nobody. Each"
            " rater scores a candidate of several groups, so how strict they are favors no group."
        )
