"""The rules of a campaign in the slowest and most obvious way: slot by slot, in memory.

Written from the rules as the documentation gives them and not from the SQL, so that the two can
disagree. Only the policies are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from affinity_bandits.policies import FOREVER
from affinity_bandits.service import problems
from affinity_bandits.service.core.campaign_spec import CampaignSpec
from affinity_bandits.service.core.campaigns import Ask
from affinity_bandits.service.core.records import Lease, Runs
from affinity_bandits.service.core.tells import ArmTell, SlotTell, Tell
from affinity_bandits.wire import Finished, Told, Wait


@dataclass
class ModelRound:
    """A round; `owed` and `answered` are about slots that were handed out."""

    arms: tuple[int, ...]
    repetitions: int
    size: int
    before: int
    owed: dict[int, int] = field(default_factory=dict)  # slot -> the lease that owes it
    answered: set[int] = field(default_factory=set)
    counts: list[int] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    dropped: tuple[int, ...] | None = None  # None while it is open

    def __post_init__(self) -> None:
        self.counts = [0] * len(self.arms)
        self.sums = [0] * len(self.arms)

    @property
    def handed_out(self) -> int:
        return len(self.owed) + len(self.answered)

    @property
    def complete(self) -> bool:
        return len(self.answered) == self.size

    def add(self, arm: int, answers: int, units: int) -> None:
        place = self.arms.index(arm)
        self.counts[place] += answers
        self.sums[place] += units


@dataclass(frozen=True)
class ModelLease:
    """What somebody was given."""

    round: int
    slots: tuple[int, ...]
    expires_at: datetime


class Model:
    """A campaign of which one caller at a time asks and tells."""

    def __init__(self, description: CampaignSpec) -> None:
        self.about = description
        self.lowest = round(description.lowest * 10**9)
        self.highest = round(description.highest * 10**9)
        self.span = self.highest - self.lowest
        self.policy = description.policy
        self.state = self.policy.start(len(description.arms), description.horizon)
        self.status = "open"
        self.rounds: list[ModelRound] = []
        self.leases: dict[int, ModelLease] = {}
        self.remembered: dict[str, tuple[object, Lease | Told | None]] = {}
        self.events: list[tuple[Any, ...]] = [("create", None, 0)]
        self._open_next(before=0)

    @property
    def round(self) -> ModelRound:
        return self.rounds[-1]

    @property
    def number(self) -> int:
        return len(self.rounds) - 1

    @property
    def due(self) -> bool:
        """Whether the open round has all its answers and is not closed."""
        return self.round.complete and self.round.dropped is None

    def ask(self, asks: Sequence[Ask], now: datetime) -> list[Any]:
        new = [one for one in asks if one.key not in self.remembered]
        if new and self.status not in ("exhausted", "stopped"):
            self.close()
        return [self._ask(one, now) for one in asks]

    def _ask(self, one: Ask, now: datetime) -> Any:
        if one.key in self.remembered:
            return self._repeated(one.key, ("ask", one.count))
        if self.status in ("exhausted", "stopped"):
            return Finished(status=self.status)
        current = self.round
        end = min(current.handed_out + one.count, current.size, self._first_barred())
        fresh = range(current.handed_out, end)
        slots = list(fresh) or self._offered_again(now)[: one.count]
        if not slots:
            moments = [self.leases[lease].expires_at for lease in current.owed.values()]
            first = (min(moments) - now).total_seconds()
            return Wait(status="wait", outstanding=len(current.owed), retry_after=first)
        self.events.append(("ask", one.key, self.number))
        number = len(self.events)
        expires_at = now + timedelta(seconds=self.about.lease_seconds)
        self.leases[number] = ModelLease(self.number, tuple(sorted(slots)), expires_at)
        for slot in slots:
            current.owed[slot] = number
        lease = Lease(number, self.number, runs_of(slots), current.arms, expires_at)
        self.remembered[one.key] = (("ask", one.count), lease)
        return lease

    def _first_barred(self) -> int:
        """The first slot that may not go out: w before it there is one without an answer."""
        window = self.policy.order_window
        if window is None or len(self.round.arms) == 1:  # slots of one arm are all alike
            return FOREVER
        return window + next(slot for slot in count() if slot not in self.round.answered)

    def _offered_again(self, now: datetime) -> list[int]:
        """Slots that expired leases owe, those that expired first first."""
        expired = [
            (self.leases[lease].expires_at, lease, slot)
            for slot, lease in self.round.owed.items()
            if self.leases[lease].expires_at <= now
        ]
        return [slot for _, _, slot in sorted(expired)]

    def tell(self, tells: Sequence[Tell], now: datetime, *, dies: bool = False) -> list[Any]:
        """Take a batch; a process that dies after it does not close the round."""
        before = len(self.events)
        told = [self._tell(one, now) for one in tells]
        if len(self.events) > before and not dies:
            self.close()
        return told

    def _tell(self, one: Tell, now: datetime) -> Any:
        request = ("tell", one.digest)
        if one.key in self.remembered:
            return self._repeated(one.key, request)
        if one.lease not in self.leases:
            return problems.NoSuchLease(one.lease)
        lease = self.leases[one.lease]
        counts = one.counts if isinstance(one, ArmTell) else (1,) * len(one.slots)
        for units, answers in zip(one.units, counts, strict=True):
            if not self.lowest * answers <= units <= self.highest * answers:
                return problems.ScoreOutOfRange()
        if isinstance(one, SlotTell):
            slots = set(one.slots)
            if not slots <= set(lease.slots):
                return problems.NotLeased(one.lease)
            counted = self._count_slots(one, lease)
        else:
            arms = self.rounds[lease.round].arms
            slots = set()
            for arm, answers in zip(one.arms, one.counts, strict=True):
                of_arm = [slot for slot in lease.slots if arms[slot % len(arms)] == arm]
                if len(of_arm) < answers:
                    return problems.NotLeased(one.lease)
                slots |= set(of_arm[:answers])
            counted = self._count_totals(one, lease, slots)
        rest = len(slots) - counted
        gone = lease.round != self.number or lease.expires_at <= now
        told = Told(counted=counted, late=rest if gone else 0, duplicate=0 if gone else rest)
        self.remembered[one.key] = (request, told)
        self.events.append(("tell", one.key, self.number, told))
        return told

    def _count_slots(self, one: SlotTell, lease: ModelLease) -> int:
        if lease.round != self.number:
            return 0
        current = self.round
        counted = 0
        for slot, units in zip(one.slots, one.units, strict=True):
            if slot not in current.answered:
                current.owed.pop(slot)  # whoever owes it
                current.answered.add(slot)
                current.add(current.arms[slot % len(current.arms)], 1, units)
                counted += 1
        return counted

    def _count_totals(self, one: ArmTell, lease: ModelLease, slots: set[int]) -> int:
        current = self.round
        untouched = all(current.owed.get(slot) == one.lease for slot in lease.slots)
        if lease.round != self.number or not untouched:
            return 0
        for arm, answers, units in zip(one.arms, one.counts, one.units, strict=True):
            if answers:
                current.add(arm, answers, units)
        for slot in slots:
            del current.owed[slot]
            current.answered.add(slot)
        return len(slots)

    def close(self) -> bool:
        """Close the round if it has all its answers."""
        current = self.round
        if not self.due:
            return False
        self.events.append(("close", None, self.number))
        if len(current.answered) < current.repetitions * len(current.arms):
            # The horizon cut it short, so that the policy never hears of it.
            current.dropped = ()
            self.status = "exhausted"
            return True
        before = self._candidates()
        # Every score is a part of the way from the lowest to the highest.
        parts = [
            Fraction(units - answers * self.lowest, self.span)
            for units, answers in zip(current.sums, current.counts, strict=True)
        ]
        sums = np.array([float(part) for part in parts])
        self.state = self.policy.absorbed(self.state, sums)
        current.dropped = tuple(sorted(before - self._candidates()))
        self._open_next(current.before + current.size)
        return True

    def stop(self, key: str) -> problems.KeyReused | None:
        if key in self.remembered:
            return None if self.remembered[key][0] == "stop" else problems.KeyReused()
        if self.status in ("open", "decided"):
            self.remembered[key] = ("stop", None)
            self.events.append(("stop", key, self.number))
            self.status = "stopped"
        return None

    def _repeated(self, key: str, request: object) -> Any:
        before, answer = self.remembered[key]
        return answer if before == request else problems.KeyReused()

    def _candidates(self) -> set[int]:
        candidate = self.policy.kernels().candidate
        return {arm for arm in range(len(self.about.arms)) if candidate(self.state, arm)}

    def _open_next(self, before: int) -> None:
        planned = self.policy.kernels().plan(self.state)
        arms = tuple(int(arm) for arm in planned.arms)
        decided = planned.repetitions >= FOREVER and len(arms) == 1
        size = FOREVER if decided else len(arms) * int(planned.repetitions)
        left = self.about.horizon - before
        if not decided and left <= 0:
            self.status = "exhausted"
            return
        if decided and self.status == "open":
            self.status = "decided"
        size = size if decided else min(size, left)
        self.rounds.append(ModelRound(arms, int(planned.repetitions), size, before))


def runs_of(slots: Sequence[int]) -> Runs:
    """Slots as runs of (first, count), in their order."""
    runs: list[tuple[int, int]] = []
    for slot in sorted(slots):
        if runs and sum(runs[-1]) == slot:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((slot, 1))
    return tuple(runs)


def unique_keys() -> Any:
    """Idempotency keys that nobody has used."""
    return (f"key-{number}" for number in count())
