"""The chain of digests through an audit trail, recomputed in Python.

Each event has a digest of its content and of the digest before it; the first digest is of the
campaign's definition. Changing, adding, removing or moving an event changes every later digest, so
a digest that was kept elsewhere reveals even a recomputed chain.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import struct
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

import asyncpg

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_service.problems import NoSuchCampaign, Unavailable
from affinity_bandits_service.store.connection import sql, translate_errors

Row = Mapping[str, Any]
PAGE = 20
"""Events that are read at once; each may have thousands of answers."""
TRIES, PAUSE_SECONDS = 10, 1.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEPT = re.compile(r"([0-9a-f]{64})@([1-9][0-9]{0,18})")


@dataclass(frozen=True)
class Digest:
    """The digest of an event of a campaign, as it can be kept elsewhere.

    Attributes:
        value: 32 bytes.
        number: of the event.
    """

    value: bytes
    number: int

    def __str__(self) -> str:
        return f"{self.value.hex()}@{self.number}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a digest as `str` writes it."""
        found = _KEPT.fullmatch(text.strip())
        if found is None:
            rule = "of the form DIGEST@NUMBER, as 'affinity serve digest' prints it"
            raise InvalidInput("expect", rule, text)
        return cls(bytes.fromhex(found[1]), int(found[2]))


async def read_trail(
    db: asyncpg.Pool | asyncpg.Connection, query: str, campaign: UUID, after: int = 0
) -> AsyncIterator[Row]:
    """Yield a campaign's events by their numbers, from the first one after `after`.

    With a pool, each page is a transaction of its own: a snapshot that lasts keeps every process
    from reusing the room of updated rows. Events never change, so a page that fails is read again.

    Raises:
        Unavailable: the database is away for longer than it takes to start.
    """
    failures = 0
    while True:
        try:
            async with translate_errors():
                rows = await db.fetch(query, campaign, after, PAGE)
        except Unavailable:
            failures += 1
            if failures >= TRIES or not isinstance(db, asyncpg.Pool):
                raise
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        if not rows:
            return
        for row in rows:
            yield row
        after, failures = rows[-1]["number"], 0


@translate_errors()
async def newest_digest(pool: asyncpg.Pool, campaign: UUID) -> Digest:
    """Return the digest of a campaign's last event, as it is stored.

    Raises:
        NoSuchCampaign: the id is unknown.
    """
    row = await pool.fetchrow(sql.newest_digest, campaign)
    if row is None:
        raise NoSuchCampaign(campaign)
    return Digest(row["chain"], row["number"])


def campaign_digest(row: Row) -> bytes:
    """Return the digest of a campaign's definition, with which its chain begins."""
    return _sha256(
        b"",
        str(row["id"]),
        row["number"],
        row["tenant"],
        row["name"],
        _names(row["arms"]),
        row["horizon"],
        struct.pack(">d", row["lease_seconds"]).hex(),
        row["lowest"],
        row["highest"],
        _microseconds(row["created_at"]),
        row["created_by"],
        row["key"],
        _hex(row["digest"]),
        row["committee_text"],
        _names(row["tellers"]),
    )


def event_digest(before: bytes, row: Row) -> bytes:
    """Return the digest of an event, given that of the event before it."""
    return _sha256(
        before,
        str(row["campaign"]),
        row["number"],
        _microseconds(row["at"]),
        row["kind"],
        row["actor"],
        row["key"],
        _hex(row["digest"]),
        row["round"],
        row["asked"],
        row["slots_text"],
        _microseconds(row["expires_at"]),
        row["lease"],
        row["told_text"],
        row["counts_text"],
        row["units_text"],
        row["counted"],
        row["late"],
        row["duplicate"],
        row["detail_text"],
    )


def _sha256(before: bytes, *parts: str | int | None) -> bytes:
    # As PostgreSQL writes a JSON array, byte for byte.
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(before + text.encode()).digest()


def _microseconds(at: datetime | None) -> int | None:
    return None if at is None else (at - _EPOCH) // timedelta(microseconds=1)


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _names(value: list[str] | None) -> str | None:
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
