"""Photograph the pages of the service: needs PostgreSQL (AFFINITY_DSN) and Chromium.

The words of each page are kept beside its picture; a test compares them with today's page.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import httpx
import numpy as np

from affinity_bandits.base.declaration import EXAMPLES, Declaration
from affinity_bandits.policies import (
    Elimination,
    ExploreThenCommit,
    HeadStartElimination,
    RoundPolicy,
)
from affinity_bandits.policies.elimination import ListedSchedule
from affinity_bandits_client.messages import Lease
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.health_checks import HealthChecks
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.http.app import create_app
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.store.migrate import migrate
from tests.support.in_process import serve_here
from tests.support.page_words import keep_words

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

DECLARED = Declaration.from_json(EXAMPLES)
IMAGES = Path(__file__).parents[2] / "docs" / "images"
SERVER = os.environ.get("AFFINITY_DSN", "postgresql://127.0.0.1:5432/test")
DATABASE = "affinity_pictures"
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 390, "height": 844}


class Traffic:
    """Raters who favor what they have seen most, asked by a platform on a clock of its own."""

    def __init__(self, pool: asyncpg.Pool[Any], tenant: int, actor: str) -> None:
        self._campaigns = Campaigns(pool)
        self._tenant = tenant
        self._actor = actor
        self._random = np.random.default_rng(15)
        self._groups: dict[UUID, tuple[str, ...]] = {}

    async def create(
        self, name: str, groups: Sequence[str], policy: RoundPolicy, horizon: int, at: datetime
    ) -> UUID:
        """Make a campaign."""
        made = CampaignSpec(
            name,
            tuple(groups),
            policy,
            horizon,
            lease_seconds=3 * 86_400.0,
            declaration=DECLARED,
        )
        id_ = await self._campaigns.create(
            self._tenant, made, key=f"make-{at.timestamp()}", actor=self._actor, now=at
        )
        self._groups[id_] = made.arms
        return id_

    async def run(
        self, campaign: UUID, values: Sequence[float], answers: int, at: datetime, *, owed: int = 0
    ) -> None:
        """Answer so many slots, then take some more without answering them yet."""
        seen = np.ones(len(values))
        done = 0
        while done < answers:
            lease = await self._ask(campaign, min(48, answers - done), at)
            if lease is None:
                return
            at += timedelta(hours=17, minutes=23)
            slots, units = [], []
            for slot, name in lease.slots:
                arm = self._groups[campaign].index(name)
                weight = 0.6 + 0.4 * np.sqrt(len(values) * seen[arm] / seen.sum())
                slots.append(slot)
                units.append(10**9 * int(self._random.random() < values[arm] * weight))
                seen[arm] += 1
            tell = SlotTell(
                lease.number, f"t{lease.number}", self._actor, tuple(slots), tuple(units)
            )
            await self._campaigns.tell(self._tenant, campaign, [tell], now=at)
            done += len(slots)
        if owed:
            await self._ask(campaign, owed, at)

    async def _ask(self, campaign: UUID, count: int, at: datetime) -> Lease | None:
        ask = SlotAsk(count, f"a{at.timestamp()}", self._actor)
        (lease,) = await self._campaigns.ask(self._tenant, campaign, [ask], now=at)
        return lease if isinstance(lease, Lease) else None


async def planted(pool: asyncpg.Pool[Any]) -> tuple[str, UUID]:
    """Make a campaign in which answers are missing for one group; return a key and its id."""
    tenant = await keys.create_tenant(pool, "Example support desk")
    key = await keys.make_key(pool, tenant, "pictures", ["read"])
    campaigns, random = Campaigns(pool), np.random.default_rng(16)
    groups = ("Day shift", "Night shift", "Weekend shift")
    at = datetime(2026, 10, 5, 8, 0, tzinfo=UTC)
    made = CampaignSpec(
        "Support panels",
        groups,
        ExploreThenCommit(400),
        5000,
        3600.0,
        1.0,
        5.0,
        declaration=DECLARED,
    )
    id_ = await campaigns.create(tenant, made, key="make", actor="pictures", now=at)
    for turn in range(300):
        ask = SlotAsk(3, f"a{turn}", "pictures")
        (lease,) = await campaigns.ask(tenant, id_, [ask], now=at)
        assert isinstance(lease, Lease)
        at += timedelta(minutes=20)
        missing = dict(zip(groups, (0.05, 0.3, 0.05), strict=True))
        kept = [slot for slot, arm in lease.slots if random.random() > missing[arm]]
        units = tuple(10**9 * int(random.integers(1, 6)) for _ in kept)
        if kept:
            tell = SlotTell(lease.number, f"t{turn}", "pictures", tuple(kept), units)
            await campaigns.tell(tenant, id_, [tell], now=at)
    await HealthChecks(pool).check(id_, now=at)
    return key, id_


async def seed(dsn: str) -> tuple[str, dict[str, UUID], tuple[str, UUID]]:
    """Make campaigns that stand where campaigns can stand, and one with a fault.

    Return a key and the ids of the first, and a key and the id of the last.
    """
    pool = await connect(dsn)
    try:
        tenant = await keys.create_tenant(pool, "Example marketplace")
        key = await keys.make_key(pool, tenant, "pictures", ["read"])
        traffic = Traffic(pool, tenant, key.split("_")[1])
        begin = datetime(2026, 10, 5, 8, 0, tzinfo=UTC)
        rounds = [(16, 1.0), (32, 0.5), (64, 0.25), (128, 0.125), (256, 0.0625), (512, 0.03125)]
        policy = HeadStartElimination(initial_lead=20, bounded=True, failure=0.05)
        ids = {}
        groups = (
            *("Referrals", "Job board", "Open-source contributors"),
            *("Bootcamp graduates", "Agency shortlist"),
        )
        ids["open"] = await traffic.create(
            "Sourcing backend engineers", groups, policy, 3_000, begin
        )
        await traffic.run(
            ids["open"], [0.62, 0.35, 0.76, 0.64, 0.45], 1500, begin + timedelta(hours=2), owed=40
        )
        ids["decided"] = await traffic.create(
            "Take-home test vendors",
            ("Vendor North", "Vendor South", "In-house test"),
            Elimination(ListedSchedule(rounds)),
            20_000,
            begin + timedelta(days=3),
        )
        await traffic.run(
            ids["decided"], [0.5, 0.42, 0.72], 1500, begin + timedelta(days=3, hours=1), owed=8
        )
        ids["exhausted"] = await traffic.create(
            "Interview formats, data team",
            ("Pair programming", "System design talk"),
            Elimination(ListedSchedule(rounds)),
            700,
            begin + timedelta(days=9),
        )
        await traffic.run(ids["exhausted"], [0.6, 0.59], 5000, begin + timedelta(days=9, hours=1))
        ids["new"] = await traffic.create(
            "Rating panels, spring intake",
            ("Panel Berlin", "Panel Lagos", "Panel Lima", "Panel Osaka"),
            HeadStartElimination(initial_lead=40, bounded=True),
            30_000,
            begin + timedelta(days=38),
        )
        # Their clock stands in the past, where nothing is late.
        fault = await planted(pool)
        await pool.execute("UPDATE affinity.health SET due_at = NULL")
        return key, ids, fault
    finally:
        await pool.close()


@contextmanager
def database() -> Iterator[str]:
    """Make a database for the pictures, and drop it."""

    async def on_server(statement: str) -> None:
        connection = await asyncpg.connect(SERVER)
        await connection.execute(statement)
        await connection.close()

    asyncio.run(on_server(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)"))
    asyncio.run(on_server(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8'"))
    dsn = urlsplit(SERVER)._replace(path=f"/{DATABASE}").geturl()
    migrate(dsn)
    try:
        yield dsn
    finally:
        asyncio.run(on_server(f"DROP DATABASE {DATABASE} WITH (FORCE)"))


def pages(key: str, ids: dict[str, UUID], fault: tuple[str, UUID]) -> dict[str, tuple[str, str]]:
    """Return the key and the address of each page."""
    found = {name: (key, f"/ui/campaigns/{id_}") for name, id_ in ids.items()}
    return found | {"list": (key, "/ui"), "health": (fault[0], f"/ui/campaigns/{fault[1]}")}


def read(address: str, key: str, path: str) -> str:
    """Return the HTML of a page for who logs in with the key."""
    with httpx.Client(base_url=address) as client:
        # Unlike browsers, it sends no `Secure` cookie by plain HTTP to its own machine.
        cookies = client.post("/ui/login", data={"key": key}).headers["set-cookie"]
        found = client.get(path, headers={"Cookie": cookies.partition(";")[0]})
        assert found.status_code == 200
        return found.text


def photograph(address: str, key: str, ids: dict[str, UUID], fault: tuple[str, UUID]) -> None:
    """Take every picture."""
    from playwright.sync_api import sync_playwright  # the test of the words takes none

    shown = pages(key, ids, fault)
    shots = [("list", WIDE), ("open", WIDE), ("open", NARROW), ("health", WIDE)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, size in shots:
            context = browser.new_context(viewport=size)
            page = context.new_page()
            page.goto(address + "/ui/login")
            page.fill("#key", shown[name][0])
            page.click("button[type=submit]")
            page.wait_for_url(address + "/ui")
            page.goto(address + shown[name][1])
            words = ["service", name, *(["narrow"] if size is NARROW else [])]
            picture = IMAGES / f"{'-'.join(words)}.png"
            whole = name != "health"  # its findings are at the top
            page.screenshot(path=picture, full_page=whole)
            keep_words(picture, read(address, *shown[name]))
            context.close()
        browser.close()


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    with database() as dsn:
        made = asyncio.run(seed(dsn))
        with serve_here(create_app(dsn)) as address:
            photograph(address, *made)
