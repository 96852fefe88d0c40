"""The rules of a campaign in the slowest and most obvious way: slot by slot, in memory.

Written from the rules as the documentation gives them, and not from the service's code or SQL, so
that the two can disagree. Only the policies are the library's own. The state machine of the tests
sends it what it sends to the service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.policies import FOREVER, RoundPolicy


class RefusedError(Exception):
    """A tell that breaks a rule and is refused.

    Attributes:
        code: of the problem that the caller is to see.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Outcome(NamedTuple):
    """How many answers of a tell were counted, late and duplicate."""

    counted: int
    late: int
    duplicate: int


class Total(NamedTuple):
    """Answers of an arm that have the same score, and its multiple in units."""

    arm: int
    answers: int
    units: int


class Named(NamedTuple):
    """Judges of rounds to come: how many of each arm, and whether of more than one round."""

    counts: tuple[int, ...]
    standing: bool


@dataclass(frozen=True)
class Lease:
    """Slots of a round, in ascending order, that somebody holds until a moment."""

    round: int
    slots: tuple[int, ...]
    expires_at: datetime


@dataclass
class Round:
    """A round, and what has become of its slots.

    Attributes:
        arms: in the order of the slots.
        repetitions: of each arm, as the policy planned.
        size: number of slots; fewer than planned where the horizon cuts the round short.
        before: slots of the rounds before it.
        next_slot: the first that was never handed out.
        owed: slots that were handed out and have no answer, each with the lease that owes it.
        released: leases that were given back.
        answered: slots that have an answer.
        counts: answers of each arm, in the order of `arms`.
        sums: of their scores, in units.
        scores: how often each of them, in units, was given; not known where only sums were told.
        dropped: arms that it ruled out; None until it is closed.
        judges: how many of each arm judge it, where the policy is told.
    """

    arms: tuple[int, ...]
    repetitions: int
    size: int
    before: int
    next_slot: int = 0
    owed: dict[int, int] = field(default_factory=dict)
    released: set[int] = field(default_factory=set)
    answered: set[int] = field(default_factory=set)
    counts: list[int] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    scores: list[Counter[int]] = field(default_factory=list)
    dropped: tuple[int, ...] | None = None
    judges: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self.counts = [0] * len(self.arms)
        self.sums = [0] * len(self.arms)
        self.scores = [Counter() for _ in self.arms]

    @property
    def waits(self) -> bool:
        """Whether it has no slots yet, because nobody has said who judges it."""
        return self.repetitions == 0

    @property
    def due(self) -> bool:
        """Whether it has all its answers and is not closed."""
        return not self.waits and len(self.answered) == self.size and self.dropped is None

    def arm(self, slot: int) -> int:
        """Return the arm of a slot."""
        return self.arms[slot % len(self.arms)]

    def add(self, arm: int, answers: int, units: int) -> None:
        """Add answers to the sums of an arm, and count them if they can have the same score."""
        place = self.arms.index(arm)
        self.counts[place] += answers
        self.sums[place] += units
        if units % answers == 0:
            self.scores[place][units // answers] += answers

    def settle(self, slots: Iterable[int]) -> None:
        """Take slots, which now have their answers, from whoever owes them."""
        for slot in slots:
            self.owed.pop(slot, None)
            self.answered.add(slot)


class Model:
    """A campaign of which one caller at a time asks and tells.

    Args:
        policy: that runs it.
        arms: how many.
        horizon: answers in all.
        lease_seconds: how long a lease lasts.
        lowest: score there is, in units.
        highest: the same.
    """

    def __init__(
        self,
        policy: RoundPolicy,
        arms: int,
        horizon: int,
        lease_seconds: float,
        lowest: int,
        highest: int,
    ) -> None:
        self.policy = policy
        self.arms = arms
        self.horizon = horizon
        self.lease_time = timedelta(seconds=lease_seconds)
        self.lowest = lowest
        self.highest = highest
        self.state: Any = policy.start(arms, horizon)
        self.status = "open"
        self.rounds: list[Round] = []
        self.leases: dict[int, Lease] = {}
        self.named: Named | None = None
        self._open_next(before=0)

    @property
    def round(self) -> Round:
        """The open round, or the last."""
        return self.rounds[-1]

    @property
    def number(self) -> int:
        """The number of that round."""
        return len(self.rounds) - 1

    @property
    def over(self) -> bool:
        """Whether no more slots are handed out."""
        return self.status in ("exhausted", "stopped")

    def offer(self, count: int, now: datetime) -> list[int]:
        """Return the slots that a request for `count` gets: new, given back, or overdue ones."""
        current = self.round
        end = min(current.next_slot + count, current.size)
        window = self.policy.order_window
        if window is not None and len(current.arms) > 1:  # slots of one arm are all alike
            end = min(end, min(current.owed, default=current.next_slot) + window)
        if end > current.next_slot:
            return list(range(current.next_slot, end))
        overdue = [
            (lease not in current.released, lease, slot)
            for slot, lease in current.owed.items()
            if lease in current.released or self.leases[lease].expires_at <= now
        ]
        return sorted(slot for _, _, slot in sorted(overdue)[:count])

    def release(self, number: int) -> int:
        """Take back what a lease of the round owes; return how many slots."""
        slots = [slot for slot, lease in self.round.owed.items() if lease == number]
        if number in self.round.released:
            return 0
        if slots:
            self.round.released.add(number)
        return len(slots)

    def hand_out(self, number: int, slots: Iterable[int], now: datetime) -> Lease:
        """Grant a lease; whoever owed one of its slots before no longer does."""
        lease = Lease(self.number, tuple(sorted(slots)), now + self.lease_time)
        self.leases[number] = lease
        current = self.round
        current.owed |= {slot: number for slot in lease.slots if slot not in current.answered}
        current.next_slot = max([current.next_slot, *(slot + 1 for slot in lease.slots)])
        return lease

    def tell_slots(self, number: int, scores: Mapping[int, int], now: datetime) -> Outcome:
        """Take the scores, in units, of slots of a lease."""
        lease = self._lease(number)
        self._check_range((1, units) for units in scores.values())
        if not set(scores) <= set(lease.slots):
            raise RefusedError("not_leased")
        current = self.round
        new = []
        if lease.round == self.number:
            new = [slot for slot in scores if slot not in current.answered]
        for slot in new:
            current.add(current.arm(slot), 1, scores[slot])
        current.settle(new)
        return self._outcome(lease, len(new), len(scores), now)

    def tell_totals(self, number: int, totals: Sequence[Total], now: datetime) -> Outcome:
        """Take how often arms of a lease were given each score: all of it or none."""
        lease = self._lease(number)
        self._check_range((one.answers, one.units) for one in totals)
        of_arm: Counter[int] = Counter()
        for one in totals:
            of_arm[one.arm] += one.answers
        slots = [
            slot
            for arm, answers in of_arm.items()
            for slot in self.slots_of_total(lease, arm, answers)
        ]
        current = self.round
        untouched = all(current.owed.get(slot) == number for slot in lease.slots)
        new = slots if lease.round == self.number and untouched else []
        for one in totals:
            if new:
                current.add(*one)
        current.settle(new)
        return self._outcome(lease, len(new), len(slots), now)

    def slots_of_total(self, lease: Lease, arm: int, answers: int) -> list[int]:
        """Return the slots that so many answers of an arm are for: its lowest in the lease."""
        at = self.rounds[lease.round]
        slots = [slot for slot in lease.slots if at.arm(slot) == arm]
        if len(slots) < answers:
            raise RefusedError("not_leased")
        return slots[:answers]

    def is_late(self, lease: Lease, now: datetime) -> bool:
        """Return whether an answer that does not count comes late, rather than twice."""
        return lease.round != self.number or lease.expires_at <= now

    def close(self) -> bool:
        """Close the round if it is due; return whether it was."""
        current = self.round
        if not current.due:
            return False
        if current.size < current.repetitions * len(current.arms):
            # The horizon cut it short, so that the policy never hears of it.
            current.dropped = ()
            self.status = "exhausted"
            return True
        before = self._candidates()
        if self.policy.nodes:
            parts = [count for place in range(len(current.arms)) for count in self.at_nodes(place)]
        else:
            # To the policy, a score is a part of the way from the lowest to the highest.
            parts = [
                Fraction(units - answers * self.lowest, self.highest - self.lowest)
                for units, answers in zip(current.sums, current.counts, strict=True)
            ]
        self.state = self.policy.absorbed(self.state, np.array([float(part) for part in parts]))
        current.dropped = tuple(sorted(before - self._candidates()))
        self._open_next(current.before + current.size)
        return True

    def at_nodes(self, place: int) -> list[Fraction]:
        """Return how many answers of an arm of the round count as each of the policy's nodes.

        A score between two of them counts as both, more as the nearer one: the two parts have the
        score as their mean.
        """
        steps = len(self.policy.nodes) - 1
        counts = [Fraction(0)] * (steps + 1)
        for units, answers in self.round.scores[place].items():
            at = Fraction(units - self.lowest, self.highest - self.lowest) * steps
            for node in range(steps + 1):
                counts[node] += answers * max(Fraction(0), 1 - abs(at - node))
        return counts

    def tallies(self) -> list[list[int]] | None:
        """Return these counts of every arm times the range in units; None without nodes."""
        if not self.policy.nodes:
            return None
        width = self.highest - self.lowest
        places = range(len(self.round.arms))
        return [[int(count * width) for count in self.at_nodes(place)] for place in places]

    def name_judges(self, judges: Named, number: int | None = None) -> bool:
        """Name who judges the round that waits, or the one after the open one; False if they do."""
        if not self.policy.told_judges or self.status != "open":
            raise RefusedError("judges_not_asked")
        waits = self.round.waits
        if not waits and number in (None, self.number):
            stands = self.named is not None and self.named.standing
            if (self.round.judges, stands) == judges:
                return False
            raise RefusedError("judges_settled")
        if number not in (None, self.number + (not waits)):
            raise RefusedError("invalid")
        if waits:
            self._judge(judges.counts)
        self.named = judges if judges.standing or not waits else None
        return True

    def leader(self) -> int | None:
        """Return the arm that should have no more judges than any other that is left."""
        arm = int(self.policy.kernels().fewest_seats(self.state))
        return None if arm < 0 else arm

    def stop(self) -> bool:
        """Stop the campaign if it is not over; return whether it was not."""
        if self.over:
            return False
        self.status = "stopped"
        return True

    def _lease(self, number: int) -> Lease:
        if number not in self.leases:
            raise RefusedError("no_such_lease")
        return self.leases[number]

    def _check_range(self, totals: Iterable[tuple[int, int]]) -> None:
        for answers, units in totals:
            if not self.lowest * answers <= units <= self.highest * answers:
                raise RefusedError("score_out_of_range")

    def _outcome(self, lease: Lease, counted: int, answers: int, now: datetime) -> Outcome:
        rest = answers - counted
        return Outcome(counted, rest, 0) if self.is_late(lease, now) else Outcome(counted, 0, rest)

    def _candidates(self) -> set[int]:
        candidate = self.policy.kernels().candidate
        return {arm for arm in range(self.arms) if candidate(self.state, arm)}

    def _open_next(self, before: int) -> None:
        planned = self.policy.kernels().plan(self.state)
        arms, repetitions = tuple(int(arm) for arm in planned.arms), int(planned.repetitions)
        decided = repetitions >= FOREVER and len(arms) == 1
        left = self.horizon - before
        if not decided and left <= 0:
            self.status = "exhausted"
            return
        if decided and self.status == "open":
            self.status = "decided"
        if self.policy.told_judges and not decided:
            self.rounds.append(Round(tuple(sorted(self._candidates())), 0, 0, before))
            self._seat_named()
            return
        size = FOREVER if decided else min(len(arms) * repetitions, left)
        self.rounds.append(Round(arms, repetitions, size, before))

    def _seat_named(self) -> None:
        """Let those who were named judge the round, unless that favors the leader."""
        if self.named is None:
            return
        counts, leader = self.named.counts, self.leader()
        if leader is not None and counts[leader] > min(counts[arm] for arm in self.round.arms):
            return
        self._judge(counts)
        if not self.named.standing:
            self.named = None

    def _judge(self, counts: tuple[int, ...]) -> None:
        """Open the round that waits."""
        before = self.round.before
        self.state = self.policy.met(self.state, counts)
        planned = self.policy.kernels().plan(self.state)
        arms, repetitions = tuple(int(arm) for arm in planned.arms), int(planned.repetitions)
        size = min(len(arms) * repetitions, self.horizon - before)
        self.rounds[-1] = Round(arms, repetitions, size, before, judges=counts)
