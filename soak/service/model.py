"""A campaign played again from its events, by the rules as they are written, slot by slot.

Nothing here is the service's own: a slot is held by at most one lease, has at most one answer,
and the sums of a round are those of the fixed scores.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from soak.service.cases import Case, Played, undisturbed
from soak.service.verdict import Verdict

RUN = re.compile(r"\[(\d+),(\d+)\)")


def slots_in(multirange: str) -> list[int]:
    """Return the slots of a multirange as PostgreSQL writes it."""
    return [slot for first, end in RUN.findall(multirange) for slot in range(int(first), int(end))]


@dataclass
class Lease:
    """A lease as the model remembers it.

    Attributes:
        slots: what was handed out.
        holds: what nobody has answered or taken over yet.
    """

    round: int
    slots: list[int]
    holds: set[int]
    expires_at: datetime


class Model:
    """One campaign.

    Args:
        case: what it is.
        lease_seconds: how long a lease lasts.
        quiet_from: when the faults were over.
        verdict: where complaints go.
    """

    def __init__(
        self, case: Case, lease_seconds: float, quiet_from: datetime, verdict: Verdict
    ) -> None:
        self.rounds: list[Played] = list(undisturbed(case))
        self.number = 0
        self.status = "open" if self._size is not None else "decided"
        self.next_slot = 0
        self.answered: set[int] = set()
        self.sums: dict[int, list[int]] = {}
        self.leases: dict[int, Lease] = {}
        self.owing: dict[int, Lease] = {}
        self.closed: list[int] = []
        self.last = 0
        self._case = case
        self._lease_seconds = timedelta(seconds=lease_seconds)
        self._quiet_from = quiet_from
        self._verdict = verdict
        self._holder: dict[int, int] = {}
        self._keys: set[str] = set()
        self._seen: set[int] = set()

    @property
    def round(self) -> Played:
        """The open round, or the last."""
        return self.rounds[min(self.number, len(self.rounds) - 1)]

    @property
    def _size(self) -> int | None:
        return self.round.size

    def play(self, event: dict[str, Any]) -> None:
        """Take in the next event."""
        number, key = event["number"], event["key"]
        if number in self._seen:
            self._complain("doubled", event, "the number is there twice")
        elif number != self.last + 1:
            self._complain("gaps", event, f"follows event {self.last}")
        self._seen.add(number)
        self.last = number
        if key is not None and key in self._keys:
            self._complain("doubled", event, f"the key {key} is there twice")
        self._keys.add(key)
        if event["round"] != self.number:
            self._complain("wrong", event, f"the open round is {self.number}")
        getattr(self, f"_{event['kind']}")(event)

    def _create(self, event: dict[str, Any]) -> None:
        if event["number"] != 1:
            self._complain("wrong", event, "a campaign is created once, first")

    def _ask(self, event: dict[str, Any]) -> None:
        slots, at = slots_in(event["slots"]), event["at"]
        if self.status not in ("open", "decided"):
            self._complain("wrong", event, f"leased though {self.status}")
        for slot in slots:
            holder = self._holder.get(slot)
            if slot in self.answered:
                self._complain("doubled", event, f"slot {slot} was answered before")
            elif holder is not None and self.leases[holder].expires_at > at:
                self._complain("doubled", event, f"slot {slot} is held by lease {holder}")
        expected = self._offer(event["asked"], at)
        if slots != expected:
            self._complain("wrong", event, f"leased {slots[:20]}, not {expected[:20]}")
            skipped = range(self.next_slot, min(slots, default=0))
            if skipped:
                self._complain("gaps", event, f"left out slots {list(skipped[:20])}", len(skipped))
        if event["expires_at"] != at + self._lease_seconds:
            self._complain("wrong", event, f"expires at {event['expires_at']}, made at {at}")
        self.next_slot = max(self.next_slot, max(slots, default=-1) + 1)
        lease = Lease(self.number, slots, set(slots) - self.answered, event["expires_at"])
        for slot in lease.holds:
            self._take(slot)
            self._holder[slot] = event["number"]
        self.leases[event["number"]] = lease
        if lease.holds:
            self.owing[event["number"]] = lease

    def _offer(self, count: int, at: datetime) -> list[int]:
        """Return what an ask of so many must be given: fresh slots, else what is overdue."""
        end = self.next_slot + count
        if self._size is not None:
            end = min(end, self._size)
        if self._case.window is not None and len(self.round.arms) > 1:
            end = min(end, min(self._holder, default=self.next_slot) + self._case.window)
        if end > self.next_slot:
            return list(range(self.next_slot, end))
        overdue = sorted(
            (lease.expires_at, number)
            for number, lease in self.owing.items()
            if lease.expires_at <= at
        )
        found = [slot for _, number in overdue for slot in sorted(self.leases[number].holds)]
        return sorted(found[:count])

    def _tell(self, event: dict[str, Any]) -> None:
        lease = self.leases.get(event["lease"])
        if lease is None:
            self._complain("wrong", event, f"there is no lease {event['lease']}")
            return
        arms = self.rounds[min(lease.round, len(self.rounds) - 1)].arms
        if event["counts"] is None:
            slots, whole = event["told"], False
            units = [self._score(lease.round, arms, slot) for slot in slots]
            answers = len(slots)
        else:
            slots, whole = lease.slots, True
            units = [
                sum(self._score(lease.round, arms, s) for s in slots if _arm(arms, s) == arm)
                for arm in event["told"]
            ]
            answers = sum(event["counts"])
        if event["units"] != units:
            self._complain("wrong", event, f"scores {event['units'][:5]}, not {units[:5]}")
        self._verdict.expect(
            set(slots) <= set(lease.slots), "wrong", f"{self._case.name}: slots of others: {event}"
        )
        new: set[int] = set()
        if lease.round == self.number and self.status != "exhausted":
            new = set(slots) - self.answered
            if whole and lease.holds != set(lease.slots):
                new = set()  # a sum counts as a whole or not at all
        late = lease.round != self.number or lease.expires_at <= event["at"]
        rest = answers - len(new)
        expected = (len(new), rest if late else 0, 0 if late else rest)
        found = (event["counted"], event["late"], event["duplicate"])
        if found != expected:
            kind = "doubled" if found[0] > expected[0] else "wrong"
            self._complain(kind, event, f"counted, late, duplicate: {found}, not {expected}")
        for slot in new:
            self._take(slot)
            place = slot % len(arms)
            total = self.sums.setdefault(place, [0, 0])
            total[0] += 1
            total[1] += self._score(self.number, arms, slot)
        self.answered |= new
        self._verdict.counted += found[0]
        self._verdict.late += found[1]
        self._verdict.duplicate += found[2]
        self._verdict.late_counted += found[0] if late else 0

    def _close(self, event: dict[str, Any]) -> None:
        detail, played = json.loads(event["detail"]), self.round
        if event["round"] in self.closed:
            self._complain("doubled", event, "the round is closed twice")
        if self._size is None or len(self.answered) != self._size:
            self._complain("wrong", event, f"closed with {len(self.answered)} of {self._size}")
        width = len(played.arms)
        ours = {
            "arms": list(played.arms),
            "size": played.size,
            "counts": [self.sums.get(place, [0, 0])[0] for place in range(width)],
            "sums": [str(self.sums.get(place, [0, 0])[1]) for place in range(width)],
            "dropped": list(played.dropped),
            "state": json.loads(json.dumps(played.state["state"])),
        }
        for name, value in ours.items():
            if detail[name] != value:
                self._complain("wrong", event, f"{name}: {detail[name]}, not {value}")
        if ours["sums"] != [str(total) for total in played.sums]:
            self._complain("wrong", event, f"sums {ours['sums']}, the library's {played.sums}")
        self.closed.append(event["round"])
        self._verdict.rounds += 1
        self._verdict.disturbed_rounds += event["at"] < self._quiet_from
        if self.number + 1 >= len(self.rounds):
            self.status = "exhausted"
            return
        self.number += 1
        if self.status != "stopped":
            self.status = "open" if self._size is not None else "decided"
        self.next_slot = 0
        self.answered, self.sums, self._holder, self.owing = set(), {}, {}, {}

    def _stop(self, event: dict[str, Any]) -> None:
        if self.status not in ("open", "decided"):
            self._complain("wrong", event, f"stopped though {self.status}")
        self.status = "stopped"

    def _take(self, slot: int) -> None:
        """Take a slot from whoever holds it."""
        holder = self._holder.pop(slot, None)
        if holder is not None and holder in self.owing:
            self.owing[holder].holds.discard(slot)
            if not self.owing[holder].holds:
                del self.owing[holder]

    def _score(self, round_: int, arms: tuple[int, ...], slot: int) -> int:
        return self._case.score(round_, slot, _arm(arms, slot))

    def _complain(self, kind: str, event: dict[str, Any], text: str, times: int = 1) -> None:
        where = f"{self._case.name}, event {event['number']} ({event['kind']})"
        self._verdict.complain(kind, f"{where}: {text}", times)


def _arm(arms: tuple[int, ...], slot: int) -> int:
    return arms[slot % len(arms)]
