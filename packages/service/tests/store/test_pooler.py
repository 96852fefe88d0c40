"""Behind PgBouncer in transaction mode, everything works, and no session without its settings."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from affinity_bandits.base.errors import NotSupported
from affinity_bandits_service.serving import check_schema
from affinity_bandits_service.store.migrate import migrate
from packages.service.tests.store.whole_service import inspect, use_everything
from tests.support.databases import made_database, service_role
from tests.support.poolers import pgbouncer
from tests.support.web_site import Site, on_site, opened

NAME = f"affinity_test_pooler_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
CLIENTS, ASKS = 12, 15


@pytest.fixture(scope="module")
def pooled() -> Iterator[str]:
    with made_database(NAME) as dsn:
        migrate(dsn)
        with service_role(dsn, NAME), pgbouncer(dsn, f"{NAME}_service") as through:
            yield through


@pytest.mark.slow
def test_everything_works_behind_a_pooler(pooled: str, tmp_path: Path) -> None:
    async def work(at: Site) -> None:
        await inspect(at, await use_everything(at), tmp_path)

    on_site(pooled, work, statement_cache=0)


async def play(at: Site) -> list[int]:
    """Ask and tell in many campaigns at once; return the statuses."""
    async with at.client(await at.key(requests_per_second=10_000.0)) as client:

        async def one() -> list[int]:
            campaign = f"/v1/campaigns/{await opened(client)}"
            found = []
            for _ in range(ASKS):
                asked = await client.post(f"{campaign}/ask", json={"count": 1})
                found.append(asked.status_code)
                if asked.status_code == 200:
                    body = asked.json()
                    answer = {"slot": body["runs"][0][0], "score": 1}
                    told = {"lease": body["lease"], "answers": [answer]}
                    found.append((await client.post(f"{campaign}/tell", json=told)).status_code)
            return found

        return [
            status
            for own in await asyncio.gather(*(one() for _ in range(CLIENTS)))
            for status in own
        ]


@pytest.mark.slow
def test_clients_at_once_share_few_sessions(pooled: str) -> None:
    async def work(at: Site) -> None:
        assert await play(at) == [200] * (2 * CLIENTS * ASKS)

    on_site(pooled, work, statement_cache=0, pool_size=8)


def test_without_the_setting_the_mistake_is_named(pooled: str) -> None:
    with pytest.raises(
        NotSupported, match="behind a pooler, start the service with --statement-cache 0"
    ):
        asyncio.run(check_schema(pooled))


@pytest.mark.slow
def test_sessions_without_the_roles_settings_are_refused() -> None:
    with made_database(f"{NAME}_loose") as dsn:
        migrate(dsn)
        user = urlsplit(dsn).username or getpass.getuser()
        with pgbouncer(dsn, user) as through, pytest.raises(NotSupported, match="search_path ="):
            asyncio.run(check_schema(through, 0))
