"""Elimination where the leading arm must win against a head start: the whole committee judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies.betting import ParallelBettingElimination
from affinity_bandits.policies.leading import INITIAL_LEAD
from affinity_bandits.policies.wealth import BettingState


@dataclass(frozen=True)
class HeadStartElimination(ParallelBettingElimination):
    """Every arm in turn, and bets on a leader that must win although the others got a head start.

    Everybody ever chosen judges, and the initial members. The other arms are pulled until they
    have more members than the leader can have. From then on all take turns, and a nondecreasing
    bias can only favor the others. Each pass bets a part of an arm's wealth (an e-process) on the
    leader. The arm is dropped when its wealth reaches 1/`failure`; if it is the best, that has
    probability at most `failure`. The guide to the policy has the definition and the proofs.

    Args:
        initial_lead: by how much initial pulls may differ. Default, unless `initial_pulls` is
            given: the largest that the paper's second bound allows, 2**7 log(12 K**2 n / pi**2)
            (Corollary C.6).
        initial_pulls: those of each arm, or [fewest, most] if they are uncertain.
        sigma: feedback is sigma-subGaussian around its mean. Used only if `bounded` is false.
        bounded: feedback lies in [0, 1].
        failure: the probability of ever dropping the best arm. Default: at most 0.001, and so
            little early that a mistake costs at most as many choices, on average, as were made
            before.
        target: choices by which to drop all but one arm with the highest probability. Only with a
            failure probability. One that is several times too large costs more than a right one
            saves.
        in_flight: slots of a round that may be under way at once; half of them are added to the
            head start. Above 1, the bias must not change while a round is open. Default: 1.
    """

    name: ClassVar[str] = "head-start-elimination"
    judged_by: ClassVar[str] = "everybody"
    initial_lead: int | None = None
    initial_pulls: Sequence[int | Sequence[int]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_optional(checks.integer, "initial_lead", low=0, high=10**12)
        if self.initial_pulls is not None:
            if self.initial_lead is not None:
                self._leave_out("where initial_lead is given", "initial_pulls")
            given = checks.sequence("initial_pulls", self.initial_pulls, "a list, one for each arm")
            self._set(initial_pulls=tuple(map(_interval, given)))

    @classmethod
    def examples(cls) -> list[Self]:
        return [
            cls(initial_lead=20, failure=0.05),
            cls(initial_lead=5, bounded=True, failure=0.05),
            cls(initial_lead=5, bounded=True, failure=0.2, target=400),
            cls(initial_lead=5, bounded=True, in_flight=9),
        ]

    @property
    def judging(self) -> str:
        return f"Everybody who was chosen so far is taken to judge. {INITIAL_LEAD}"

    @property
    def order_window(self) -> int:
        return self.in_flight or 1

    def with_order_window(self, slots: int) -> Self:
        """Return the policy for that window; a given `in_flight` takes precedence."""
        return self if self.in_flight else replace(self, in_flight=slots)

    def start(self, arms: int, horizon: int) -> BettingState:
        state = super().start(arms, horizon)
        fewest, most = self._initial(arms, horizon)
        return state._replace(
            order=self.order_window // 2,  # a group that is answered first can be that far ahead
            widest=max(most) - min(fewest),
            fewest=np.array(fewest, dtype=np.int64),
            most=np.array(most, dtype=np.int64),
        )

    def _initial(self, arms: int, horizon: int) -> tuple[list[int], list[int]]:
        if self.initial_pulls is None:
            initial_lead = self.initial_lead
            if initial_lead is None:
                initial_lead = math.ceil(
                    2**7 * math.log(12.0 * float(arms) ** 2 * horizon / math.pi**2)
                )
            return [0] * arms, [initial_lead] * arms
        if len(self.initial_pulls) != arms:
            rule = f"a list as long as there are arms ({arms})"
            raise InvalidInput("initial_pulls", rule, self.initial_pulls)
        intervals = [(one, one) if isinstance(one, int) else one for one in self.initial_pulls]
        return [int(one[0]) for one in intervals], [int(one[1]) for one in intervals]


def _interval(given: object) -> int | tuple[int, int]:
    """Return initial pulls as a number or as [fewest, most]."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != 2:
            raise InvalidInput("initial_pulls", "numbers, or pairs [fewest, most]", given)
        fewest = checks.integer("initial_pulls", given[0], low=0, high=10**12)
        return fewest, checks.integer("initial_pulls", given[1], low=fewest, high=10**12)
    return checks.integer("initial_pulls", given, low=0, high=10**12)
