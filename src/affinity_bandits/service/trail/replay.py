"""Recompute a campaign from its audit trail, in plain Python and with the library's policy.

Nothing here asks the database for anything but the events: it is the slow, obvious twin of the
functions on the hot path, and what `affinity serve verify` holds against what they left behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies.state import as_begun
from affinity_bandits.service.core.campaign_spec import (
    ANY,
    CampaignSpec,
    OpenRound,
    next_round,
)
from affinity_bandits.service.core.closing import advance, recorded
from affinity_bandits.service.core.judging import (
    Judges,
    NamedJudges,
    fewest_seats,
    in_order,
    judged_round,
)
from affinity_bandits.service.core.tallies import Nodes
from affinity_bandits.service.trail.held_leases import HeldLease, HeldLeases
from affinity_bandits.service.trail.raters import Counts, count_raters, fits_request
from affinity_bandits.service.trail.replayable import check_replayable

Row = Mapping[str, Any]


class Replay:
    """The state of one campaign, recomputed event by event, and where events contradict it.

    Attributes:
        differences: in words, what an event says and what follows from those before it.
        events: how many it was given.
        saved: the policy's state before the open round, as `Policy.save` writes it.
        number: of the open round.
        round: the open round.
        opened_at: when it was opened, or began to wait.
        tellers: API keys that may answer any lease, as tables have them.
        in_flight: how far its slots may be answered out of order; None where that is all one.
        next_slot: its first slot that nobody has had.
        answers: how many answers each of its arms has, in its order.
        sums: and their sums, in units of 1e-9.
        tallies: and how often each score was given, if its policy has nodes.
        lapsed: how many slots of each of its arms had no answer when their first lease expired, of
            those that were answered or offered again since.
        leases: those that were granted, and those of the open round that owe something.
        closed: rounds that were closed.
        judges: who judges the open round, where its policy is told.
        fewest_seats: the arm that should have the fewest of them, if any.
        named: who was named to judge rounds to come.
        raters: how many scores each gave, of tells of which all answers counted.
    """

    def __init__(self) -> None:
        self.differences: list[str] = []
        self.events = 0
        self.status = ""
        self.number = 0
        self.next_slot = 0
        self.before = 0
        self.opened_at = datetime.min
        self.in_flight: int | None = None
        self.tellers: list[str] | None = None
        self.answers: list[int] = []
        self.sums: list[int] = []
        self.tallies: list[list[int]] = []
        self.lapsed: list[int] = []
        self.leases = HeldLeases()
        self.closed: list[dict[str, Any]] = []
        self.judges: Judges | None = None
        self.fewest_seats: int | None = None
        self.named: NamedJudges | None = None
        self.raters: Counts = {}
        self._opening: NamedJudges | None = None  # who must open the round in the next event
        self.spec: CampaignSpec
        self.nodes: Nodes
        self.saved: dict[str, Any]
        self.round: OpenRound

    def take(self, event: Row) -> None:
        """Apply the next event."""
        self.events += 1
        self._same(event, "number", event["number"], self.events)
        if (event["kind"] == "create") != (self.events == 1):
            self._note(event, "only the first event creates a campaign")
            return
        if event["kind"] != "create":
            self._same(event, "round", event["round"], self.number)
        if self._opening is not None and event["kind"] != "judges":
            self._note(event, "the round was not opened with the judges that were named for it")
            self._opening = None
        take = {
            "create": self._create,
            "ask": self._ask,
            "tell": self._tell,
            "close": self._close,
            "stop": self._stop,
            "judges": self._name_judges,
        }
        take[event["kind"]](event)

    def _create(self, event: Row) -> None:
        description = event["detail"]["description"]
        check_replayable(description["policy"])
        self.spec = CampaignSpec.from_json(description)
        self.nodes = self.spec.nodes
        self.in_flight = event["detail"].get("in_flight")  # nobody kept to any before 0002
        self.tellers = event["detail"].get("tellers", [ANY])  # anybody could before 0008
        policy, arms = self.spec.policy, len(self.spec.arms)
        begun = event["detail"]["state"]
        state = as_begun(policy.start(arms, self.spec.horizon), begun)
        self.saved = policy.save(state, arms, self.spec.horizon)
        self._same(event, "state", begun, self.saved["state"])
        first = next_round(policy, state, arms, self.spec.horizon, 0)
        if first is None:
            self._note(event, "the policy plans no first round")
            return
        self.fewest_seats = fewest_seats(policy, state)
        self._open(0, first, event["at"])
        if first.waits and self.spec.first_judges is not None:
            self._opening = NamedJudges(1, 0, Judges(self.spec.first_judges))
        self.status = "decided" if self.round.final else "open"

    def _open(
        self, number: int, round_: OpenRound, at: datetime, judges: Judges | None = None
    ) -> None:
        self.number, self.round, self.next_slot, self.judges = number, round_, 0, judges
        self.opened_at = at
        self.answers = [0] * len(round_.arms)
        self.sums = [0] * len(round_.arms)
        self.tallies = self.nodes.none(len(round_.arms))
        self.lapsed = [0] * len(round_.arms)

    def _ask(self, event: Row) -> None:
        if self.status in ("exhausted", "stopped"):
            self._note(event, f"leased slots of a campaign that was {self.status}")
        if self.round.waits:
            self._note(event, "leased slots of a round that nobody was named to judge")
        runs = tuple(range(run.lower, run.upper) for run in event["slots"])
        granted = {slot for run in runs for slot in run}
        limit = self._limit()
        again = self.next_slot >= limit
        if not again:
            end = min(self.next_slot + event["asked"], limit)
            expected = list(range(self.next_slot, end))
            self.next_slot = end
        else:
            expected = self._offered_again(event["asked"], event["at"])
        self._same(event, "slots", sorted(granted), sorted(expected))
        until = event["at"] + timedelta(seconds=self.spec.lease_seconds)
        self._same(event, "expires_at", event["expires_at"], until)
        lease = HeldLease(self.number, runs, granted, event["expires_at"], again, event["actor"])
        self.leases.grant(event["number"], lease)

    def _limit(self) -> int:
        """Return the first slot of the open round that may not be handed out yet."""
        if self.in_flight is None or len(self.round.arms) == 1:
            return self.round.size
        return min(self.round.size, self.leases.oldest_owed(self.next_slot) + self.in_flight)

    def _offered_again(self, count: int, at: datetime) -> list[int]:
        """Take slots back from the oldest leases, up to the first that has not expired."""
        found: list[int] = []
        for number, lease in sorted(self.leases.owing.items()):
            if len(found) == count or lease.expires_at > at:
                break
            part = sorted(lease.pending)[: count - len(found)]
            self._lapse(number, part, at)
            self.leases.settle(number, part)
            found += part
        return found

    def _lapse(self, number: int, slots: Sequence[int], at: datetime) -> None:
        """Count slots that a lease owed until now, if it was their first and has expired."""
        lease = self.leases.granted[number]
        if lease.expires_at <= at and not lease.again:
            for slot in slots:
                self.lapsed[slot % len(self.round.arms)] += 1

    def _tell(self, event: Row) -> None:
        lease = self.leases.granted.get(event["lease"])
        if lease is None:
            self._note(event, f"told of lease {event['lease']}, which was not granted")
            return
        if event["actor"] != lease.actor and not {event["actor"], ANY} & set(self.tellers or ()):
            self._note(event, f"told by {event['actor']} of a lease of {lease.actor}")
        low, high = self.nodes.scale.lowest, self.nodes.scale.highest
        counts = event["counts"]
        for n, units in zip(counts or [1] * len(event["units"]), event["units"], strict=True):
            if not low * n <= units <= high * n:
                self._note(event, f"a score of {units} units is out of range")
        if not fits_request(event):
            self._note(event, "what it says of raters is not what was told")
        told = len(event["told"]) if counts is None else sum(counts)
        if lease.round != self.number:
            counted = 0
        elif counts is None:
            counted = self._count_answers(event, lease)
        else:
            counted = self._count_totals(event, lease)
        if counted == told:
            count_raters(self.raters, event)
        gone = lease.round != self.number or lease.expires_at <= event["at"]
        self._same(event, "counted", event["counted"], counted)
        self._same(event, "late", event["late"], told - counted if gone else 0)
        self._same(event, "duplicate", event["duplicate"], 0 if gone else told - counted)

    def _count_answers(self, event: Row, lease: HeldLease) -> int:
        if not lease.slots().issuperset(event["told"]):
            self._note(event, "told of slots that the lease does not have")
        counted = 0
        for slot, units in zip(event["told"], event["units"], strict=True):
            holder = self.leases.holder(slot, event["lease"])
            if holder is None:
                continue
            self._lapse(holder, [slot], event["at"])
            self.leases.settle(holder, [slot])
            place = slot % len(self.round.arms)
            self._add(place, 1, units)
            counted += 1
        return counted

    def _add(self, place: int, answers: int, units: int) -> None:
        """Count answers of one arm that, where there are nodes, all have the same score."""
        self.answers[place] += answers
        self.sums[place] += units
        scale = self.nodes.scale
        # One that is out of range was noted; there is no node for it.
        score = min(max(units // answers, scale.lowest), scale.highest)
        self.nodes.add(self.tallies[place], score, answers)

    def _count_totals(self, event: Row, lease: HeldLease) -> int:
        if lease.pending != lease.slots():
            return 0
        width = len(self.round.arms)
        for arm, count, units in zip(event["told"], event["counts"], event["units"], strict=True):
            if count == 0:
                continue
            place = self.round.arms.index(arm) if arm in self.round.arms else -1
            own = sorted(slot for slot in lease.pending if slot % width == place)
            if place < 0 or len(own) < count:
                self._note(event, f"{count} answers of arm {arm} are more than the lease has")
                continue
            self._lapse(event["lease"], own[:count], event["at"])
            self.leases.settle(event["lease"], own[:count])
            if self.nodes.number and units % count:
                self._note(event, f"{count} answers of arm {arm} do not have one score")
            self._add(place, count, units)
        return int(sum(event["counts"]))

    def _close(self, event: Row) -> None:
        detail = event["detail"]
        if self.round.waits:
            self._note(event, "closed a round that nobody was named to judge")
            return
        self._same(event, "answers", sum(self.answers), self.round.size)
        self._same(event, "arms", detail["arms"], list(self.round.arms))
        shape = [detail["repetitions"], detail["size"]]
        self._same(event, "size", shape, [self.round.repetitions, self.round.size])
        self._same(event, "counts", detail["counts"], self.answers)
        self._same(event, "sums", detail["sums"], [str(total) for total in self.sums])
        kept = recorded(self.tallies)
        self._same(event, "tallies", detail.get("tallies"), kept.get("tallies"))
        seen = (self.sums, self.tallies, self.before)
        made = advance(self.spec.policy, self.nodes, self.saved, self.round, *seen)
        self._same(event, "dropped", detail["dropped"], list(made.dropped))
        self._same(event, "state", detail["state"], made.saved["state"])
        self._same(event, "next", detail["next"], made.next and made.next.to_json())
        self._same(event, "fewest seats", detail.get("fewest_seats"), made.fewest_seats)
        self.closed.append(
            {
                "number": self.number,
                "arms": list(self.round.arms),
                "repetitions": self.round.repetitions,
                "size": self.round.size,
                "opened_at": self.opened_at,
                "closed_at": event["at"],
                "counts": self.answers,
                "sums": self.sums,
                "dropped": list(made.dropped),
                "before": self.before,
                "lapsed": self.lapsed,
                **self.judged(),
            }
        )
        self.saved = made.saved
        if made.next is None:
            self.status = "exhausted"
            self.answers, self.sums, self.tallies, self.lapsed = [], [], [], []
            return
        self.before += self.round.size
        if self.status != "stopped":
            self.status = "decided" if made.next.final else "open"
        self.fewest_seats = made.fewest_seats
        self._open(self.number + 1, made.next, event["at"])
        named = self.named if made.next.waits else None
        if named is not None and in_order(self.fewest_seats, made.next.arms, named.judges):
            self._opening = named
        # A round that is closed owes nothing.
        for number, lease in list(self.leases.owing.items()):
            self._note(event, f"lease {number} still owed answers")
            self.leases.settle(number, list(lease.pending))

    def _name_judges(self, event: Row) -> None:
        try:
            self._take_judges(event)
        except InvalidInput as error:
            self._note(event, f"these cannot judge: {error}")

    def _take_judges(self, event: Row) -> None:
        """Take who judges a round: the one that waits, which they open, or the one to come."""
        detail, expected = event["detail"], self._opening
        judges, self._opening = Judges.from_json(detail), None
        by_service = expected is not None
        self._same(event, "by the service", event["actor"] == "service", by_service)
        if expected is not None:
            self._same(event, "judges", judges.to_json(), expected.judges.to_json())
        self._same(event, "named in", detail["named"], expected and expected.event)
        coming = self.number if self.round.waits else self.number + 1
        self._same(event, "round to come", detail["round"], coming)
        if self.status != "open" and not by_service:
            self._note(event, f"named judges of a campaign that was {self.status}")
        if not self.round.waits:
            self._same(event, "opened", detail["opened"], None)
            self.named = NamedJudges(event["number"], coming, judges)
            return
        self.saved, opened = judged_round(self.spec.policy, self.saved, judges, self.before)
        self._same(event, "opened", detail["opened"], opened.to_json())
        self._open(self.number, opened, event["at"], judges)
        if opened.final and self.status == "open":
            self.status = "decided"
        if not by_service:
            stands = NamedJudges(event["number"], coming + 1, judges)
            self.named = stands if judges.standing else None
        elif not judges.standing:
            self.named = None

    def judged(self) -> dict[str, Any]:
        """Return who judges the open round, as `affinity.rounds` has it."""
        return {
            "judges": None if self.judges is None else list(self.judges.counts),
            "outsiders": None if self.judges is None else self.judges.outsiders,
            "fewest_seats": self.fewest_seats,
        }

    def _stop(self, event: Row) -> None:
        self._same(event, "status", event["detail"]["status"], self.status)
        self.status = "stopped"

    def _same(self, event: Row, what: str, found: object, expected: object) -> None:
        if found != expected:
            self._note(event, f"{what} is {_short(found)}, expected {_short(expected)}")

    def _note(self, event: Row, text: str) -> None:
        self.differences.append(f"event {event['number']} ({event['kind']}): {text}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
