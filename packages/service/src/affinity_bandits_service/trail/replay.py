"""Recompute a campaign from its audit trail, in plain Python and with the library's policy.

This is an independent, slower implementation of the rules in the SQL functions. It reads only
events; `affinity serve verify` compares its result with the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice, takewhile
from typing import Any, NamedTuple

from affinity_bandits.base.errors import InvalidInput, NotSupported, UnknownName, shown
from affinity_bandits.policies import BlockPolicy, RoundPolicy
from affinity_bandits_client.messages.base import LARGEST_LEASE
from affinity_bandits_service.core.closing import RoundEnd, advance, advance_blocks, record_tallies
from affinity_bandits_service.core.judging import (
    Appointment,
    JudgeCounts,
    fewest_seats,
    in_order,
    judged_round,
)
from affinity_bandits_service.core.spec import (
    ANY,
    CampaignSpec,
    RoundSlots,
    next_round,
    served_policy,
)
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.trail.block_log import BlockLog

Row = Mapping[str, Any]


class Counted(NamedTuple):
    """An entry of a tell that counts: its place there, its slots and the lease that owed them."""

    entry: int
    slots: list[int]
    lease: int


class OwedSlots(dict[int, int]):
    """Unanswered slots of the open round, each with the lease that owes it.

    They are in the order in which they were leased.
    """

    def lease(self, number: int, slots: Iterable[int]) -> None:
        """Let a lease owe slots, instead of the leases that owed them before."""
        for slot in slots:
            self.pop(slot, None)
            self[slot] = number

    def settle(self, event: Row, leased: Sequence[int], arms: Sequence[int]) -> list[Counted]:
        """Remove the slots that a tell answers; return the entries that count.

        Args:
            event: a tell of the open round.
            leased: the slots of its lease.
            arms: those of the round.

        Raises:
            ValueError: there are more answers of an arm than the lease has slots.
        """
        if event["counts"] is not None:
            return self._settle_totals(event, leased, arms)
        return [
            Counted(entry, [slot], self.pop(slot))
            for entry, slot in enumerate(event["told"])
            if slot in self
        ]

    def _settle_totals(
        self, event: Row, leased: Sequence[int], arms: Sequence[int]
    ) -> list[Counted]:
        # Totals do not say which slot has which score, so they count only if the lease still owes
        # all its slots.
        if any(self.get(slot) != event["lease"] for slot in leased):
            return []
        found = []
        left: dict[int, list[int]] = {}
        for slot in leased:
            left.setdefault(arms[slot % len(arms)], []).append(slot)
        for entry, (arm, count) in enumerate(zip(event["told"], event["counts"], strict=True)):
            own, left[arm] = left.get(arm, [])[:count], left.get(arm, [])[count:]
            if len(own) < count:
                raise ValueError(f"{count} answers of arm {arm} are more than the lease has")
            if count:  # 0 is damage
                found.append(Counted(entry, own, event["lease"]))
        for one in found:
            for slot in one.slots:
                del self[slot]
        return found


def slots_in(runs: Iterable[Any]) -> list[int]:
    """Return the slots of a multirange, in ascending order."""
    slots = (slot for run in runs for slot in range(run.lower, run.upper))
    found = list(islice(slots, LARGEST_LEASE + 1))
    if len(found) > LARGEST_LEASE:
        raise ValueError("a lease has too many slots")
    return found


@dataclass(frozen=True)
class HeldLease:
    """A lease as granted, or given back since.

    `again` says whether other leases had its slots before, or it was given back.
    """

    round: int
    slots: Sequence[int]
    expires_at: datetime
    again: bool
    actor: str
    released: bool = False


class Replay:
    """The state of one campaign, recomputed event by event, and where events contradict it.

    Args:
        version: that of the policy which saved the campaign's state, if known.

    Attributes:
        differences: contradictions between an event and earlier ones, in words.
        events: the number of events so far.
        bytes: how many their answers take, as quotas count them.
        saved: the policy's state before the open round, as `Policy.save` writes it.
        number: of the open round.
        round: the open round.
        before: answers counted in earlier rounds.
        opened_at: when the open round was opened, or began to wait.
        tellers: API keys that may answer any lease.
        in_flight: how far slots may be answered out of order; None for any order.
        next_slot: the first unleased slot of the open round.
        answers: the number of answers per arm of the open round.
        sums: the sums of scores per arm, in units of 1e-9.
        tallies: how often each score was given, if the policy has nodes.
        lapsed: slots per arm whose first lease expired unanswered, if answered or leased again.
        leases: all leases, by number.
        owed: leased, unanswered slots of the open round.
        blocks: all blocks that were given.
        closed: closed rounds, as `affinity.rounds` has them.
        judges: who judges the open round, if the policy is told.
        fewest_seats: the arm that should have the fewest judges, if any.
        named: who was named to judge rounds to come.
        raters: per rater, from tells whose answers all counted: the number of scores, the event of
            the first one and its place there, from 1.
    """

    def __init__(self, version: object = None) -> None:
        self._version = version
        self.differences: list[str] = []
        self.events = 0
        self.bytes = 0
        self.status = ""
        self.before = 0
        self.leases: dict[int, HeldLease] = {}
        self.owed = OwedSlots()
        self.closed: list[dict[str, Any]] = []
        self.named: Appointment | None = None
        self.raters: dict[str, tuple[int, int, int]] = {}
        self._opening: Appointment | None = None  # who must open the round in the next event

    def take(self, event: Row) -> None:
        """Apply the next event.

        Raises:
            NotSupported: the campaign's policy is unknown to this version.
        """
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
            "release": self._release,
            "ask_block": self._ask_block,
            "tell_block": self._tell_block,
        }
        take[event["kind"]](event)

    def _create(self, event: Row) -> None:
        detail = event["detail"]
        try:
            policy = served_policy(detail["description"]["policy"])
        except UnknownName as error:
            raise _not_replayable(f"no policy of the name {shown(error.value)}") from None
        except InvalidInput as error:
            raise _not_replayable(f"no such settings of its policy ({error})") from None
        if isinstance(self._version, int) and self._version != policy.version:
            raise _not_replayable(
                f"version {policy.version} of its policy, and its state was saved by version"
                f" {self._version}"
            )
        self.spec = CampaignSpec.from_json(detail["description"])
        self.nodes = self.spec.nodes
        self.in_flight, self.tellers = detail["in_flight"], detail["tellers"]
        self.blocks = BlockLog(self.spec.arms, self.spec.lease_seconds)
        arms = len(self.spec.arms)
        state = policy.start(arms, self.spec.horizon)
        self.saved = policy.save(state, arms, self.spec.horizon)
        self._same(event, "state", detail["state"], self.saved["state"])
        first = next_round(policy, state, arms, self.spec.horizon, 0)
        if first is None:
            self._note(event, "the policy plans no first round")
            return
        self.fewest_seats = fewest_seats(policy, state)
        self._open(0, first, event["at"])
        if first.waits and self.spec.first_judges is not None:
            self._opening = Appointment(1, 0, JudgeCounts(self.spec.first_judges))
        self.status = "decided" if self.round.final else "open"

    def _open(
        self, number: int, round_: RoundSlots, at: datetime, judges: JudgeCounts | None = None
    ) -> None:
        self.number, self.round, self.next_slot, self.judges = number, round_, 0, judges
        self.opened_at = at
        self.answers = [0] * len(round_.arms)
        self.sums = [0] * len(round_.arms)
        self.tallies = self.nodes.none(len(round_.arms))
        self.lapsed = [0] * len(round_.arms)
        policy = self.spec.policy
        if isinstance(policy, BlockPolicy):
            self.blocks.open(number, policy.round(policy.load(self.saved)))

    def _ask(self, event: Row) -> None:
        if self.status in ("exhausted", "stopped"):
            self._note(event, f"leased slots of a campaign that was {self.status}")
        if self.round.waits:
            self._note(event, "leased slots of a round that nobody was named to judge")
        if self.by_blocks:
            self._note(event, "leased slots of a round of blocks")
        slots, at = slots_in(event["slots"]), event["at"]
        limit = self.round.size
        if self.in_flight is not None and len(self.round.arms) > 1:
            limit = min(limit, min(self.owed, default=self.next_slot) + self.in_flight)
        again = self.next_slot >= limit
        if again:
            # What was given back, then the slots of the oldest leases, up to the first lease that
            # has not expired.
            back = [one for one in self.owed.items() if self.leases[one[1]].released]
            kept = (one for one in self.owed.items() if not self.leases[one[1]].released)
            expired = takewhile(lambda one: self._is_past(self.leases[one[1]], at), kept)
            offered = list(islice(chain(back, expired), event["asked"]))
            for slot, number in offered:
                self._count_lapses(number, [slot], at)
            expected = sorted(slot for slot, _ in offered)
        else:
            end = min(self.next_slot + event["asked"], limit)
            expected = list(range(self.next_slot, end))
            self.next_slot = end
        self._same(event, "slots", slots, expected)
        until = at + timedelta(seconds=self.spec.lease_seconds)
        self._same(event, "expires_at", event["expires_at"], until)
        lease = HeldLease(self.number, slots, event["expires_at"], again, event["actor"])
        self.leases[event["number"]] = lease
        self.owed.lease(event["number"], slots)

    @property
    def by_blocks(self) -> bool:
        """Whether the campaign gives blocks."""
        return isinstance(self.spec.policy, BlockPolicy)

    def _ask_block(self, event: Row) -> None:
        if self.status != "open":
            self._note(event, f"gave a block of a campaign that was {self.status}")
        try:
            self.next_slot += self.blocks.give(event, event["campaign"], partial(self._same, event))
        except ValueError as error:
            self._note(event, str(error))

    def _tell_block(self, event: Row) -> None:
        self.bytes += len(event["detail_text"].encode())
        try:
            block = self.blocks.tell(event, partial(self._same, event))
        except ValueError as error:
            self._note(event, str(error))
            return
        given = self.blocks.given[event["detail"]["lease"]]
        if event["actor"] != given.actor and not {event["actor"], ANY} & set(self.tellers or ()):
            self._note(event, f"told by {event['actor']} of a block of {given.actor}")
        scale = self.nodes.scale
        for units in event["detail"]["units"]:
            if not scale.lowest <= units <= scale.highest:
                self._note(event, f"a score of {units} units is out of range")
        if block is None:
            return
        for arm, units in zip(block.arms, event["detail"]["units"], strict=True):
            self._add(event, self.round.arms.index(arm), 1, units)
        if block.rater is not None:
            first = (0, event["number"], 1)
            scores, *rest = self.raters.get(block.rater, first)
            self.raters[block.rater] = (scores + len(block.arms), rest[0], rest[1])

    def _release(self, event: Row) -> None:
        number = event["detail"]["lease"]
        given_back = self.blocks.release(number, event["actor"])
        if given_back is not None:
            self._same(event, "slots", event["detail"]["slots"], given_back)
            return
        lease = self.leases.get(number)
        if lease is None or lease.actor != event["actor"]:
            self._note(event, f"gave back lease {number}, which was not theirs to give back")
            return
        owed = 0 if lease.released else sum(one == number for one in self.owed.values())
        if owed:
            self.leases[number] = replace(lease, again=True, released=True)
        self._same(event, "slots", event["detail"]["slots"], owed)

    def _is_past(self, lease: HeldLease, at: datetime) -> bool:
        """Return whether a lease has expired; see the SQL function of this name."""
        longest = timedelta(seconds=2 * self.spec.lease_seconds)
        return not at < lease.expires_at <= at + longest

    def _count_lapses(self, number: int, slots: Sequence[int], at: datetime) -> None:
        """Count slots that a lease owed until now, if it was their first and has expired."""
        lease = self.leases[number]
        if self._is_past(lease, at) and not lease.again:
            for slot in slots:
                self.lapsed[slot % len(self.round.arms)] += 1

    def _tell(self, event: Row) -> None:
        lease = self.leases.get(event["lease"])
        if lease is None:
            self._note(event, f"told of lease {event['lease']}, which was not granted")
            return
        if event["actor"] != lease.actor and not {event["actor"], ANY} & set(self.tellers or ()):
            self._note(event, f"told by {event['actor']} of a lease of {lease.actor}")
        self.bytes += _size(event["told"]) + _size(event["units"])
        if not event["told"]:  # duplicates alone, of which only the number is kept
            past = lease.round != self.number or self._is_past(lease, event["at"])
            self._same(event, "counted", (event["counted"], event["late"], past), (0, 0, False))
            return
        self.bytes += len((event["detail_text"] or "").encode())
        scale, counts = self.nodes.scale, event["counts"] or [1] * len(event["told"])
        for n, units in zip(counts, event["units"], strict=True):
            if not scale.lowest * n <= units <= scale.highest * n:
                self._note(event, f"a score of {units} units is out of range")
        if not _fits_request(event):
            self._note(event, "what it says of raters is not what was told")
        told, counted = sum(counts), 0
        if lease.round == self.number:
            for entry, slots, holder in self._settle(event, lease):
                self._count_lapses(holder, slots, event["at"])
                self._add(event, slots[0] % len(self.round.arms), len(slots), event["units"][entry])
                counted += len(slots)
        if counted == told:
            self._count_raters(event)
        late = lease.round != self.number or self._is_past(lease, event["at"])
        self._same(event, "counted", event["counted"], counted)
        self._same(event, "late", event["late"], told - counted if late else 0)
        self._same(event, "duplicate", event["duplicate"], 0 if late else told - counted)

    def _settle(self, event: Row, lease: HeldLease) -> list[Counted]:
        if event["counts"] is None and not set(event["told"]).issubset(lease.slots):
            self._note(event, "told of slots that the lease does not have")
        try:
            return self.owed.settle(event, lease.slots, self.round.arms)
        except ValueError as error:
            self._note(event, str(error))
            return []

    def _add(self, event: Row, place: int, answers: int, units: int) -> None:
        """Count answers of one arm, which all have the same score."""
        if units % answers:
            arm = self.round.arms[place]
            self._note(event, f"{answers} answers of arm {arm} do not have one score")
        self.answers[place] += answers
        self.sums[place] += units
        scale = self.nodes.scale
        # A score out of range is on the list of differences; there is no node for it.
        score = min(max(units // answers, scale.lowest), scale.highest)
        self.nodes.add(self.tallies[place], score, answers)

    def _count_raters(self, event: Row) -> None:
        raters = event["detail"]["raters"] if event["detail"] else ()
        for place, rater in enumerate(raters, start=1):
            if rater is not None:
                scores, *first = self.raters.get(rater, (0, event["number"], place))
                self.raters[rater] = (scores + 1, first[0], first[1])

    def _close(self, event: Row) -> None:
        detail = event["detail"]
        if self.round.waits:
            self._note(event, "closed a round that nobody was named to judge")
            return
        self._same(event, "answers", sum(self.answers), self.round.size)
        made = self._advance()
        expected = {
            "arms": list(self.round.arms),
            "repetitions": self.round.repetitions,
            "size": self.round.size,
            "counts": self.answers,
            "sums": [str(total) for total in self.sums],
            "tallies": record_tallies(self.tallies).get("tallies"),
            "dropped": list(made.dropped),
            "state": made.saved["state"],
            "next": made.next and made.next.to_json(),
            "fewest_seats": made.fewest_seats,
        }
        for what, value in expected.items():
            self._same(event, what.replace("_", " "), detail.get(what), value)
        self.closed.append(
            {
                "number": self.number,
                **{name: expected[name] for name in ("arms", "repetitions", "size", "counts")},
                "opened_at": self.opened_at,
                "closed_at": event["at"],
                "sums": self.sums,
                "dropped": expected["dropped"],
                "before": self.before,
                "lapsed": self.lapsed,
                **self.describe_judges(),
            }
        )
        self.saved = made.saved
        for number in dict.fromkeys(self.owed.values()):
            self._note(event, f"lease {number} still owed answers")
        self.owed.clear()
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

    def _advance(self) -> RoundEnd:
        """Return the end of the open round."""
        policy = self.spec.policy
        if isinstance(policy, BlockPolicy):
            rest = (self.round.size, self.blocks.scored(), self.before)
            return advance_blocks(policy, self.nodes.scale, self.saved, *rest)
        seen = (self.sums, self.tallies, self.before)
        return advance(policy, self.nodes, self.saved, self.round, *seen)

    def _name_judges(self, event: Row) -> None:
        try:
            self._take_judges(event)
        except InvalidInput as error:
            self._note(event, f"these cannot judge: {error}")

    def _take_judges(self, event: Row) -> None:
        """Take who judges a round: the one that waits, which they open, or the one to come."""
        detail, expected = event["detail"], self._opening
        judges, self._opening = JudgeCounts.from_json(detail), None
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
            self.named = Appointment(event["number"], coming, judges)
            return
        policy = self.spec.policy
        if not isinstance(policy, RoundPolicy):
            self._note(event, "named judges of a round of blocks")
            return
        self.saved, opened = judged_round(policy, self.saved, judges, self.before)
        self._same(event, "opened", detail["opened"], opened.to_json())
        self._open(self.number, opened, event["at"], judges)
        if opened.final and self.status == "open":
            self.status = "decided"
        if not by_service:
            stands = Appointment(event["number"], coming + 1, judges)
            self.named = stands if judges.standing else None
        elif not judges.standing:
            self.named = None

    def describe_judges(self) -> dict[str, Any]:
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


def _not_replayable(found: str) -> NotSupported:
    return NotSupported(
        f"the campaign cannot be replayed by this version, which has {found}; that says nothing"
        " against its record: verify it with the version that it was made with"
    )


def _fits_request(event: Row) -> bool:
    """Return whether the raters of a tell are covered by the digest of its request."""
    if event["detail"] is None:
        return True
    raters = zip(event["detail"]["raters"], event["detail"]["rater_arms"], strict=True)
    told = (tuple(event["told"]), tuple(event["units"]), tuple(raters))
    request = SlotTell(event["lease"], event["key"], event["actor"], *told)
    return event["counts"] is None and request.digest == event["digest"]


def _size(numbers: Sequence[int]) -> int:
    """Return the bytes of a list of numbers in PostgreSQL, as quotas count them."""
    return 24 + 8 * len(numbers) if numbers else 16


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
