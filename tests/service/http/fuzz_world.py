"""Campaigns in every state that there is, and generated requests turned to them."""

from __future__ import annotations

import copy
import json
import random
import re
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import schemathesis

from affinity_bandits.service.core.campaign_spec import SERVED
from affinity_bandits.service.http.parameters import to_cursor
from affinity_bandits.wire import limits
from tests.support.web_site import CAMPAIGN, Site, new_names

ASK, TELL, TELLS, CREATE = (
    f"POST /v1/campaigns{rest}"
    for rest in ("/{campaign}/ask", "/{campaign}/tell", "/{campaign}/tells", "")
)
WEBHOOK = "POST /v1/webhooks"
KEY_ID = re.compile(limits.KEY_ID)
UUID_SHAPE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
KEY_SHAPE = re.compile(r"[!-~]{1,200}")
SPARE_KEYS = 20
JUDGES = "POST /v1/campaigns/{campaign}/judges"
PANEL = {"name": "handicap-elimination", "bounded": True, "judges": "panel"}
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("open", {"arms": ["a", "b", "c"], "policy": {"name": "uniform"}, "horizon": 10**9}),
    ("open", {"arms": [f"group {i}" for i in range(50)], "horizon": 10**6}),
    ("open", {"lease_seconds": 0.001}),
    ("decided", {"horizon": 10_000}),
    ("exhausted", {"horizon": 2}),
    ("stopped", {}),
    ("open", {"policy": PANEL, "horizon": 10**6}),
]


@dataclass
class Target:
    """A campaign, and leases of it with their slots."""

    id: UUID
    arms: list[str]
    leases: list[tuple[int, list[int]]] = field(default_factory=list)

    def learn(self, answer: dict[str, Any]) -> None:
        """Remember the lease that an ask was answered with."""
        if answer["status"] == "leased":
            slots = [s for first, count in answer["runs"] for s in range(first, first + count)]
            self.leases.append((answer["lease"], slots))


@dataclass
class World:
    """A tenant with campaigns, a key that may do everything, and headers that may not.

    Attributes:
        key: that may do everything.
        bad_keys: headers.
        targets: campaigns.
        keys: ids of API keys, to be revoked.
        webhooks: ids of webhooks, to be removed; the first one stays.
    """

    key: str
    bad_keys: list[str]
    targets: list[Target]
    keys: list[str]
    webhooks: list[str]


class Turning:
    """Turns generated requests to campaigns and leases that there are.

    Only where a request did not mean to be wrong: what is of a wrong type or shape stays as it is.

    Args:
        world: what there is.
        random_: decides which requests, and to what.
    """

    def __init__(self, world: World, random_: random.Random) -> None:
        self._world = world
        self._random = random_
        self._told: list[str] = []  # bodies of tells, to make lines of

    def turn(self, case: schemathesis.Case, label: str, number: int) -> Target | None:
        """Change a request, unlike any other of another number; return the campaign it is for."""
        chance = self._random.random
        target = None
        id_ = (case.path_parameters or {}).get("campaign")
        if isinstance(id_, str) and UUID_SHAPE.fullmatch(id_) and chance() < 0.95:
            # The last is not stopped, or nobody could name its judges.
            targets = self._world.targets[: -1 if label.endswith("/stop") else None]
            target = self._random.choice(targets)
            case.path_parameters = {"campaign": str(target.id)}
        self._turn_id(case, "key", KEY_ID, self._world.keys, "/revoke", label)
        self._turn_id(case, "webhook", UUID_SHAPE, self._world.webhooks, "/remove", label)
        url = case.body.get("url") if label == WEBHOOK and isinstance(case.body, dict) else None
        if isinstance(url, str) and url and chance() < 0.8:
            # The schema cannot say where notices may be sent.
            case.body = {**case.body, "url": f"https://example.org/{number}"}
        key = case.headers.get("Idempotency-Key")
        if isinstance(key, str) and KEY_SHAPE.fullmatch(key) and chance() < 0.8:
            # Short keys come again and again: most of them are made different.
            case.headers["Idempotency-Key"] = f"{key[:150]}-{number}"
        cursor = (case.query or {}).get("cursor")
        if isinstance(cursor, str) and chance() < 0.7:
            case.query = {**case.query, "cursor": to_cursor(self._random.choice((0, 1, 5, 2**62)))}
        if label == TELL:
            if target is not None and isinstance(case.body, dict) and chance() < 0.8:
                case.body = self._real_tell(case.body, target)
            self._told.append(json.dumps(case.body, default=str))
        if label == TELLS:
            lines = [self._line(target) for _ in range(self._random.randrange(6))]
            case.body = "\n".join([*lines, json.dumps(case.body, default=str)])
        named = label == JUDGES and target is not None and isinstance(case.body, dict)
        if named and chance() < 0.6:
            # The only one whose judges are asked for; its first round is open.
            target = self._world.targets[-1]
            case.path_parameters = {"campaign": str(target.id)}
            case.body = self._real_judges(case.body, target)
        if label == CREATE and isinstance(case.body, dict) and chance() < 0.6:
            case.body = self._real_campaign(case.body)
        return target

    def _turn_id(
        self,
        case: schemathesis.Case,
        name: str,
        shape: re.Pattern[str],
        there: list[str],
        ends: str,
        label: str,
    ) -> None:
        """Put an id that there is into the path; what ends it takes any but the first, once."""
        id_ = (case.path_parameters or {}).get(name)
        if not isinstance(id_, str) or not shape.fullmatch(id_) or self._random.random() < 0.2:
            return
        if not label.endswith(ends):
            case.path_parameters = {name: there[0]}
        elif len(there) > 1:
            case.path_parameters = {name: there.pop()}

    def _line(self, target: Target | None) -> str:
        line = self._random.choice(self._told or ["{}"])
        body = json.loads(line)
        if target is None or not isinstance(body, dict) or self._random.random() < 0.2:
            return line
        return json.dumps(self._real_tell(body, target))

    def _real_tell(self, body: dict[str, Any], target: Target) -> dict[str, Any]:
        """Return a tell of a lease that there is."""
        body = copy.deepcopy(body)
        if isinstance(body.get("answers"), list) and isinstance(body.get("totals"), list):
            del body[self._random.choice(("answers", "totals"))]
        number, slots = self._random.choice(target.leases)
        if _is_number(body.get("lease")):
            body["lease"] = number
        for place, one in enumerate(_dicts(body, "answers", len(slots))):
            if _is_number(one.get("slot")):
                one["slot"] = slots[place]
            if _is_number(one.get("score")) and abs(one["score"]) <= 1e5:
                one["score"] = abs(one["score"]) / 1e5
            if isinstance(one.get("rater"), str):
                one["rater"] = f"r{place}"  # the schema cannot say what a pseudonym is
            if isinstance(one.get("rater_group"), str):
                one["rater_group"] = self._random.choice(target.arms)
        for place, one in enumerate(_dicts(body, "totals", len(target.arms))):
            if isinstance(one.get("arm"), str):
                one["arm"] = target.arms[place]
            if isinstance(one.get("scores"), list):  # the schema cannot say that there is one form
                one.pop("count", None)
                one.pop("sum", None)
                for each in _dicts(one, "scores", 1):
                    if _is_number(each.get("count")):
                        each["count"] = 1
                    if _is_number(each.get("score")) and abs(each["score"]) <= 1e5:
                        each["score"] = abs(each["score"]) / 1e5
            if _is_number(one.get("count")):
                one["count"] = int(place < len(slots))
            if _is_number(one.get("sum")) or isinstance(one.get("sum"), str):
                one["sum"] = self._random.choice((0.0, "0.5", 1))
        return body

    def _real_judges(self, body: dict[str, Any], target: Target) -> dict[str, Any]:
        """Return judges of groups that there are, named ahead for the second round."""
        body = copy.deepcopy(body)
        if isinstance(body.get("judges"), dict):
            heads = [one for one in body["judges"].values() if _is_number(one)]
            body["judges"] = dict(zip(target.arms, heads, strict=False))
        if _is_number(body.get("round", 1)):
            body["round"] = 1
        return body

    def _real_campaign(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a campaign with names that can be used and a policy without settings."""
        body = copy.deepcopy(body)
        if isinstance(body.get("name"), str) and body["name"]:
            body["name"] = repr(body["name"])[:200]
        if isinstance(body.get("policy"), dict) and isinstance(body["policy"].get("name"), str):
            body["policy"] = {"name": self._random.choice(sorted(SERVED))}
            body.pop("plan", None)  # the schema cannot say that there is one of the two
            body.setdefault("horizon", 10_000)
        elif isinstance(body.get("plan"), dict) and isinstance(body.get("arms"), list):
            policy = {"name": "elimination"}
            body["plan"] = {"groups": len(body["arms"]), "policy": policy, "horizon": 5000}
            if _is_number(body.get("horizon")):
                del body["horizon"]
        if isinstance(body.get("tellers"), list):  # keys that nobody has
            body["tellers"] = "any"
        arms = body.get("arms")
        if isinstance(arms, list) and all(isinstance(one, str) and one for one in arms):
            body["arms"] = [f"{place} {one!r}"[:200] for place, one in enumerate(arms)]
        for name, value in (("lowest", 0.0), ("highest", 1.0), ("horizon", 10_000)):
            if _is_number(body.get(name)):
                body[name] = value
        return body


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _dicts(body: dict[str, Any], name: str, most: int) -> list[dict[str, Any]]:
    """Return the objects of a list; what comes after as many as there can be is left out."""
    if not isinstance(body.get(name), list):
        return []
    body[name] = body[name][:most]
    return [one for one in body[name] if isinstance(one, dict)]


async def made_world(at: Site) -> World:
    """Return a new tenant's campaigns, one of each kind."""
    tenant = next(new_names)
    key = await at.key(tenant, requests_per_second=1e6)
    weak = await at.key(tenant, ["ask"], requests_per_second=1e6)
    slow = await at.key(tenant, requests_per_second=0.001)
    world = World(
        key,
        ["", "Bearer", f"Basic {key}", f"Bearer {key[:-1]}", f"Bearer {weak}", f"Bearer {slow}"],
        [],
        [(await at.key(tenant)).split("_")[1] for _ in range(SPARE_KEYS)],
        [],
    )
    async with at.client(key) as client:
        webhook = {"url": "https://example.org/first", "kinds": ["decided"]}
        world.webhooks.append((await client.post("/v1/webhooks", json=webhook)).json()["id"])
        for status, changes in KINDS:
            world.targets.append(await _made(client, status, changes))
    return world


async def _made(client: httpx.AsyncClient, status: str, changes: dict[str, Any]) -> Target:
    made = (await client.post("/v1/campaigns", json=CAMPAIGN | changes)).json()
    target = Target(UUID(made["id"]), [one["name"] for one in made["arms"]])
    path = f"/v1/campaigns/{target.id}"

    async def ask(count: int) -> dict[str, Any]:
        answer: dict[str, Any] = (await client.post(f"{path}/ask", json={"count": count})).json()
        target.learn(answer)
        return answer

    if made["awaits_judges"]:
        await client.post(f"{path}/judges", json={"judges": dict.fromkeys(target.arms, 1)})
    lease = await ask(2)
    if status == "stopped":
        await client.post(f"{path}/stop")
    while status in {"decided", "exhausted"} and lease["status"] == "leased":
        # The first arm is as good as can be and the others as bad, so this ends soon.
        answers = [
            {"slot": one["slot"], "score": float(one["arm"] == target.arms[0])}
            for one in lease["slots"]
        ]
        await client.post(f"{path}/tell", json={"lease": lease["lease"], "answers": answers})
        lease = await ask(10_000)
        if (await client.get(path)).json()["status"] == "decided":
            break
    found = (await client.get(path)).json()["status"]
    assert found == status, (found, changes)
    return target
