"""A service with campaigns in it, a browser that is watched, and what is asked of every page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from unittest.mock import AsyncMock, patch
from uuid import UUID

import asyncpg
from playwright.sync_api import Browser, Page

from affinity_bandits.policies import Elimination, PanelElimination
from affinity_bandits.policies.elimination import ListedSchedule
from affinity_bandits_client.messages import Lease
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.health_checks import HealthChecks
from affinity_bandits_service.core.judging import JudgeCounts, Naming
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.http.app import create_app
from affinity_bandits_service.store.connection import connect
from tests.support import browsers
from tests.support.declared import DECLARED
from tests.support.in_process import serve_here

Result = TypeVar("Result")
POLICY = Elimination(ListedSchedule([(16, 0.5), (32, 0.25), (64, 0.125)]))
VALUES = (0.9, 0.85, 0.6, 0.1)

HOSTILE = (
    "<script>document.title='taken'</script>",
    "\"'><img src=x onerror=\"document.title='taken'\">",
    "W" * 200,
    "שלום עולם, קבוצה (א)",
    "</title></table></svg>&amp;{{ 7 * 7 }}",
)

STRUCTURE = """() => {
  const wrong = [];
  const all = selector => [...document.querySelectorAll(selector)];
  const ids = all("[id]").map(e => e.id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length) wrong.push("ids twice: " + twice);
  for (const table of all("table")) {
    if (!table.caption || !table.caption.textContent.trim()) wrong.push("table without caption");
    if (!table.querySelector("tbody th[scope=row]")) wrong.push("rows without header");
  }
  for (const svg of all("main svg")) {
    if (svg.parentElement.closest("svg")) continue;
    if (!svg.getAttribute("aria-label") && !svg.closest("[aria-hidden=true]"))
      wrong.push("picture without words");
  }
  for (const image of all("img")) if (!image.hasAttribute("alt")) wrong.push("img without alt");
  let level = 0;
  for (const heading of all("h1,h2,h3,h4")) {
    const now = Number(heading.tagName[1]);
    if (now > level + 1) wrong.push("heading skips a level: " + heading.textContent);
    level = now;
  }
  if (all("h1").length !== 1) wrong.push("not one h1");
  for (const part of all("[aria-labelledby],[aria-describedby]"))
    for (const name of ["aria-labelledby", "aria-describedby"])
      if (part.hasAttribute(name) && !document.getElementById(part.getAttribute(name)))
        wrong.push("words not there: " + part.getAttribute(name));
  if (all("script,[style],[onerror],[onclick]").length) wrong.push("script or inline style");
  return wrong;
}"""


def in_a_thread(make: Callable[[], Awaitable[Result]]) -> Result:
    """Run a coroutine where playwright's own event loop is not in the way."""

    async def run() -> Result:
        return await make()

    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, run()).result()


@dataclass
class Site:
    """A running service and what is done behind its back."""

    address: str
    dsn: str

    def do(self, work: Callable[[asyncpg.Pool[Any]], Awaitable[Result]]) -> Result:
        async def with_pool() -> Result:
            pool = await connect(self.dsn)
            try:
                return await work(pool)
            finally:
                await pool.close()

        return in_a_thread(with_pool)

    def key(self, tenant: str, *scopes: str, expires_at: datetime | None = None) -> str:
        async def make(pool: asyncpg.Pool[Any]) -> str:
            id_ = await keys.create_tenant(pool, tenant)
            return await keys.make_key(
                pool, id_, "test", scopes or ("read",), expires_at=expires_at
            )

        return self.do(make)

    def campaign(
        self,
        tenant: str,
        name: str,
        arms: tuple[str, ...],
        answers: int,
        *,
        horizon: int = 5000,
        values: tuple[float, ...] = VALUES,
    ) -> UUID:
        """A campaign with so many answers, on a clock that stands still."""
        now = datetime(2026, 11, 10, 9, 0, tzinfo=UTC)

        async def make(pool: asyncpg.Pool[Any]) -> UUID:
            owner, core = await keys.create_tenant(pool, tenant), Campaigns(pool)
            about = CampaignSpec(name, arms, POLICY, horizon, declaration=DECLARED)
            id_ = await core.create(owner, about, key=name[:9].encode().hex(), actor="k", now=now)
            done = 0
            while done < answers:
                ask = SlotAsk(min(50, answers - done), f"a{done}", "k")
                (lease,) = await core.ask(owner, id_, [ask], now=now)
                assert isinstance(lease, Lease)
                slots = lease.slots
                units = tuple(
                    round(1e9 * values[arms.index(arm) % len(values)]) for _, arm in slots
                )
                tell = SlotTell(lease.number, f"t{done}", "k", tuple(s for s, _ in slots), units)
                await core.tell(owner, id_, [tell], now=now)
                done += len(slots)
            await core.ask(owner, id_, [SlotAsk(3, "owed", "k")], now=now)
            return id_

        return self.do(make)

    def judged(
        self, tenant: str, name: str, arms: tuple[str, ...], panel: tuple[int, ...] | None
    ) -> UUID:
        """A campaign that is judged by a panel, or waits for one."""
        now = datetime(2026, 11, 10, 9, 0, tzinfo=UTC)
        policy = PanelElimination(bounded=True)

        async def make(pool: asyncpg.Pool[Any]) -> UUID:
            owner, core = await keys.create_tenant(pool, tenant), Campaigns(pool)
            about = CampaignSpec(
                name, arms, policy, 5000, committee=(3,) * len(arms), declaration=DECLARED
            )
            key = f"{name[:9].encode().hex()}-judged"
            id_ = await core.create(owner, about, key=key, actor="k", now=now)
            if panel is not None:
                naming = Naming(JudgeCounts(panel, 2, standing=True), None, "panel", "k")
                await core.name_judges(owner, id_, naming, now=now)
            return id_

        return self.do(make)


@contextmanager
def serving(dsn: str) -> Iterator[str]:
    """Serve from a thread of this process; give the address."""
    # Keys are not remembered, so that what is revoked is so at once.
    app = create_app(dsn, key_cache_ttl=0.0)
    # Campaigns stand at a moment in the past, where nothing is late: tests say what is looked at.
    unlooked = patch.object(HealthChecks, "check_due", AsyncMock(return_value=0))
    with unlooked, serve_here(app) as address:
        yield address


@contextmanager
def watched(browser: Browser, site: Site, **settings: Any) -> Iterator[Page]:
    with browsers.watched(browser, site.address + "/ui", **settings) as page:
        yield page


def log_in(page: Page, site: Site, key: str) -> None:
    page.goto(f"{site.address}/ui/login")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{site.address}/ui")
