"""A client of the service that answers out of order, late, twice or never, and may be killed."""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import httpx

from soak.service.cases import UNITS_PER_ONE, Case
from soak.service.journal import TAIL, Journal, Request, requests_in

TIMEOUT = 10.0
UNKNOWN = 503
"""The status that says nothing of what became of a request."""


@dataclass(frozen=True)
class Setup:
    """The settings of all clients.

    Attributes:
        ports: of the service's processes.
        api_key: the key they all use.
        campaigns: the id of each, with what it is.
        pace: seconds between two requests of a client, on average.
        seed: of their chances.
        lease_seconds: how long they have to answer.
    """

    ports: list[int]
    api_key: str
    campaigns: list[tuple[str, Case]]
    pace: float
    seed: int
    lease_seconds: float

    def save(self, path: Path) -> None:
        """Write the settings where clients find them."""
        path.write_text(
            json.dumps({**vars(self), "campaigns": [(i, vars(case)) for i, case in self.campaigns]})
        )

    @classmethod
    def load(cls, path: Path) -> Setup:
        """Read what `save` wrote."""
        data = json.loads(path.read_text())
        data["campaigns"] = [(id_, Case(**case)) for id_, case in data["campaigns"]]
        return cls(**data)


@dataclass
class Planned:
    """A tell that is still to be sent, or to be sent again."""

    due: float
    campaign: int
    body: dict[str, Any]
    key: str = field(default_factory=lambda: uuid.uuid4().hex)


class Client:
    """One client; everything it knows is in its journal.

    Args:
        setup: what it is told.
        path: of its journal.
        chance: where its whims come from.
    """

    def __init__(self, setup: Setup, path: Path, chance: random.Random) -> None:
        self.setup = setup
        self.journal = Journal(path)
        self.over = False
        self._chance = chance
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {setup.api_key}"},
            timeout=TIMEOUT,
            trust_env=False,
            verify=False,  # plain HTTP, and loading certificates takes long
        )
        self._planned: list[Planned] = []
        self._resting: dict[int, float] = {}

    def run(self) -> None:
        """Ask and tell until `over` is set or the parent is gone."""
        parent = os.getppid()
        self._remember()
        while not self.over and os.getppid() == parent:
            time.sleep(self._chance.uniform(0.0, 2 * self.setup.pace))
            due = [one for one in self._planned if one.due <= time.time()]
            if due and (len(self._planned) > 20 or self._chance.random() < 0.75):
                self._tell(self._chance.choice(due))
            else:
                self._ask()

    def close(self) -> None:
        """Close the connections and the journal."""
        self._http.close()
        self.journal.close()

    def post(self, kind: str, campaign: int, key: str, body: dict[str, Any]) -> Any:
        """Send a request until a response comes or it is given up; return the content, or None."""
        self._intend(kind, campaign, key, body)
        while True:
            answer = self._send(campaign, kind, key, json=body)
            if answer is not None:
                good = answer.status_code == 200
                content = answer.json() if good else answer.text[:500]
                self._acknowledged(key, answer.status_code, content)
                return content if good else None
            if self._chance.random() < 0.1:
                self.journal.write({"key": key, "given_up": True})
                return None
            time.sleep(self._chance.uniform(0.05, 0.4))

    def status(self, campaign: int) -> str:
        """Return a campaign's status, from a server that is not disturbed."""
        path = f"/v1/campaigns/{self.setup.campaigns[campaign][0]}"
        answer = self._http.get(f"http://127.0.0.1:{self.setup.ports[0]}{path}")
        return str(answer.raise_for_status().json()["status"])

    def answers(self, campaign: int, lease: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the answers to all slots of a lease."""
        case = self.setup.campaigns[campaign][1]
        return [
            {"slot": slot, "score": case.score(lease["round"], slot, arm) / UNITS_PER_ONE}
            for slot, arm in slots_of(lease)
        ]

    def _remember(self) -> None:
        """Resume what a predecessor left: requests of unknown outcome, and slots it owes."""
        before = requests_in(self.journal.path, tail=TAIL)
        told = {
            (request.campaign, request.body["lease"], answer.get("slot", answer.get("arm")))
            for request in before.values()
            if request.kind == "tell"
            for answer in request.body.get("answers") or request.body["totals"]
        }
        for request in before.values():
            if request.unknown:
                self._repeat(request)
            elif request.kind == "ask" and self._chance.random() < 0.5:
                for status, lease in request.answers[:1]:
                    if status == 200 and lease["status"] == "leased":
                        self._owed(request.campaign, lease, told)

    def _repeat(self, request: Request) -> None:
        if self._chance.random() < 0.3:
            self.journal.write({"key": request.key, "given_up": True})
            return
        content = self.post(request.kind, request.campaign, request.key, request.body)
        if request.kind == "ask" and content and content["status"] == "leased":
            self._plan(request.campaign, content)

    def _owed(self, campaign: int, lease: dict[str, Any], told: set[tuple[int, int, Any]]) -> None:
        number = lease["lease"]
        if any((campaign, number, name) in told for name in lease["arms"]):
            return  # told as totals
        left = [
            answer
            for answer in self.answers(campaign, lease)
            if (campaign, number, answer["slot"]) not in told
        ]
        if left:
            self._planned.append(Planned(0.0, campaign, {"lease": number, "answers": left}))

    def _ask(self) -> None:
        weights = [
            0.0 if self._resting.get(at, 0.0) > time.time() else case.weight
            for at, (_, case) in enumerate(self.setup.campaigns)
        ]
        if not any(weights):
            return
        campaign = self._chance.choices(range(len(weights)), weights)[0]
        body = {"count": self._chance.choice((1, 2, 3, 5, 10, 40))}
        key = uuid.uuid4().hex
        content = self.post("ask", campaign, key, body)
        if content is None:
            return
        if content["status"] == "leased":
            if self._chance.random() < 0.05:  # somebody between us repeats what had arrived
                self.post("ask", campaign, key, body)
            self._plan(campaign, content)
            rest = 1.0 if len(content["arms"]) == 1 else 0.0  # decided, most likely
        else:
            rest = min(1.0, content["retry_after"]) if content["status"] == "wait" else 1e9
        self._resting[campaign] = time.time() + rest

    def _plan(self, campaign: int, lease: dict[str, Any]) -> None:
        """Decide when, in what order and how often the slots of a lease are answered."""
        answers = self.answers(campaign, lease)
        number = lease["lease"]
        if self._chance.random() < 0.1:
            by_score = self.setup.campaigns[campaign][1].bounded
            totals = _totals(lease, answers, by_score=by_score)
            self._plan_one(campaign, {"lease": number, "totals": totals})
            return
        self._chance.shuffle(answers)
        while answers:
            size = self._chance.randint(1, len(answers))
            part, answers = answers[:size], answers[size:]
            if self._chance.random() > 0.04:  # else dropped
                self._plan_one(campaign, {"lease": number, "answers": part})

    def _plan_one(self, campaign: int, body: dict[str, Any]) -> None:
        lease = self.setup.lease_seconds
        longest = self._chance.choices((0.0, 0.3 * lease, 2 * lease), (5, 5, 1))[0]
        due = time.time() + self._chance.uniform(0.0, longest)
        self._planned.append(Planned(due, campaign, body))
        if self._chance.random() < 0.1:  # the same answers under another key
            self._planned.append(Planned(due + self._chance.uniform(0.0, lease), campaign, body))

    def _tell(self, one: Planned) -> None:
        self._planned.remove(one)
        if self._chance.random() < 0.1:
            now = time.time()
            others = [o for o in self._planned if o.campaign == one.campaign and o.due <= now]
            self._planned = [other for other in self._planned if other not in others]
            self._tell_at_once([one, *others])
            return
        content = self.post("tell", one.campaign, one.key, one.body)
        if content is not None and self._chance.random() < 0.1:  # the same request again
            one.due = time.time() + self._chance.uniform(0.0, self.setup.lease_seconds)
            self._planned.append(one)

    def _tell_at_once(self, tells: list[Planned]) -> None:
        """Send many tells as lines of one request; repeat those of unknown outcome one by one."""
        for one in tells:
            self._intend("tell", one.campaign, one.key, one.body)
        lines = "".join(json.dumps(one.body | {"key": one.key}) + "\n" for one in tells)
        answer = self._send(tells[0].campaign, "tells", None, content=lines)
        said = answer.text.splitlines() if answer is not None else []
        if answer is not None and answer.status_code != 200:
            for one in tells:
                self._acknowledged(one.key, answer.status_code, answer.text[:500])
            return
        for one, line in zip_longest(tells, said[: len(tells)]):
            outcome = {"status": UNKNOWN} if line is None else json.loads(line)
            if outcome["status"] == UNKNOWN:
                self.post("tell", one.campaign, one.key, one.body)
            elif outcome["status"] == 200:
                content = {name: outcome[name] for name in ("counted", "late", "duplicate")}
                self._acknowledged(one.key, 200, content)
            else:
                self._acknowledged(one.key, outcome["status"], line)

    def _intend(self, kind: str, campaign: int, key: str, body: dict[str, Any]) -> None:
        self.journal.write({"key": key, "kind": kind, "campaign": campaign, "body": body})

    def _acknowledged(self, key: str, status: int, content: Any) -> None:
        self.journal.write({"key": key, "status": status, "answer": content})

    def _send(
        self, campaign: int, what: str, key: str | None, **content: Any
    ) -> httpx.Response | None:
        """Return the response of either server, or None where the outcome is unknown."""
        port = self._chance.choice(self.setup.ports)
        path = f"/v1/campaigns/{self.setup.campaigns[campaign][0]}/{what}"
        headers = {} if key is None else {"Idempotency-Key": key}
        if "content" in content:
            headers["Content-Type"] = "application/x-ndjson"
        try:
            answer = self._http.post(f"http://127.0.0.1:{port}{path}", headers=headers, **content)
        except httpx.TransportError:
            return None
        return None if answer.status_code == UNKNOWN else answer


def slots_of(lease: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the slots of a lease with the numbers of their arms, from its runs."""
    arms = [int(name.rpartition("-")[2]) for name in lease["arms"]]
    return [
        (slot, arms[slot % len(arms)])
        for first, count in lease["runs"]
        for slot in range(first, first + count)
    ]


def _totals(
    lease: dict[str, Any], answers: list[dict[str, Any]], *, by_score: bool
) -> list[dict[str, Any]]:
    """Return the same answers as an exact sum, or as counts of scores, for each arm."""
    found: dict[int, list[int]] = {}
    for (_, arm), answer in zip(slots_of(lease), answers, strict=True):
        found.setdefault(arm, []).append(round(answer["score"] * UNITS_PER_ONE))
    if by_score:
        return [
            {
                "arm": f"arm-{arm}",
                "scores": [
                    {"score": score / UNITS_PER_ONE, "count": count}
                    for score, count in Counter(units).items()
                ],
            }
            for arm, units in found.items()
        ]
    return [
        {"arm": f"arm-{arm}", "count": len(units), "sum": _decimal(sum(units))}
        for arm, units in found.items()
    ]


def _decimal(units: int) -> str:
    whole, rest = divmod(units, UNITS_PER_ONE)
    return f"{whole}.{rest:09d}"
