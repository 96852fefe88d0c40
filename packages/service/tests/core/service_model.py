"""What the service should answer to requests: the model of a campaign behind idempotency keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from affinity_bandits_client.messages import Finished, Lease, Told, Wait
from affinity_bandits_service import problems
from affinity_bandits_service.core.campaigns import SlotAsk
from affinity_bandits_service.core.scores import units_to_text
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import AnyTell, SlotTell
from packages.service.tests.core.campaign_model import Model, Named, RefusedError, Total

ONE = 10**9


class ServiceModel(Model):
    """A campaign that gets batches of requests, some of which it had before.

    Attributes:
        remembered: by idempotency key, the request that came with it and its answer.
        events: kind, key and round of each, and what became of the answers of a tell.
    """

    def __init__(self, spec: CampaignSpec, campaign: str = "") -> None:
        self.names, self.campaign = spec.arms, campaign
        lowest, highest = round(spec.lowest * ONE), round(spec.highest * ONE)
        super().__init__(
            spec.policy, len(spec.arms), spec.horizon, spec.lease_seconds, lowest, highest
        )
        self.remembered: dict[str, tuple[object, Lease | Told | None]] = {}
        self.events: list[tuple[Any, ...]] = [("create", None, 0)]

    def ask(self, asks: Sequence[SlotAsk], now: datetime) -> list[Any]:
        new = [one for one in asks if one.key not in self.remembered]
        if new and not self.over:
            self.close()
        return [self._ask(one, now) for one in asks]

    def _ask(self, one: SlotAsk, now: datetime) -> Any:
        if one.key in self.remembered:
            return self._repeated(one.key, ("ask", one.count))
        if self.over:
            return Finished(status=self.status)
        if self.round.waits:
            return Wait(status="wait", outstanding=0, retry_after=5.0, reason=self._awaited())
        slots = self.offer(one.count, now)
        if not slots:
            owed = self.round.owed
            first = min(self.leases[lease].expires_at for lease in owed.values())
            seconds = (first - now).total_seconds()
            return Wait(status="wait", outstanding=len(owed), retry_after=seconds)
        self.events.append(("ask", one.key, self.number))
        number = len(self.events)
        expires_at = self.hand_out(number, slots, now).expires_at
        lease = Lease(
            status="leased",
            number=number,
            round=self.number,
            runs=runs_of(slots),
            arms=tuple(self.names[arm] for arm in self.round.arms),
            expires_at=expires_at,
            campaign=self.campaign,
        )
        self.remembered[one.key] = (("ask", one.count), lease)
        return lease

    def tell(self, tells: Sequence[AnyTell], now: datetime, *, dies: bool = False) -> list[Any]:
        """Take a batch; a process that dies after it does not close the round."""
        before = len(self.events)
        told = [self._tell(one, now) for one in tells]
        if len(self.events) > before and not dies:
            self.close()
        return told

    def _tell(self, one: AnyTell, now: datetime) -> Any:
        request = ("tell", one.digest)
        if one.key in self.remembered:
            return self._repeated(one.key, request)
        try:
            if isinstance(one, SlotTell):
                scores = dict(zip(one.places, one.units, strict=True))
                outcome = self.tell_slots(one.lease, scores, now)
            else:
                totals = list(map(Total, one.places, one.counts, one.units))
                outcome = self.tell_totals(one.lease, totals, now)
        except RefusedError as refused:
            return {
                "no_such_lease": problems.ServiceProblem(problems.NO_SUCH_LEASE, one.lease),
                "not_leased": problems.ServiceProblem(problems.NOT_LEASED, one.lease),
                "score_out_of_range": self._out_of_range(one),
            }[refused.code]
        told = Told(**outcome._asdict())
        self.remembered[one.key] = (request, told)
        self.events.append(("tell", one.key, self.number, told))
        return told

    def _out_of_range(self, one: AnyTell) -> problems.ServiceProblem:
        wrong = ""
        counts = [1] * len(one.units) if isinstance(one, SlotTell) else list(one.counts)
        for units, count in reversed(list(zip(one.units, counts, strict=True))):
            if units < count * self.lowest or units > count * self.highest:
                wrong = units_to_text(units // count)
        ends = (units_to_text(self.lowest), units_to_text(self.highest))
        return problems.ServiceProblem(problems.SCORE_OUT_OF_RANGE, *ends, wrong)

    def close(self) -> bool:
        number = self.number
        closed = super().close()
        if closed:
            self.events.append(("close", None, number))
            if self.number > number and self.round.judges is not None:
                self.events.append(("judges", None, self.number))
        return closed

    def name_by(
        self, key: str, judges: Named, number: int | None
    ) -> problems.ServiceProblem | str | None:
        """Name judges; return the problem, or the parameter that is refused."""
        request = ("judges", judges, number)
        if key in self.remembered:
            return (
                None
                if self.remembered[key][0] == request
                else problems.ServiceProblem(problems.KEY_REUSED)
            )
        if self.policy.told_judges and self.status == "open":
            self.close()
        current = self.number
        try:
            new = self.name_judges(judges, number)
        except RefusedError as refused:
            return {
                "judges_not_asked": problems.ServiceProblem(
                    problems.JUDGES_NOT_ASKED,
                    f"it is {self.status}"
                    if self.policy.told_judges
                    else "its policy is not told who judges",
                ),
                "judges_settled": problems.ServiceProblem(
                    problems.JUDGES_SETTLED, "panel", current, current + 1
                ),
                "invalid": "round",
            }[refused.code]
        if new:
            self.remembered[key] = (request, None)
            self.events.append(("judges", key, current))
        return None

    def _awaited(self) -> str:
        """What the round waits for, of a policy that is told of panels."""
        words = f"the panel of round {self.number} is not named yet"
        leader = self.leader()
        if leader is None:
            return f"{words}; any panel will do"
        words += f"; arm {leader} leads and should have no more seats than any other group"
        return (
            words if self.named is None else f"{words}, and the panel that was named gives it more"
        )

    def stop_by(self, key: str) -> problems.ServiceProblem | None:
        if key in self.remembered:
            return (
                None
                if self.remembered[key][0] == "stop"
                else problems.ServiceProblem(problems.KEY_REUSED)
            )
        if self.stop():
            self.remembered[key] = ("stop", None)
            self.events.append(("stop", key, self.number))
        return None

    def release_by(self, key: str, lease: int) -> Any:
        if key in self.remembered:
            return self._repeated(key, ("release", lease))
        if lease not in self.leases:
            return problems.ServiceProblem(problems.NO_SUCH_LEASE, lease)
        slots = self.release(lease)
        self.remembered[key] = (("release", lease), slots)
        self.events.append(("release", key, self.number))
        return slots

    def _repeated(self, key: str, request: object) -> Any:
        before, answer = self.remembered[key]
        return answer if before == request else problems.ServiceProblem(problems.KEY_REUSED)


def runs_of(slots: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Slots as runs of (first, count), in their order."""
    runs: list[tuple[int, int]] = []
    for slot in slots:
        if runs and sum(runs[-1]) == slot:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((slot, 1))
    return tuple(runs)
