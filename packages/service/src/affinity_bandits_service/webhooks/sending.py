"""Notices of webhooks: written in the transaction that they report, signed, and sent."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from affinity_bandits._version import __version__
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_client.messages.admin import SIGNATURE, signature
from affinity_bandits_service.databases import MAIN
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.store.connection import STATEMENT_CACHE, connect, repeat, sql
from affinity_bandits_service.webhooks.resolving import NameNotFound
from affinity_bandits_service.webhooks.subscriptions import (
    AddressRefused,
    Endpoint,
    addresses_of,
    target_of,
)

SECONDS = 10.0
"""How long a receiver may take, from its name to its status."""
LONGEST_LINE = 8192
MOST_LINES = 100
"""Of the heads of informational replies that may come before the final one."""


class Undelivered(Exception):  # noqa: N818 - reads as the fact it states
    """A notice was refused or lost; says why in fixed words, free of the reply's text."""


async def post(target: Endpoint, body: bytes, headers: Mapping[str, str], *, private: bool) -> None:
    """Send a notice.

    Raises:
        Undelivered: a status from 200 to 299 did not come back in time.
    """
    try:
        async with asyncio.timeout(SECONDS):
            status = await _exchange(target, body, headers, private)
    except TimeoutError:
        raise Undelivered(f"no reply within {SECONDS:g} seconds") from None
    except AddressRefused:
        raise Undelivered("the host's address is not of the public internet") from None
    except NameNotFound:
        raise Undelivered("the host's name could not be looked up") from None
    except ssl.SSLError:
        raise Undelivered("no connection by TLS could be made") from None
    except OSError:
        raise Undelivered("no connection could be made") from None
    except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise Undelivered("the reply was no HTTP") from None
    if 300 <= status < 400:
        raise Undelivered(f"status {status}: redirects are not followed")
    if not 200 <= status < 300:
        raise Undelivered(f"status {status}")


async def _exchange(
    target: Endpoint, body: bytes, headers: Mapping[str, str], private: bool
) -> int:
    failure: OSError = ConnectionError()
    for address in await addresses_of(target, private=private):
        try:
            reader, writer = await asyncio.open_connection(
                address,
                target.port,
                ssl=_context() if target.tls else None,
                server_hostname=target.host if target.tls else None,
                limit=LONGEST_LINE,
            )
        except ssl.SSLError:
            raise
        except OSError as error:
            failure = error
            continue
        try:
            writer.write(_head(target, len(body), headers) + body)
            await writer.drain()
            return await _status(reader)
        finally:
            writer.transport.abort()  # what else it says is of no interest
            with suppress(OSError):
                await writer.wait_closed()
    raise failure


def _head(target: Endpoint, length: int, headers: Mapping[str, str]) -> bytes:
    lines = {
        "Host": target.authority,
        "User-Agent": f"affinity-bandits/{__version__}",
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Connection": "close",
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {target.path} HTTP/1.1\r\n{head}\r\n".encode("ascii")


async def _status(reader: asyncio.StreamReader) -> int:
    """Return the status of the final reply, after interim ones."""
    informed = False
    for _ in range(MOST_LINES):
        line = await reader.readuntil(b"\n")
        if informed:
            informed = line.strip() != b""
            continue
        version, status = line.split(maxsplit=2)[:2]
        if not version.startswith(b"HTTP/1.") or len(status) != 3:
            raise ValueError
        if not status.startswith(b"1"):
            return int(status)
        informed = True
    raise ValueError


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


SENDERS = 4
"""Notices under way at once in a process, each on a database connection of its own: a receiver
that hangs keeps a lock, and must not keep connections from asks and tells."""
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
        metrics: counts tries, notices and unexpected errors.
        first_pause: seconds after a first failure.
        statement_cache: see `connection.connect`.
        database: the name of the database, for metrics.
    """

    def __init__(
        self,
        dsn: str,
        *,
        private: bool,
        metrics: Metrics | None = None,
        first_pause: float = FIRST_PAUSE,
        statement_cache: int = STATEMENT_CACHE,
        database: str = MAIN,
    ) -> None:
        self._dsn = dsn
        self._database = database
        self._statement_cache = statement_cache
        self._private = private
        self._metrics = metrics or Metrics()
        self._first_pause = first_pause

    async def run(self) -> None:
        """Send due notices, until cancelled."""
        pool: asyncpg.Pool | None = None

        async def send() -> None:
            nonlocal pool
            if pool is None:
                with suppress(InvalidInput):  # a DSN that the backend reports
                    cache = self._statement_cache
                    pool = await connect(
                        self._dsn, smallest=0, largest=SENDERS, statement_cache=cache
                    )
            if pool is not None:
                await self.send_due(pool)

        try:
            await repeat(send, self._metrics)
        finally:
            if pool is not None:
                pool.terminate()  # what is under way is sent again by whoever comes next

    async def send_due(self, pool: asyncpg.Pool) -> None:
        """Send the due notices, except those that other processes are sending."""
        row = await pool.fetchrow(sql.count_notices)
        for state, number in row.items():
            self._metrics.notices.labels(self._database, state).set(number)
        if row["waiting"]:
            await asyncio.gather(*(self._send_all(pool) for _ in range(SENDERS)))
        if row["dead"]:
            await pool.execute(sql.forget_dead, DEAD_DAYS)

    async def _send_all(self, pool: asyncpg.Pool) -> None:
        while await self._send_one(pool):
            pass

    async def _send_one(self, pool: asyncpg.Pool) -> bool:
        """Send the oldest notice of a webhook that is due; return whether there was one.

        The webhook is locked meanwhile. If this process dies, the notice is sent again, perhaps for
        the second time.
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
                self._metrics.notice_tries.labels("undelivered").inc()
                await self._put_off(db, webhook, notice, str(error))
            else:
                self._metrics.notice_tries.labels("received").inc()
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


KINDS = ("dropped", "decided", "exhausted", "attention", "standstill")
"""What a webhook can be told of: a group was dropped; one is left; the horizon is used up; the
campaign cannot go on by the service's fault; its answers have stopped."""
REPEATED = ("attention", "standstill")
"""Kinds that may come and go: one that is not delivered yet stands for those after it."""
MOST_OWED = 10_000
"""Notices, dead ones included, that are kept for one webhook: a receiver that is gone for good must
not fill the database. Those beyond are left out."""

Details = Callable[[list[str]], dict[str, Any]]


async def report(
    db: asyncpg.Connection, campaign: UUID, kind: str, details: Details = lambda _: {}
) -> None:
    """Write a notice for each webhook of the campaign's tenant that wants this kind.

    Must be called in the transaction of the reported change, under the lock of the campaign's head,
    so that notices are numbered in order.
    """
    for row in await db.fetch(sql.webhooks_for, campaign, kind, kind in REPEATED, MOST_OWED):
        body = {
            "notice": str(uuid4()),
            "kind": kind,
            "at": row["now"].isoformat(),
            "campaign": str(campaign),
            "name": row["name"],
            "status": row["status"],
            **details(row["arms"]),
        }
        await db.execute(sql.add_notice, row["id"], campaign, kind, json.dumps(body))
