"""Long reads hold no snapshot for long, and so do not keep others from reusing the room of rows."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import asyncpg
import pytest

from affinity_bandits.base.tables import TableFile, TableWriter
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_service.problems import Unavailable
from affinity_bandits_service.trail import chain
from affinity_bandits_service.trail.archive import archive
from affinity_bandits_service.trail.export import export
from affinity_bandits_service.trail.replay import Replay
from affinity_bandits_service.trail.verify import verify
from tests.support.one_campaign import OneCampaign

ASKS, PAUSE = 60, 0.02
LONGEST = (
    "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8"
    " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


class Watch(threading.Thread):
    """Notes the age of the oldest transaction in a database, all the time."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self.dsn = dsn
        self.longest = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        asyncio.run(self._watch())

    async def _watch(self) -> None:
        db = await asyncpg.connect(self.dsn)
        while not self.over.is_set():
            self.longest = max(self.longest, await db.fetchval(LONGEST))
            await asyncio.sleep(0.02)
        await db.close()


async def longest_transaction(dsn: str, work: Callable[[], Awaitable[Any]]) -> float:
    """Run work in which every event takes its time; return the age of the oldest transaction."""

    def slowly(method: Any) -> Any:
        def slow(*given: Any) -> Any:
            time.sleep(PAUSE)
            return method(*given)

        return slow

    watch = Watch(dsn)
    watch.start()
    with (
        patch.object(Replay, "take", slowly(Replay.take)),
        patch.object(TableWriter, "add", slowly(TableWriter.add)),
    ):
        await work()
    watch.over.set()
    watch.join()
    return watch.longest


class OneTransaction:
    """A pool that is one connection in one transaction: the control."""

    def __init__(self, db: asyncpg.Connection[Any]) -> None:
        self.fetch, self.fetchrow, self._db = db.fetch, db.fetchrow, db

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[asyncpg.Connection[Any]]:
        yield self._db


@pytest.mark.slow
@pytest.mark.as_owner
async def test_reading_a_trail_takes_many_short_transactions(
    dsn: str, one: OneCampaign, tmp_path: Path
) -> None:
    one.id = await one.create(ExploreThenCommit(ASKS), 10_000)
    for _ in range(ASKS):
        lease = await one.ask(1)
        await one.tell(lease, dict(lease.slots))
    work = ASKS * PAUSE  # at least, of which a page has a sixth or less

    async def write() -> None:
        await export(one.pool, one.id, TableFile("out", tmp_path / "t.csv"))

    async def move() -> None:
        await one.campaigns.stop(one.tenant, one.id, actor="t", key="s", now=one.now)
        await archive(one.pool, one.id, tmp_path, by="me", now=one.now)

    async def in_one() -> None:
        async with one.pool.acquire() as db, db.transaction(isolation="repeatable_read"):
            await verify(OneTransaction(db), one.id)  # type: ignore[arg-type]

    assert await longest_transaction(dsn, in_one) > work
    for each in (lambda: verify(one.pool, one.id), write, move):
        assert await longest_transaction(dsn, each) < work / 2


async def test_a_page_that_fails_is_read_again(
    one: OneCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(chain, "PAGE", 2)
    one.id = await one.create(ExploreThenCommit(5), 100)
    for _ in range(5):
        await one.ask(1)
    honest, calls = type(one.pool).fetch, 0

    async def failing(self: Any, query: str, *given: Any) -> Any:
        nonlocal calls
        calls += "affinity.page" in query
        if "affinity.page" in query and calls % 2:
            raise asyncpg.ConnectionDoesNotExistError("gone")
        return await honest(self, query, *given)

    with patch.object(type(one.pool), "fetch", failing):
        assert (await verify(one.pool, one.id)).events == 6
        monkeypatch.setattr(chain, "TRIES", 1)
        with pytest.raises(Unavailable):
            await verify(one.pool, one.id)
