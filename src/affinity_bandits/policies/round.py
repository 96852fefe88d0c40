"""The contract of round policies: announce a whole round, then decide from what it summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function, IntArray
from affinity_bandits.policies.explaining import Evidence, PlayedRound, RoundExplanation
from affinity_bandits.policies.planned import Assumed, PlannedRound
from affinity_bandits.policies.policy import Policy, anybody, meet_nobody
from affinity_bandits.policies.state import copy_state

FOREVER = 2**62
"""Repetitions of a round that never ends: what a policy plans once it has made up its mind."""


class Round(NamedTuple):
    """A round: each arm is pulled `repetitions` times, in turn, in the order given.

    Slot s of the round (from 0) belongs to `arms[s % len(arms)]`, so a round's pulls can be
    handed out from anywhere. `RoundPolicy.order_window` says how far out of order.
    """

    arms: IntArray
    repetitions: int


class RoundKernels(NamedTuple):
    """The functions an engine calls once a round."""

    plan: Function
    absorb: Function
    candidate: Function
    meet: Function = meet_nobody
    fewest_seats: Function = anybody


@dataclass(frozen=True)
class RoundPolicy(Policy):
    """A policy that announces whole rounds and learns only from what they sum up.

    `plan`, `absorb` and `candidate` are kernels (see `affinity_bandits.kernels`). A run calls
    `plan`, `absorb`, `plan`, `absorb`, ...; a round that the horizon cuts short is not absorbed.
    `plan` reads the state and changes nothing, so it may be asked again at any time. A policy that
    is `told_judges` is told who judges a round, by `meet`, before it is planned, each time.

    What pages and plans say of a policy, it says itself, in `rule`, `judging`, `warm_up_rounds`,
    `explain`, `evidence`, `planned_for` and `rounds_without_drops`. A policy that says nothing is
    shown without reasons.

    >>> from affinity_bandits import AffinityBandit, simulate
    >>> from affinity_bandits.policies.state import counts
    >>> class OnceState(NamedTuple):
    ...     arms: np.ndarray
    ...     best: np.ndarray  # [0]: none until the first round is over
    >>> @dataclass(frozen=True)
    ... class BestOfTen(RoundPolicy):
    ...     name = "best-of-ten"
    ...     def start(self, arms, horizon):
    ...         return OnceState(np.arange(arms), counts(1, -1))
    ...     @staticmethod
    ...     def plan(state):
    ...         best = state.best[0]
    ...         if best < 0:
    ...             return Round(state.arms, 10)
    ...         return Round(state.arms[best : best + 1], FOREVER)
    ...     @staticmethod
    ...     def absorb(state, seen):
    ...         state.best[0] = 0
    ...         for arm in range(len(seen)):
    ...             if seen[arm] > seen[state.best[0]]:
    ...                 state.best[0] = arm
    >>> bandit = AffinityBandit([0.1, 0.9])
    >>> simulate(bandit, BestOfTen(), 50, 1, engine="python").pulls[0, 0, -1].tolist()
    [10, 40]

    Attributes:
        rule: how it drops arms, in a sentence or two for people who never heard of bandits: an arm
            is a "group" there. Empty: nothing is said of it but what all round policies share.
    """

    rule: ClassVar[str] = ""

    @property
    def nodes(self) -> tuple[float, ...]:
        """Scores at which a round's feedback is counted, ascending; none if sums are enough.

        With nodes, `absorb` is told for each arm how often each node was seen, and feedback between
        two of them is split so that its mean stays. Counts and sums alike can be added up in any
        order.
        """
        return ()

    @property
    def warm_up_rounds(self) -> int:
        """How many rounds at the beginning are a warm-up, whose feedback is set aside by plan."""
        return 0

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        """Return what is to be said of a finished round; by default, only what was seen.

        Args:
            played: the round.
            before: what was returned for the round before it; None where that is not known.
        """
        return RoundExplanation()

    def evidence(self, state: Any) -> Evidence | None:
        """Return how much speaks against each arm; None, as by default, if nothing is to be said.

        Args:
            state: after the last finished round; it is not changed.
        """
        return None

    @classmethod
    def planned_for(cls, assumed: Assumed) -> Self:
        """Return the policy that a plan for these assumptions runs.

        To define it is to promise that the policy ever drops the best arm with probability at most
        `assumed.failure`, for every f that does not decrease and initial pulls that differ by at
        most `assumed.head_start`: plans say so.

        Raises:
            InvalidInput: the policy promises no such thing, as by default.
        """
        name = getattr(cls, "name", cls.__name__)
        raise InvalidInput("policy_class", "one that plans can be made with (planned_for)", name)

    def rounds_without_drops(
        self, arms: int, horizon: int, variance: float
    ) -> Sequence[PlannedRound]:
        """Return the rounds that come while no arm is dropped; none by default.

        Args:
            arms: how many.
            horizon: as declared.
            variance: of one feedback at most.
        """
        return ()

    @property
    def order_window(self) -> int | None:
        """How far out of order a round may be answered without breaking a promise of the policy.

        With a window of w, slot s may be handed out only once every slot up to s - w has its
        answer; 1 is strictly one after the other. None: nothing it promises depends on the order.
        """
        return None

    def with_order_window(self, slots: int) -> Self:
        """Return the policy told to expect that window; itself where the order does not matter."""
        return self

    @property
    def told_judges(self) -> bool:
        """Whether it must be told who judges a round before it begins (`meet`)."""
        return False

    @property
    def judging_body(self) -> str:
        """What those whom it is told of are: a "panel", or the "committee", where all of it judges.

        Looked at only where it is `told_judges`.
        """
        return "panel"

    @property
    def judging(self) -> str:
        """Who judges and what that does to the comparison, in a sentence or two for people.

        Empty: nothing is said of it. An arm is a "group" there.
        """
        return ""

    @staticmethod
    def meet(state: Any, judges: IntArray) -> None:
        """Take in how many of each arm judge the round to come, in place."""

    @staticmethod
    def fewest_seats(state: Any) -> int:
        """Return the arm that should have no more judges in the round to come than any other has.

        -1: it does not matter.
        """
        return -1

    @staticmethod
    def plan(state: Any) -> Round:
        """Return the round to play next; its arms may be a view into the state."""
        raise NotImplementedError

    @staticmethod
    def absorb(state: Any, seen: FloatArray) -> None:
        """Take in what was seen of each planned arm, in the plan's order, in place.

        It is the sum of each one's feedback, or, of a policy with nodes, a count for each node of
        the first arm, then of the second, and so on.
        """
        raise NotImplementedError

    def kernels(self) -> RoundKernels:
        """Return the kernels, with everything they need bound."""
        return RoundKernels(self.plan, self.absorb, self.candidate, self.meet, self.fewest_seats)

    def met(self, state: Any, judges: Sequence[int]) -> Any:
        """Return the state once it is known who judges the round, leaving the given one as it was.

        Args:
            state: before a round.
            judges: how many of each arm.
        """
        after = copy_state(state)
        self.kernels().meet(after, np.array(judges, dtype=np.int64))
        return after

    def absorbed(self, state: Any, seen: FloatArray) -> Any:
        """Return the state after a round, leaving the given one as it was."""
        after = copy_state(state)
        self.kernels().absorb(after, seen)
        return after
