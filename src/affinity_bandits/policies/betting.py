"""Elimination by bets on a leading arm; subclasses say who judges and keep comparisons fair."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.digests import global_names
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray, Function, bind
from affinity_bandits.model.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.policies.contracts import (
    FOREVER,
    Round,
    RoundKernels,
    RoundPolicy,
    check_size,
)
from affinity_bandits.policies.explaining import LEADER, Evidence, PlayedRound, RoundExplanation
from affinity_bandits.policies.leading import all_of_them, put_in_order, takes_the_lead
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.wealth import (
    TRIED,
    BettingState,
    bet_on_leader,
    end_round,
    log_worth,
    log_worth_needed,
    passes_to_come,
    prior_stakes,
)

MEANING = (
    "20 to 1 against a group: bets against it have turned every 1 that was staked into 20. Were it"
    " the best group, they would ever come to so much in at most one comparison of 20."
)
DEFAULT_FAILURE = 1e-3
NODES = tuple(node / 16 for node in range(17))
"""Scores that are told apart if feedback is bounded. Scores in between are split."""

go_on = put_in_order
joined_part = all_of_them


@dataclass(frozen=True, kw_only=True)
class BettingElimination(RoundPolicy):
    """Every arm in turn, with bets on the leading arm against each of the others.

    Each pass bets a part of an arm's wealth (an e-process) on the leader. The arm is dropped when
    its wealth reaches 1/`failure`. If no comparison can favor the leader, the best arm is dropped
    with probability at most `failure`; each subclass ensures this for one kind of judges.
    `HeadStartElimination` explains the settings.
    """

    eliminates: ClassVar[bool] = True
    rule: ClassVar[str] = (
        "Groups take turns in equal numbers. One group leads. Bets are placed on it against each"
        " of the others, and a group is dropped once they have won so much that it cannot be"
        " chance."
    )
    sigma: float = 1.0
    bounded: bool = False
    failure: float | None = None
    target: int | None = None

    def __post_init__(self) -> None:
        self._check_optional(checks.number, "failure", low=1e-300, high=1.0, open_high=True)
        if self.failure is None:
            self._leave_out("where failure is", "target")
        self._check_optional(checks.integer, "target", low=1, high=10**15)
        self._check(checks.number, "sigma", low=0.0, high=1e9, open_low=True)
        self._check(checks.flag, "bounded")

    def _leave_out(self, when: str, *settings: str) -> None:
        for name in settings:
            if getattr(self, name) is not None:
                raise InvalidInput(name, f"left out {when}", getattr(self, name))

    @property
    def nodes(self) -> tuple[float, ...]:
        """The evenly spaced scores, if bounded."""
        return NODES if self.bounded else ()

    def aimed_at(self, choices: int) -> Self:
        """Return the policy with that target if scores are bounded; otherwise itself."""
        if not self.bounded or self.failure is None or self.target is not None:
            return self
        return replace(self, target=choices)

    @property
    def assumes(self) -> Feedback:
        """As given by `bounded` and `sigma`; the guide to the policy has the proof."""
        return UNIT_INTERVAL if self.bounded else Feedback(sigma=self.sigma)

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        leader = None if before is None else before.leader
        absent = played.candidates - set(played.arms)
        if not absent:
            return RoundExplanation(
                leader=leader,
                dropped_because="Counting earlier rounds as well, bets on the leader have won more"
                " against it than chance explains",
                none_dropped_because="This round only finds a first leader."
                if played.number == self.warm_up_rounds
                else "Bets on the leader have not won more than chance explains.",
            )
        # Right after a change of leader only the leader is absent; later, others may be too. With
        # two groups, either may be pulled.
        purpose = (
            "their numbers are put in the order in which a bias that all groups share cannot favor"
            " the group that leads"
        )
        if len(absent) == 1 and len(played.candidates) > 2:
            purpose = (
                f"they get a head start over {LEADER}, so that a bias that all groups share cannot"
                " favor it"
            )
            leader = min(absent)
        known = leader if leader in absent else None
        return RoundExplanation(compares=False, purpose=purpose, leader=known)

    def evidence(self, state: Any) -> Evidence:
        return Evidence(
            against=tuple(log_worth(state, arm) for arm in range(len(state.dropped_in))),
            needed=log_worth_needed(state),
            leader=int(state.leader[0]) if state.leader[0] >= 0 else None,
            meaning=MEANING,
        )

    def start(self, arms: int, horizon: int) -> BettingState:
        check_size(arms, horizon)
        stakes, prior = prior_stakes(
            0.0 if self.bounded else self.sigma,
            self.target is not None,
            horizon if self.failure is None else None,
        )
        log_prior = np.log(np.array(prior))
        return BettingState(
            nodes=np.array(self.nodes),
            variance=0.0 if self.bounded else self.sigma**2,
            log_threshold=-math.log(DEFAULT_FAILURE if self.failure is None else self.failure),
            horizon=float(horizon) if self.failure is None else 0.0,
            order=-1,  # equal numbers are in order
            shortest=1,
            widest=0,
            target=float(self.target or 0),
            tried=TRIED if self.failure is None else 0.0,
            stakes=np.array(stakes),
            log_prior=log_prior,
            fewest=counts(arms),
            most=counts(arms),
            judges=counts(arms),
            soon=counts(arms),
            coming=counts(arms),
            first=counts(arms),
            passes=counts(1),
            doubled=counts(1, 1),
            rounds=counts(1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            dropped_in=counts(arms),
            leader=counts(1, -1),
            moving=counts(1),
            movers=counts(arms),
            moves=counts(1),
            pulls=counts(arms),
            recent=reals(1),
            sums=reals(arms),
            squares=reals(arms),
            log_wealth=np.tile(log_prior, arms),
        )

    @staticmethod
    def plan(state: BettingState) -> Round:
        left = state.left[0]
        if left == 1:
            return Round(state.active[:left], FOREVER)
        if state.moving[0] > 0:
            return Round(state.movers[: state.moving[0]], state.moves[0])
        return Round(state.active[:left], passes_to_come(state))

    @staticmethod
    def absorb(state: BettingState, seen: FloatArray) -> None:
        if state.moving[0] > 0:
            # These pulls only put shares in order; their feedback is not used.
            for position in range(state.moving[0]):
                state.pulls[state.movers[position]] += state.moves[0]
            go_on(state)
            return
        passes = passes_to_come(state)
        if state.leader[0] >= 0:
            bet_on_leader(state, passes, seen)
        if end_round(state, passes, seen) and takes_the_lead(state, joined_part(state)):
            go_on(state)

    @staticmethod
    def candidate(state: BettingState, arm: int) -> bool:
        return bool(state.dropped_in[arm] == 0)

    def _bind(self, **hooks: Function) -> RoundKernels:
        """Return the kernels with other functions for those that `absorb` and `plan` call."""
        kernels = super().kernels()
        read = global_names(kernels.plan.__code__)
        shared = {name: hook for name, hook in hooks.items() if name in read}
        return kernels._replace(
            plan=bind(kernels.plan, **shared), absorb=bind(kernels.absorb, **hooks)
        )


@dataclass(frozen=True, kw_only=True)
class ParallelBettingElimination(BettingElimination):
    """A betting elimination in which several people may answer slots at the same time.

    Args:
        in_flight: slots of a round that may be under way at once. Default: 1.
    """

    in_flight: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_optional(checks.integer, "in_flight", low=1, high=10**9)

    def start(self, arms: int, horizon: int) -> BettingState:
        """Return a fresh state; a round has at least as many slots as may be under way."""
        return super().start(arms, horizon)._replace(shortest=-(-(self.in_flight or 1) // arms))
