"""Ways to break one campaign by the service's own fault, each with a way to mend it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from unittest.mock import patch
from uuid import UUID

import httpx

from affinity_bandits.policies import POLICIES, ExploreThenCommit
from affinity_bandits.policies.elimination import PhasedElimination
from tests.support.web_site import Site, opened

BAD = {"name": "explore-then-commit", "pulls_per_arm": 1}
"""The policy of the campaign that is broken; no other campaign has a policy of its family."""
PRIVATE = "Ann Smith was given 0.3"
"""What an error may quote, and neither an answer nor the log may repeat."""

Breaking = Callable[[Site, str], AbstractAsyncContextManager[None]]


def raising(*_: Any) -> Any:
    raise RuntimeError(PRIVATE)


@asynccontextmanager
async def another_version(_: Site, __: str) -> AsyncIterator[None]:
    with patch.object(ExploreThenCommit, "version", 2):
        yield


@asynccontextmanager
async def policy_is_gone(_: Site, __: str) -> AsyncIterator[None]:
    with patch.dict(POLICIES):
        del POLICIES[BAD["name"]]
        yield


@asynccontextmanager
async def absorb_raises(_: Site, __: str) -> AsyncIterator[None]:
    with patch.object(PhasedElimination, "absorb", staticmethod(raising)):
        yield


@asynccontextmanager
async def plan_names_no_arm(_: Site, __: str) -> AsyncIterator[None]:
    honest = PhasedElimination.plan

    def lying(state: Any) -> Any:
        return honest(state)._replace(arms=[7])

    with patch.object(PhasedElimination, "plan", staticmethod(lying)):
        yield


def saved_is(damage: Callable[[dict[str, Any]], Any]) -> Breaking:
    """Return a way to write something else over the saved state."""

    @asynccontextmanager
    async def broken(at: Site, campaign: str) -> AsyncIterator[None]:
        before = await at.pool.fetchval(
            "SELECT saved FROM affinity.campaigns WHERE id = $1", UUID(campaign)
        )
        await _save(at, campaign, damage(json.loads(json.dumps(before))))
        yield
        await _save(at, campaign, json.dumps(before))

    return broken


async def _save(at: Site, campaign: str, text: Any) -> None:
    text = text if isinstance(text, str) else json.dumps(text)
    await at.pool.execute(
        # The pool's codec would read what is written as a value and not as the text of one.
        "UPDATE affinity.campaigns SET saved = $2::text::json WHERE id = $1",
        UUID(campaign),
        text,
    )


@asynccontextmanager
async def sums_of_no_arm(at: Site, campaign: str) -> AsyncIterator[None]:
    where = "affinity.sums (campaign, place, answers, total)"
    await at.pool.execute(f"INSERT INTO {where} VALUES ($1, 99, 1, 1)", UUID(campaign))
    yield
    await at.pool.execute(
        "DELETE FROM affinity.sums WHERE campaign = $1 AND place = 99", UUID(campaign)
    )


def _longer(saved: dict[str, Any]) -> dict[str, Any]:
    saved["state"]["pulls"].append(0)
    return saved


CAUSES: dict[str, tuple[Breaking, str]] = {
    "another version": (another_version, "state"),
    "policy is gone": (policy_is_gone, "policy"),
    "absorb raises": (absorb_raises, "decision"),
    "plan names no arm": (plan_names_no_arm, "decision"),
    "saved is null": (saved_is(lambda _: None), "state"),
    "saved is too deep": (saved_is(lambda _: "[" * 3000 + "]" * 3000), "state"),
    "saved is of another size": (saved_is(_longer), "state"),
    "sums of no arm": (sums_of_no_arm, "record"),
}
"""What breaks a campaign, and what the service is to call it."""


class World:
    """Two campaigns of a tenant, one of which is to be broken."""

    def __init__(self, at: Site, client: httpx.AsyncClient, bad: str, good: str) -> None:
        self.at, self.client, self.bad, self.good = at, client, bad, good
        self.lease: dict[str, Any] = {}

    async def get(self, path: str) -> Any:
        answer = await self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def campaign(self, id_: str) -> Any:
        return await self.get(f"/v1/campaigns/{id_}")

    async def ask(self, id_: str, count: int = 1, key: str | None = None) -> httpx.Response:
        headers = {} if key is None else {"idempotency-key": key}
        path = f"/v1/campaigns/{id_}/ask"
        return await self.client.post(path, json={"count": count}, headers=headers)

    async def lease_all(self) -> None:
        self.lease = (await self.ask(self.bad, 100, "first-ask")).json()

    async def complete(self) -> httpx.Response:
        """Tell the last answers of the broken campaign's round."""
        answers = [{"slot": one["slot"], "score": 0.5} for one in self.lease["slots"]]
        return await self.client.post(
            f"/v1/campaigns/{self.bad}/tell",
            json={"lease": self.lease["lease"], "answers": answers},
            headers={"idempotency-key": "last-tell"},
        )

    async def metric(self, name: str) -> float:
        text = await self.at.metrics()
        found = [line.split()[-1] for line in text.splitlines() if line.startswith(name + " ")]
        return float(found[0]) if found else 0.0


async def world(at: Site, client: httpx.AsyncClient) -> World:
    bad = await opened(client, name="the bad one", policy=BAD)
    good = await opened(client, name="the good one")
    return World(at, client, bad, good)


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    """Return once something is so."""
    async with asyncio.timeout(30):
        while not await done():
            await asyncio.sleep(0.02)
