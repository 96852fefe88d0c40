"""Send notices: one at a time to each webhook, from the oldest, with growing pauses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import asyncpg

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import GONE, connect
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.webhooks.addresses import target_of
from affinity_bandits.service.webhooks.posting import Undelivered, post
from affinity_bandits.wire.signing import SIGNATURE, signature

SENDERS = 4
"""Notices under way at once in a process, each on a database connection of its own: a receiver
that hangs keeps a lock, and must not keep connections from asks and tells."""
EVERY_SECONDS = 1.0
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3600.0
"""Seconds after the first failure of a notice, doubling, up to an hour."""
MOST_TRIES = 12
"""Some two hours and a half, with these pauses between them."""
LONGEST_SECONDS = 86_400.0
"""A notice that old is dead at its next failure: those behind it need not wait as long again."""
DEAD_DAYS = 30
"""For which a dead notice can be seen, and be tried again."""


class Sender:
    """Sends the notices in one database; any number of processes may do so.

    Args:
        dsn: where the database is.
        private: whether notices may go to private addresses, and by plain HTTP.
        tried: called after each try with whether the notice was received.
        counted: called with the number of notices that wait and that are dead, about once a second.
        failed: called with an unexpected error.
        first_pause: seconds after a first failure.
    """

    def __init__(
        self,
        dsn: str,
        *,
        private: bool,
        tried: Callable[[bool], None] = lambda _: None,
        counted: Callable[[int, int], None] = lambda *_: None,
        failed: Callable[[BaseException], None] = lambda _: None,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._dsn = dsn
        self._private = private
        self._tried = tried
        self._counted = counted
        self._failed = failed
        self._first_pause = first_pause

    async def run(self) -> None:
        """Send what is due, until cancelled."""
        pool: asyncpg.Pool | None = None
        said: type[Exception] | None = None
        try:
            while True:
                try:
                    if pool is None:
                        pool = await connect(self._dsn, smallest=0, largest=SENDERS)
                    await self.send_due(pool)
                    said = None
                except (Unavailable, InvalidInput, *GONE):
                    pass  # /readyz says so
                except asyncpg.UndefinedTableError:
                    pass  # not migrated yet
                except Exception as error:  # nothing may end the sending
                    if type(error) is not said:
                        self._failed(error)
                    said = type(error)
                await asyncio.sleep(EVERY_SECONDS)
        finally:
            if pool is not None:
                pool.terminate()  # what is under way is sent again by whoever comes next

    async def send_due(self, pool: asyncpg.Pool) -> None:
        """Send the notices that are due and that no other process is sending."""
        row = await pool.fetchrow(sql.count_notices)
        self._counted(row["waiting"], row["dead"])
        if row["waiting"]:
            await asyncio.gather(*(self._send_all(pool) for _ in range(SENDERS)))
        if row["dead"]:
            await pool.execute(sql.forget_dead, DEAD_DAYS)

    async def _send_all(self, pool: asyncpg.Pool) -> None:
        while await self._send_one(pool):
            pass

    async def _send_one(self, pool: asyncpg.Pool) -> bool:
        """Send the oldest notice of a webhook that is due; return whether there was one.

        The webhook is locked meanwhile. If this process dies, the lock goes with its connection
        and the notice stays: it is sent again, perhaps for the second time.
        """
        async with pool.acquire() as db, db.transaction():
            webhook = await db.fetchrow(sql.next_webhook)
            if webhook is None:
                return False
            notice = await db.fetchrow(sql.next_notice, webhook["id"])
            if notice is None:  # delivered or removed since the webhook was looked for
                return True
            try:
                await self._post(webhook, notice)
            except Undelivered as error:
                self._tried(False)
                await self._put_off(db, webhook, notice, str(error))
            else:
                self._tried(True)
                await db.execute(sql.delivered, notice["number"])
                await db.execute(sql.webhook_works, webhook["id"])
        return True

    async def _post(self, webhook: asyncpg.Record, notice: asyncpg.Record) -> None:
        try:
            target = target_of(webhook["url"], private=self._private)
        except InvalidInput:  # it was made where more was allowed
            raise Undelivered("this server sends nothing to such a URL") from None
        body = notice["body"].encode()
        signed = signature(webhook["secret"].decode(), body, time.time())
        await post(target, body, {SIGNATURE: signed}, private=self._private)

    async def _put_off(
        self, db: asyncpg.Connection, webhook: asyncpg.Record, notice: asyncpg.Record, why: str
    ) -> None:
        tries = notice["tries"] + 1
        dead = tries >= MOST_TRIES or notice["seconds"] > LONGEST_SECONDS
        pause = 0.0 if dead else min(LONGEST_PAUSE, self._first_pause * 2.0 ** (tries - 1))
        await db.execute(sql.not_delivered, notice["number"], tries, dead)
        await db.execute(sql.put_off_webhook, webhook["id"], pause, why)
