"""The events of a campaign replayed against the model: each must be what the model expects next.

The scores are fixed, so the sums of a round that has all its answers are known, whatever happened
to it on the way.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from typing import Any

from affinity_bandits.policies import FOREVER, POLICIES, RoundPolicy
from soak.service.cases import UNITS_PER_ONE, Case
from soak.service.model import Lease, Model, Named, Outcome, RefusedError, Total
from soak.service.verdict import Verdict

RUN = re.compile(r"\[(\d+),(\d+)\)")


def slots_in(multirange: str) -> list[int]:
    """Return the slots of a multirange as PostgreSQL writes it."""
    return [slot for first, end in RUN.findall(multirange) for slot in range(int(first), int(end))]


def model_of(case: Case, lease_seconds: float) -> Model:
    """Return the model of a campaign at its beginning."""
    policy = POLICIES[case.policy](**case.settings)
    assert isinstance(policy, RoundPolicy)
    if case.window is not None:
        policy = policy.with_order_window(case.window)
    lowest, highest = case.lowest * UNITS_PER_ONE, case.highest * UNITS_PER_ONE
    return Model(policy, case.arms, case.horizon, lease_seconds, lowest, highest)


class Replay:
    """One campaign.

    Args:
        case: what it is.
        lease_seconds: how long a lease lasts.
        quiet_from: when the faults were over.
        verdict: where complaints go.

    Attributes:
        model: the campaign as the events so far leave it.
        last: the number of the last event.
        closed: the rounds that events say were closed.
    """

    def __init__(
        self, case: Case, lease_seconds: float, quiet_from: datetime, verdict: Verdict
    ) -> None:
        self.model = model_of(case, lease_seconds)
        self.last = 0
        self.closed: list[int] = []
        self._case = case
        self._quiet_from = quiet_from
        self._verdict = verdict
        self._keys: set[str] = set()
        self._seen: set[int] = set()

    @property
    def saved(self) -> Any:
        """The policy's state as JSON, as it should be saved."""
        model = self.model
        return json.loads(
            json.dumps(model.policy.save(model.state, self._case.arms, self._case.horizon))
        )

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
        if event["round"] != self.model.number:
            self._complain("wrong", event, f"the open round is {self.model.number}")
        getattr(self, f"_{event['kind']}")(event)

    def _create(self, event: dict[str, Any]) -> None:
        if event["number"] != 1:
            self._complain("wrong", event, "a campaign is created once, first")

    def _ask(self, event: dict[str, Any]) -> None:
        model, current = self.model, self.model.round
        slots, at = slots_in(event["slots"]), event["at"]
        if model.over:
            self._complain("wrong", event, f"leased though {model.status}")
        for slot in slots:
            holder = current.owed.get(slot)
            if slot in current.answered:
                self._complain("doubled", event, f"slot {slot} was answered before")
            elif holder is not None and model.leases[holder].expires_at > at:
                self._complain("doubled", event, f"slot {slot} is held by lease {holder}")
        expected = model.offer(event["asked"], at)
        if slots != expected:
            self._complain("wrong", event, f"leased {slots[:20]}, not {expected[:20]}")
            skipped = range(current.next_slot, min(slots, default=0))
            if skipped:
                self._complain("gaps", event, f"left out slots {list(skipped[:20])}", len(skipped))
        lease = model.hand_out(event["number"], slots, at)
        if event["expires_at"] != lease.expires_at:
            self._complain("wrong", event, f"expires at {event['expires_at']}, made at {at}")

    def _tell(self, event: dict[str, Any]) -> None:
        found = Outcome(event["counted"], event["late"], event["duplicate"])
        lease = self.model.leases.get(event["lease"])
        self._verdict.counted += found.counted
        self._verdict.late += found.late
        self._verdict.duplicate += found.duplicate
        if lease is not None and self.model.is_late(lease, event["at"]):
            self._verdict.late_counted += found.counted
        try:
            units, expected = self._retold(event, lease)
        except RefusedError as refused:
            self._complain("wrong", event, f"taken, not refused: {refused}")
            return
        if event["units"] != units:
            self._complain("wrong", event, f"scores {event['units'][:5]}, not {units[:5]}")
        if found != expected:
            kind = "doubled" if found.counted > expected.counted else "wrong"
            self._complain(kind, event, f"{found}, not {expected}")

    def _retold(self, event: dict[str, Any], lease: Lease | None) -> tuple[list[int], Outcome]:
        """Tell the model the same, with the scores as they are fixed; return those as well."""
        number, told, at = event["lease"], event["told"], event["at"]
        if lease is None:
            raise RefusedError("no_such_lease")
        if event["counts"] is None:
            scores = {slot: self._score(lease.round, slot) for slot in told}
            return list(scores.values()), self.model.tell_slots(number, scores, at)
        of_arm: Counter[int] = Counter()
        for arm, count in zip(told, event["counts"], strict=True):
            of_arm[arm] += count
        totals = []
        for arm, count in of_arm.items():
            slots = self.model.slots_of_total(lease, arm, count)
            own = [self._score(lease.round, slot) for slot in slots]
            if self._case.bounded:
                totals += [Total(arm, n, n * score) for score, n in Counter(own).items()]
            else:
                totals.append(Total(arm, count, sum(own)))
        units, by_score = [one.units for one in totals], self._case.bounded
        return units, self.model.tell_totals(number, totals, at, by_score=by_score)

    def _close(self, event: dict[str, Any]) -> None:
        detail, current = json.loads(event["detail"]), self.model.round
        if event["round"] in self.closed:
            self._complain("doubled", event, "the round is closed twice")
        self.closed.append(event["round"])
        self._verdict.rounds += 1
        self._verdict.disturbed_rounds += event["at"] < self._quiet_from
        if not current.due:
            answers = f"{len(current.answered)} of {current.size} answers"
            self._complain("wrong", event, f"closed with {answers}")
            if current.dropped is not None or current.size >= FOREVER:
                return
            self._fill_in()
        nodes = self.model.tallies()
        self.model.close()
        ours = {
            "arms": list(current.arms),
            "size": current.size,
            "counts": current.counts,
            "sums": [str(total) for total in current.sums],
            "dropped": list(current.dropped or ()),
            "state": self.saved["state"],
        }
        if nodes is not None:
            ours["tallies"] = [[str(tally) for tally in own] for own in nodes]
        for name, value in ours.items():
            if detail.get(name) != value:
                self._complain("wrong", event, f"{name}: {detail.get(name)}, not {value}")

    def _fill_in(self) -> None:
        """Answer what is missing, so that a mistake is not found again in every later round."""
        current = self.model.round
        missing = set(range(current.size)) - current.answered
        for slot in missing:
            current.add(current.arm(slot), 1, self._score(self.model.number, slot))
        current.settle(missing)

    def _judges(self, event: dict[str, Any]) -> None:
        detail, model = json.loads(event["detail"]), self.model
        judges = Named(tuple(detail["judges"]), detail["standing"])
        if event["actor"] != "service":
            try:
                model.name_judges(judges, detail["round"])
            except RefusedError as refused:
                self._complain("wrong", event, f"taken, not refused: {refused}")
        found = detail["opened"] and detail["opened"]["size"]
        if found is not None and (model.round.judges, model.round.size) != (judges.counts, found):
            self._complain("wrong", event, f"opened with {judges}, not {model.round.judges}")

    def _stop(self, event: dict[str, Any]) -> None:
        if not self.model.stop():
            self._complain("wrong", event, f"stopped though {self.model.status}")

    def _score(self, round_: int, slot: int) -> int:
        return self._case.score(round_, slot, self.model.rounds[round_].arm(slot))

    def _complain(self, kind: str, event: dict[str, Any], text: str, times: int = 1) -> None:
        where = f"{self._case.name}, event {event['number']} ({event['kind']})"
        self._verdict.complain(kind, f"{where}: {text}", times)
