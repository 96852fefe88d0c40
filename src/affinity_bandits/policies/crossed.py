"""Crossed blocks: raters of every group, in equal numbers, score a candidate of each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies.block_bets import BlockElimination, BlockState

GAP_RULE = (
    "a number in [0, 1): the most by which favors may differ, as a part of the scale, such as"
    " 0.4 / 4 for 0.4 points on a scale from 1 to 5"
)


@dataclass(frozen=True, kw_only=True)
class CrossedElimination(BlockElimination):
    """Bets on differences within raters of every group, who score their own group too.

    For two groups without outsiders. In each pass one rater of every group scores one candidate of
    each remaining group. Strictness and use of the scale are those of one rater. Favors do not
    cancel, so the leader must be ahead by more than they can explain: `favor_gap` divided by the
    number of groups. The best group is dropped with probability at most `failure`, if favors differ
    by no more than `favor_gap`. Scores lie in [0, 1].

    A better group is found only if its lead is larger than the favor that helps its rival.
    `hidden_lead` says how large that is. From three groups on, `NeutralElimination` needs no bound.

    Args:
        favor_gap: how much more raters favor one group than another, at most, as a part of the
            scale. 0.4 points on a scale from 1 to 5 are 0.1.
        failure: the probability that the best group is ever dropped.
        target: scores by which a decision is wanted; some of the bets then aim at it.
    """

    name: ClassVar[str] = "crossed-elimination"
    page: ClassVar[str] = "docs/plan/crossed-blocks.md"
    judged_by: ClassVar[str] = "crossed"
    rule: ClassVar[str] = (
        "In each pass one rater of every group scores a candidate of each group that is left, their"
        " own too. Only the differences within a rater count, less what favor for one's own group"
        " can explain. One group leads. Bets are placed on it against each of the others, and a"
        " group is dropped once they have won so much that it cannot be chance."
    )
    favor_gap: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self._check(checks.number, "favor_gap", low=0.0, high=1.0, open_high=True)
        except InvalidInput:
            raise InvalidInput("favor_gap", GAP_RULE, self.favor_gap) from None

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(favor_gap=0.1), cls(favor_gap=0.0, target=2000)]

    def start(self, arms: int, horizon: int) -> BlockState:
        """Return a fresh state; the rule needs no horizon."""
        return self._start(arms, crossed=True, hidden_lead=self.hidden_lead(arms))

    @property
    def judging(self) -> str:
        return (
            "Raters of all groups judge in equal numbers, also those of dropped groups. Each scores"
            " a candidate of every group that is left, their own too, so how strict they are favors"
            " no group."
        )

    def hidden_lead(self, groups: int) -> float:
        """Return the lead, as a part of the scale, that favors can explain.

        With equal favors only a larger lead is found. If favors help the rival by all of
        `favor_gap`, only one that is more than twice as large.
        """
        assert self.favor_gap is not None  # checked in __post_init__
        return self.favor_gap / groups
