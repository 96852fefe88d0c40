"""Elimination in which the leading arm must win against a handicap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, bind
from affinity_bandits.model.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.policies.contracts import (
    FOREVER,
    LEADER,
    Evidence,
    PlannedRound,
    PlayedRound,
    Round,
    RoundExplanation,
    RoundKernels,
    RoundPolicy,
    check_size,
)
from affinity_bandits.policies.forgetting import FORGETTING, wait_until_forgotten
from affinity_bandits.policies.leading import (
    CHOSEN,
    WhoJudges,
    all_of_them,
    put_in_order,
    takes_the_lead,
)
from affinity_bandits.policies.members import MEMBERS
from affinity_bandits.policies.panels import PANEL, STRANGERS
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.wealth import (
    TRIED,
    BettingState,
    bet_on_leader,
    end_round,
    lag_that_drops,
    log_worth,
    log_worth_needed,
    passes_to_come,
    prior_stakes,
)

JUDGING = {"chosen": CHOSEN, "members": MEMBERS, "panel": PANEL, "strangers": STRANGERS}
MEANING = (
    "20 to 1 against a group: bets against it have turned every 1 that was staked into 20. Were it"
    " the best group, they would ever come to so much in at most one comparison of 20."
)


go_on = put_in_order
joined_part = all_of_them

DEFAULT_FAILURE = 1e-3
MOST_LEVELS = 100
MOST_MEMORY = 10**8


@dataclass(frozen=True)
class HandicapElimination(RoundPolicy):
    """Every arm in turn, and bets on a leader that must win although the others got a head start.

    The other arms are pulled until they have more members than the leader can have. From then on
    all take turns, and a nondecreasing bias can only favor the others. Each pass bets a part of an
    arm's wealth (an e-process) on the leader. The arm is dropped when its wealth reaches
    1/`failure`; if it is the best, that has probability at most `failure`. The guide to the policy
    has the definition and the proofs.

    Args:
        head_start: by how much initial pulls may differ. Default, unless `initial_pulls` is given:
            the largest that the paper's second bound allows, 2**7 log(12 K**2 n / pi**2) (Corollary
            C.6).
        initial_pulls: those of each arm, or [fewest, most] if they are uncertain.
        sigma: feedback is sigma-subGaussian around its mean. Used only if `bounded` is false.
        bounded: feedback lies in [0, 1].
        levels: evenly spaced scores that are told apart when bounded. Scores in between are split.
        failure: the probability of ever dropping the best arm. Default: at most 0.001, and so
            little early that a mistake costs at most as many choices, on average, as were made
            before.
        target: choices by which to drop all but one arm with the highest probability. Only with a
            failure probability. One that is several times too large costs more than a right one
            saves.
        in_flight: slots of a round that may be under way at once; half of them are added to the
            head start. Default: 1.
        judges: "chosen": everybody ever chosen, and the initial members. "members": those of them
            who joined; the policy is told before each round who they are and who is on their way,
            and bets only against groups whose share is surely at least the leader's. "panel": some
            of them, told likewise. "strangers": only members of other groups judge. Panels and
            strangers make a head start unnecessary.
        memory: only the last so many who were chosen judge. The policy waits until all earlier ones
            have left, instead of a head start.
    """

    name: ClassVar[str] = "handicap-elimination"
    eliminates: ClassVar[bool] = True
    rule: ClassVar[str] = (
        "Groups take turns in equal numbers. One group leads. Bets are placed on it against each"
        " of the others, and a group is dropped once they have won so much that it cannot be"
        " chance."
    )
    head_start: int | None = None
    initial_pulls: Sequence[int | Sequence[int]] | None = None
    sigma: float = 1.0
    bounded: bool = False
    levels: int = 17
    failure: float | None = None
    target: int | None = None
    in_flight: int | None = None
    judges: str = "chosen"
    memory: int | None = None

    def __post_init__(self) -> None:
        checks.choice("judges", self.judges, tuple(JUDGING))
        self._check_optional(checks.integer, "memory", low=1, high=MOST_MEMORY)
        if self.judges != "chosen":
            self._leave_out("unless judges is 'chosen'", "head_start", "initial_pulls", "memory")
        if self.memory is not None:
            self._leave_out("where memory is given", "head_start", "initial_pulls")
            if self.in_flight not in (None, 1):
                rule = "left out, or 1, where memory is given"
                raise InvalidInput("in_flight", rule, self.in_flight)
        self._check_optional(checks.integer, "head_start", low=0, high=10**12)
        if self.initial_pulls is not None:
            if self.head_start is not None:
                self._leave_out("where head_start is given", "initial_pulls")
            given = checks.sequence("initial_pulls", self.initial_pulls, "a list, one for each arm")
            self._set(initial_pulls=tuple(map(_interval, given)))
        self._check_optional(checks.number, "failure", low=1e-300, high=1.0, open_high=True)
        if self.failure is None:
            self._leave_out("where failure is", "target")
        self._check_optional(checks.integer, "target", low=1, high=10**15)
        self._check_optional(checks.integer, "in_flight", low=1, high=10**9)
        self._check(checks.number, "sigma", low=0.0, high=1e9, open_low=True)
        self._check(checks.flag, "bounded")
        self._check(checks.integer, "levels", low=2, high=MOST_LEVELS)

    def _leave_out(self, when: str, *settings: str) -> None:
        for name in settings:
            if getattr(self, name) is not None:
                raise InvalidInput(name, f"left out {when}", getattr(self, name))

    @classmethod
    def examples(cls) -> list[Self]:
        return [
            cls(head_start=20, failure=0.05),
            cls(head_start=5, bounded=True, failure=0.05),
            cls(head_start=5, bounded=True, failure=0.2, target=400, levels=5),
            cls(head_start=5, bounded=True, in_flight=9),
            cls(bounded=True, failure=0.05, judges="members"),
            cls(bounded=True, failure=0.05, judges="panel"),
            cls(bounded=True, failure=0.05, judges="strangers"),
            cls(bounded=True, failure=0.05, memory=30),
        ]

    @property
    def nodes(self) -> tuple[float, ...]:
        """The evenly spaced scores, if bounded."""
        levels = range(self.levels if self.bounded else 0)
        return tuple(level / (self.levels - 1) for level in levels)

    @property
    def _judging(self) -> WhoJudges:
        return FORGETTING if self.memory is not None else JUDGING[self.judges]

    @property
    def told_judges(self) -> bool:
        return bool(self._judging.told)

    @property
    def judging_body(self) -> str:
        return self._judging.told or "panel"

    @property
    def judging(self) -> str:
        return self._judging.words.format(memory=self.memory)

    @property
    def warm_up_rounds(self) -> int:
        return 0 if self.memory is None else 1

    @property
    def order_window(self) -> int | None:
        return (self.in_flight or 1) if self.judges == "chosen" else None

    def with_order_window(self, slots: int) -> Self:
        """Return the policy for that window; a given `in_flight` takes precedence."""
        if self.in_flight or self.order_window is None or self.memory is not None:
            return self
        return replace(self, in_flight=slots)

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
        if played.number < self.warm_up_rounds:
            purpose = "so many are chosen that nobody counts any more who judged before"
            return RoundExplanation(compares=False, purpose=purpose)
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
            "their numbers are put in the order in which the comparison cannot favor the group"
            " that leads"
        )
        if self.memory is not None:
            purpose = "they have their turns, so that rounds begin with the group that leads"
            leader = min(absent)
        elif len(absent) == 1 and len(played.candidates) > 2:
            purpose = f"they get a head start over {LEADER}, so that the comparison cannot favor it"
            leader = min(absent)
        known = leader in absent and (self.memory is None or len(absent) == 1)
        return RoundExplanation(compares=False, purpose=purpose, leader=leader if known else None)

    def evidence(self, state: Any) -> Evidence:
        return Evidence(
            against=tuple(log_worth(state, arm) for arm in range(len(state.dropped_in))),
            needed=log_worth_needed(state),
            leader=int(state.leader[0]) if state.leader[0] >= 0 else None,
            meaning=MEANING,
        )

    def start(self, arms: int, horizon: int) -> BettingState:
        check_size(arms, horizon)
        fewest, most = self._initial(arms, horizon)
        stakes, prior = prior_stakes(
            0.0 if self.bounded else self.sigma,
            self.target is not None,
            horizon if self.failure is None else None,
        )
        log_prior = np.log(np.array(prior))
        slots = self.in_flight or 1
        state = BettingState(
            nodes=np.array(self.nodes),
            variance=0.0 if self.bounded else self.sigma**2,
            log_threshold=-math.log(DEFAULT_FAILURE if self.failure is None else self.failure),
            horizon=float(horizon) if self.failure is None else 0.0,
            # A group that is answered first can be that far ahead; -1: equal numbers are in order.
            order={"chosen": slots // 2, "members": 0}.get(self.judges, -1),
            shortest=-(-slots // arms),
            widest=max(most) - min(fewest),
            target=float(self.target or 0),
            tried=TRIED if self.failure is None else 0.0,
            stakes=np.array(stakes),
            log_prior=log_prior,
            fewest=np.array(fewest, dtype=np.int64),
            most=np.array(most, dtype=np.int64),
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
        if self.memory is not None:
            wait_until_forgotten(state, self.memory)
        return state

    def _initial(self, arms: int, horizon: int) -> tuple[list[int], list[int]]:
        if self.judges != "chosen" or self.memory is not None:
            return [0] * arms, [0] * arms
        if self.initial_pulls is None:
            head_start = self.head_start
            if head_start is None:
                head_start = math.ceil(
                    2**7 * math.log(12.0 * float(arms) ** 2 * horizon / math.pi**2)
                )
            return [0] * arms, [head_start] * arms
        if len(self.initial_pulls) != arms:
            rule = f"a list as long as there are arms ({arms})"
            raise InvalidInput("initial_pulls", rule, self.initial_pulls)
        intervals = [(one, one) if isinstance(one, int) else one for one in self.initial_pulls]
        return [int(one[0]) for one in intervals], [int(one[1]) for one in intervals]

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

    def kernels(self) -> RoundKernels:
        kernels, judging = super().kernels(), self._judging
        if not judging.hooks:
            return kernels
        return RoundKernels(
            bind(kernels.plan, **judging.hooks),
            bind(kernels.absorb, **judging.hooks),
            kernels.candidate,
            judging.meet,
            judging.fewest_seats,
        )

    @classmethod
    def planned_for(cls, assumed: Any) -> Self:
        """Return the policy for the assumed judges, noise, failure and choices in flight."""
        told: dict[str, Any] = {"judges": assumed.judges}
        if assumed.judges == "committee" and not assumed.at_once:
            told["judges"] = "members"
        elif assumed.judges == "committee":
            told["judges"] = "chosen"
            if assumed.committee is None:
                told["head_start"] = assumed.head_start
            else:  # where a group has nobody, a simulated one has somebody
                told["initial_pulls"] = [number or (0, 1) for number in assumed.committee]
        return cls(
            **told,
            sigma=assumed.sigma,
            bounded=assumed.bounded,
            failure=assumed.failure,
            in_flight=assumed.in_flight,
        )

    def rounds_without_drops(self, arms: int, horizon: int, variance: float) -> list[PlannedRound]:
        """Return the rounds at whose ends the passes have doubled, until the first drop.

        `drops` assumes scores at equal distances above and below the center. The list is empty if
        memory is bounded.
        """
        if self.memory is not None:
            return []
        state = self.start(arms, horizon)
        extra = int(state.most.max() - state.fewest.min()) + int(state.order) + 1
        first = passes_to_come(state)
        rounds = [PlannedRound(first, first * arms, first, None)]
        state.passes[0] = first
        while state.passes[0] * arms < horizon:
            before = rounds[-1].compared
            while state.passes[0] < 2 * before:
                state.passes[0] += passes_to_come(state)
            passes = int(state.passes[0])
            state.pulls[0] = arms * passes + (arms - 1) * extra
            drops = lag_that_drops(state, passes - first, variance, log_worth_needed(state))
            rounds.append(PlannedRound(passes + extra, int(state.pulls[0]), passes, drops))
        return rounds


def _interval(given: object) -> int | tuple[int, int]:
    """Return initial pulls as a number or as [fewest, most]."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != 2:
            raise InvalidInput("initial_pulls", "numbers, or pairs [fewest, most]", given)
        fewest = checks.integer("initial_pulls", given[0], low=0, high=10**12)
        return fewest, checks.integer("initial_pulls", given[1], low=fewest, high=10**12)
    return checks.integer("initial_pulls", given, low=0, high=10**12)
