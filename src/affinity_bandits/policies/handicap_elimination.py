"""Elimination in which the leader must win against a handicap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies.bets import (
    TRIED,
    BettingState,
    bet_on_leader,
    lag_that_drops,
    prior_stakes,
)
from affinity_bandits.policies.betting_rounds import end_round, passes_to_come
from affinity_bandits.policies.explaining import Evidence, PlayedRound, RoundExplanation
from affinity_bandits.policies.forgetting import absorb_forgetting, wait_until_forgotten
from affinity_bandits.policies.handicap_words import FORGETTING, JUDGING, explained, odds_against
from affinity_bandits.policies.judged import (
    JudgedState,
    absorb_from_members,
    absorb_from_panel,
    judged_candidate,
    leader_of,
    meet_members,
    meet_panel,
    plan_for_members,
    plan_for_panel,
)
from affinity_bandits.policies.leading import put_in_order, takes_the_lead
from affinity_bandits.policies.planned import Assumed, PlannedRound
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import FOREVER, Round, RoundKernels, RoundPolicy
from affinity_bandits.policies.state import counts, reals

DEFAULT_FAILURE = 1e-3
MOST_LEVELS = 100
MOST_MEMORY = 10**8


@dataclass(frozen=True)
class HandicapElimination(RoundPolicy):
    """Every arm in turn, and bets on a leader that must win although the others got a head start.

    Two arms that take turns have shares whose ratio is that of their members, whatever else
    happens. So every other arm is pulled until it has more members than the leader can have, then
    the leader until it has nearly as many. From then on, while all take turns, a bias that does not
    decrease can only favour the others. In each pass a part of an arm's wealth is bet on the leader
    scoring above a centre and on the arm scoring below it; were the arm the best, no such bet would
    be favourable, whoever leads. So the wealth of all bets against the best arm ever reaches
    1/`failure` with probability at most `failure`, and an arm whose wealth does is dropped. No
    Lipschitz constant, no steepness and no horizon enter. The guide to the policy has the
    definition and the proofs.

    Args:
        head_start: by how much initial pulls may differ. Left out, and no initial pulls given:
            the most that the paper's second bound allows, 2**7 log(12 K**2 n / pi**2)
            (`cor:regretConstSuboptimalityGaps`).
        initial_pulls: those of each arm instead, or [fewest, most] where they are not known
            exactly.
        sigma: feedback is sigma-subGaussian around its mean. Not used when bounded.
        bounded: feedback lies in [0, 1].
        levels: how many evenly spaced scores are told apart when bounded. A score between two is
            split between them. The 17 hold 0, 1, and all scores of three, five or nine levels.
        failure: the probability of ever dropping the best arm. Left out: at most 0.001, and so
            little early that a mistake costs no more choices, on average, than were made before.
        expected_difference: between the best two at equal shares. Where it is right, a little is
            saved; one that is twice too large costs more than it could have saved.
        in_flight: slots of a round that may be under way at once; half of them are added to the
            head start, and no round of all arms has fewer. Left out: one, as in a simulation.
        judges: who does. "chosen": everybody ever chosen, at once, and the initial members.
            "members": the same, but not all who are chosen join; the policy is told before each
            round who has. "panel": some of them, of which it is told before each round and who
            stay to its end. It wants the leader to have the fewest seats, and does not bet on the
            leader against a group with fewer. "strangers": nobody judges their own group. Panels
            and strangers need no head start, and their answers may come in any order.
        memory: those who judge are the last so many who were chosen, or fewer, so that whoever was
            there before has left once so many have been. The policy waits as long, and then needs
            no head start and need not know of them. Answers come one after the other.
    """

    name: ClassVar[str] = "handicap-elimination"
    version: ClassVar[int] = 2
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
    expected_difference: float | None = None
    in_flight: int | None = None
    judges: str = "chosen"
    memory: int | None = None

    def __post_init__(self) -> None:
        checks.choice("judges", self.judges, tuple(JUDGING))
        for name in ("head_start", "initial_pulls"):
            if self.judges != "chosen" and getattr(self, name) is not None:
                rule = "left out unless judges is 'chosen'"
                raise InvalidInput(name, rule, getattr(self, name))
        if self.memory is not None:
            self._check_memory()
        if self.head_start is not None:
            self._set(head_start=checks.integer("head_start", self.head_start, low=0, high=10**12))
        if self.initial_pulls is not None:
            if self.head_start is not None:
                rule = "left out where head_start is given"
                raise InvalidInput("initial_pulls", rule, self.initial_pulls)
            given = checks.sequence("initial_pulls", self.initial_pulls, "a list, one for each arm")
            self._set(initial_pulls=tuple(map(_interval, given)))
        if self.failure is not None:
            self._set(
                failure=checks.number("failure", self.failure, low=1e-300, high=1.0, open_high=True)
            )
        if self.expected_difference is not None:
            self._set(
                expected_difference=checks.number(
                    "expected_difference", self.expected_difference, low=1e-9, high=1e9
                )
            )
        if self.in_flight is not None:
            self._set(in_flight=checks.integer("in_flight", self.in_flight, low=1, high=10**9))
        self._set(
            sigma=checks.number("sigma", self.sigma, low=0.0, high=1e9, open_low=True),
            bounded=checks.flag("bounded", self.bounded),
            levels=checks.integer("levels", self.levels, low=2, high=MOST_LEVELS),
        )

    def _check_memory(self) -> None:
        self._set(memory=checks.integer("memory", self.memory, low=1, high=MOST_MEMORY))
        if self.judges != "chosen":
            raise InvalidInput("memory", "left out unless judges is 'chosen'", self.memory)
        for name in ("head_start", "initial_pulls"):
            if getattr(self, name) is not None:
                raise InvalidInput(name, "left out where memory is given", getattr(self, name))
        if self.in_flight not in (None, 1):
            raise InvalidInput("in_flight", "left out, or 1, where memory is given", self.in_flight)

    @classmethod
    def examples(cls) -> list[Self]:
        return [
            cls(head_start=20, failure=0.05),
            cls(head_start=5, bounded=True, failure=0.05),
            cls(head_start=5, bounded=True, failure=0.2, expected_difference=0.2, levels=5),
            cls(head_start=5, bounded=True, in_flight=9),
            cls(bounded=True, failure=0.05, judges="members"),
            cls(bounded=True, failure=0.05, judges="panel"),
            cls(bounded=True, failure=0.05, judges="strangers"),
            cls(bounded=True, failure=0.05, memory=30),
        ]

    @property
    def revision(self) -> int:  # type: ignore[override]
        """One where stakes that have been tried get nothing more, which once they did."""
        return int(self.failure is None)

    @property
    def nodes(self) -> tuple[float, ...]:
        """The evenly spaced scores, if bounded."""
        if not self.bounded:
            return ()
        return tuple(level / (self.levels - 1) for level in range(self.levels))

    @property
    def told_judges(self) -> bool:
        return self.judges in ("members", "panel")

    @property
    def judging_body(self) -> str:
        return "committee" if self.judges == "members" else "panel"

    @property
    def judging(self) -> str:
        if self.memory is not None:
            return FORGETTING.format(memory=self.memory)
        return JUDGING[self.judges]

    @property
    def warm_up_rounds(self) -> int:
        return 0 if self.memory is None else 1

    @property
    def order_window(self) -> int | None:
        return (self.in_flight or 1) if self._grows else None

    @property
    def _grows(self) -> bool:
        """Whether those who judge become more during a round."""
        return self.judges in ("chosen", "members")

    def with_order_window(self, slots: int) -> Self:
        """Return the policy told to expect that window; one told before keeps its own."""
        if self.in_flight is not None or not self._grows or self.memory is not None:
            return self
        return replace(self, in_flight=slots)

    @property
    def assumes(self) -> Feedback:
        """What it was told; the guide to the policy has the proof."""
        return UNIT_INTERVAL if self.bounded else Feedback(sigma=self.sigma)

    def to_json(self) -> dict[str, Any]:
        data = super().to_json()
        if self.judges == "chosen":
            del data["judges"]  # so that what was written before there was a choice is the same
        if self.memory is None:
            del data["memory"]  # likewise
        if self.initial_pulls is not None:
            data["initial_pulls"] = [
                one if isinstance(one, int) else list(one) for one in self.initial_pulls
            ]
        return data

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        return explained(played, before, self.warm_up_rounds)

    def evidence(self, state: Any) -> Evidence:
        return odds_against(state.bets if self.told_judges else state)

    def start(self, arms: int, horizon: int) -> Any:
        check_size(arms, horizon)
        bets = self._bets(arms, horizon)
        if self.memory is not None:
            wait_until_forgotten(bets, self.memory)
        return JudgedState(bets, counts(arms), counts(arms, -1)) if self.told_judges else bets

    def _bets(self, arms: int, horizon: int) -> BettingState:
        """Return the state of the bets."""
        fewest, most = self._initial(arms, horizon)
        stakes, prior = prior_stakes(
            0.0 if self.bounded else self.sigma,
            self.expected_difference,
            horizon if self.failure is None else None,
        )
        log_prior = np.log(np.array(prior))
        slots = self.in_flight or 1
        return BettingState(
            nodes=np.array(self.nodes),
            variance=0.0 if self.bounded else self.sigma**2,
            log_threshold=-math.log(DEFAULT_FAILURE if self.failure is None else self.failure),
            horizon=float(horizon) if self.failure is None else 0.0,
            # Of two groups, the one answered first can be that far ahead when the other is. With
            # -1, equal numbers are in order.
            order=slots // 2 if self._grows else -1,
            shortest=-(-slots // arms),
            widest=max(most) - min(fewest),
            expected=self.expected_difference or 0.0,
            stakes=np.array(stakes),
            log_prior=log_prior,
            fewest=np.array(fewest, dtype=np.int64),
            most=np.array(most, dtype=np.int64),
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
            means=reals(arms),
            recent=reals(1),
            sums=reals(arms),
            squares=reals(arms),
            log_wealth=np.tile(log_prior, arms),
            tried=TRIED if self.failure is None else 0.0,
        )

    def _initial(self, arms: int, horizon: int) -> tuple[list[int], list[int]]:
        """Return the fewest and the most initial pulls of each arm."""
        if self.judges != "chosen" or self.memory is not None:
            return [0] * arms, [0] * arms
        if self.initial_pulls is None:
            head_start = self.head_start
            if head_start is None:
                bound = 2**7 * math.log(12.0 * float(arms) ** 2 * horizon / math.pi**2)
                head_start = math.ceil(bound)
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
            # These pulls only put shares in order; what they returned counts for nothing.
            for position in range(state.moving[0]):
                state.pulls[state.movers[position]] += state.moves[0]
            put_in_order(state)
            return
        passes = passes_to_come(state)
        if state.leader[0] >= 0:
            bet_on_leader(state, passes, seen)
        if end_round(state, passes, seen) and takes_the_lead(state, 1.0):
            put_in_order(state)

    @staticmethod
    def candidate(state: BettingState, arm: int) -> bool:
        return bool(state.dropped_in[arm] == 0)

    def kernels(self) -> RoundKernels:
        if self.memory is not None:
            return RoundKernels(self.plan, absorb_forgetting, self.candidate)
        if self.judges == "panel":
            return RoundKernels(
                plan_for_panel, absorb_from_panel, judged_candidate, meet_panel, leader_of
            )
        if self.judges == "members":
            return RoundKernels(
                plan_for_members, absorb_from_members, judged_candidate, meet_members
            )
        return super().kernels()

    @classmethod
    def planned_for(cls, assumed: Assumed) -> Self:
        """Return the policy for the assumed judges, noise, failure and choices in flight.

        The smallest difference that matters is not one to be expected: told it, the policy takes
        as long in the hardest worlds as without, whether the difference is that, twice or four
        times as large.
        """
        told: dict[str, Any] = {"judges": assumed.judges}
        if assumed.judges == "committee" and assumed.joining < 1.0:
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
        """Return rounds by which passes have doubled, while no arm is dropped and one leads.

        `drops` is the lag at which the bets have won enough, if scores lie at equal distances
        above and below the centre and come as often as expected: with subGaussian feedback exactly
        that, but for the wealth that has returned to the prior. None with a memory: plans know of
        none.
        """
        if self.memory is not None:
            return []
        state = self._bets(arms, horizon)
        extra = int(state.most.max() - state.fewest.min()) + int(state.order) + 1
        first = passes_to_come(state)
        rounds = [PlannedRound(first, first * arms, first, None)]
        state.passes[0] = first
        while state.passes[0] * arms < horizon:
            before = rounds[-1].compared
            while state.passes[0] < 2 * before:
                state.passes[0] += passes_to_come(state)
            passes = int(state.passes[0])
            pulls = arms * passes + (arms - 1) * extra
            needed = float(state.log_threshold)
            if state.horizon > 0.0:
                needed = max(needed, math.log(state.horizon / pulls))
            drops = lag_that_drops(state, passes - first, variance, needed)
            rounds.append(PlannedRound(passes + extra, pulls, passes, drops))
        return rounds


def _interval(given: object) -> int | tuple[int, int]:
    """Return initial pulls as a number or as [fewest, most]."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != 2:
            raise InvalidInput("initial_pulls", "numbers, or pairs [fewest, most]", given)
        fewest = checks.integer("initial_pulls", given[0], low=0, high=10**12)
        return fewest, checks.integer("initial_pulls", given[1], low=fewest, high=10**12)
    return checks.integer("initial_pulls", given, low=0, high=10**12)
