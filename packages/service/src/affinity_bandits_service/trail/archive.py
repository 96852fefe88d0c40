"""Remove campaigns from the database: archive them to files, or delete them with their tenant."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits._version import __version__
from affinity_bandits.base.errors import InvalidInput, MissingExtra, NotSupported
from affinity_bandits.base.tables import TableFile, TableWriter
from affinity_bandits_service.problems import NoSuchCampaign
from affinity_bandits_service.store.connection import sql, transaction, translate_errors
from affinity_bandits_service.trail.chain import read_trail
from affinity_bandits_service.trail.verify import ENDED, verify

ARCHIVED = {  # columns of an archived trail; `row` is the whole event as JSON
    "number": int,
    "at": datetime,
    "kind": str,
    "actor": str,
    "round": int,
    "row": str,
}
LOCK_SECONDS = 86_400.0
"""How long to wait for the lock of a campaign; the session's own limit is meant for requests."""
REMOVED_AT_ONCE = 1000
"""Rows that one transaction deletes; each event may have thousands of answers."""


@dataclass(frozen=True)
class Trail:
    """The number of events of a trail, and the SHA-256 of their rows, one per line."""

    events: int
    digest: str


@dataclass(frozen=True)
class Archived:
    """An archived campaign and its files."""

    trail: Trail
    events_file: Path
    about_file: Path


async def archive(
    pool: asyncpg.Pool, campaign: UUID, folder: Path, *, by: str, now: datetime | None = None
) -> Archived:
    """Write a finished campaign to files, read them back, and take it out of the database.

    A removal that was interrupted is finished first.

    Raises:
        InvalidInput: a file exists already or cannot be written.
        MissingExtra: pyarrow is not installed.
        NoSuchCampaign: the id is unknown.
        NotSupported: the campaign is unfinished, its state contradicts its trail, the files differ
            from the trail, or the role of the DSN may not remove.
    """
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", '. ./packages/client "./packages/service[archive]"')
    await _check_right(pool)
    for done in await _finish_removals(pool):
        detail = done["detail"]
        if done["campaign"] == campaign and "archived" in detail:
            trail = Trail(detail["events"], detail["digest"])
            return Archived(trail, Path(detail["archived"]), Path(detail["about"]))
    await _check_ended(pool, campaign, None, now)  # a long trail takes minutes to verify
    verdict = await verify(pool, campaign)
    if verdict.differences:
        raise NotSupported(
            f"campaign {campaign} is not archived: its state does not follow from its trail; "
            "'affinity serve verify' says where"
        )
    folder.mkdir(parents=True, exist_ok=True)
    events_file = folder / f"{campaign}.events.parquet"
    about_file = folder / f"{campaign}.json"
    if about_file.exists():
        raise InvalidInput("--out", "a folder without this campaign's files", str(about_file))
    target = TableFile("--out", events_file, force=False)
    await _check_ended(pool, campaign, verdict.events, now)
    with target.open(ARCHIVED) as table:
        written = await _digest(pool, campaign, table)
    read = _read_events(events_file)
    if not written == read == Trail(verdict.events, read.digest):
        raise NotSupported(f"{events_file} is not what was written to it; nothing was removed")
    detail = {
        "archived": str(events_file.resolve()),
        "about": str(about_file.resolve()),
        "events": written.events,
        "digest": written.digest,
        "version": __version__,
    }
    async with transaction(pool) as db:
        await db.execute(sql.without_limits)
        try:
            await _check_ended(db, campaign, written.events, now)
        except NotSupported:
            events_file.unlink()
            raise
        about = json.loads(await db.fetchval(sql.campaign_to_archive, campaign))
        _write_about(about_file, about | detail)
        await db.execute(sql.begin_removal, campaign, by, detail, timeout=LOCK_SECONDS)
    await _remove_rows(pool, campaign)
    return Archived(written, events_file, about_file)


async def delete_tenant(pool: asyncpg.Pool, name: str, *, by: str) -> list[Trail]:
    """Delete a tenant with its keys, webhooks and campaigns; return the digests of the trails.

    Its keys end first and for good, even if the rest fails.

    Raises:
        InvalidInput: the tenant is unknown.
        NotSupported: the role of the DSN may not remove.
    """
    await _check_right(pool)
    await _finish_removals(pool)
    trails: list[Trail] = []
    while True:
        async with transaction(pool) as db:
            await db.execute(sql.without_limits)
            tenant, keys = await _end_keys(db, name)
            campaigns = await db.fetch(sql.campaigns_to_remove, tenant)
            if not campaigns:
                ids = sorted(row["id"] for row in keys if row["parent"] is None)
                what = {"deleted": "tenant", "campaigns": len(trails), "keys": ids}
                what |= {"version": __version__}
                await db.execute(sql.remove_tenant, name, by, what, timeout=LOCK_SECONDS)
                return trails
        for row in campaigns:
            trails.append(await _begin_deletion(pool, row["id"], by))
            await _remove_rows(pool, row["id"])


async def _begin_deletion(pool: asyncpg.Pool, campaign: UUID, by: str) -> Trail:
    """Take a campaign out of use with a record of its whole trail."""
    while True:
        trail = await _digest(pool, campaign)
        async with transaction(pool) as db:
            await db.execute(sql.without_limits)
            head = await db.fetchrow(sql.head_to_archive, campaign, None, timeout=LOCK_SECONDS)
            if head is None:
                raise NoSuchCampaign(campaign)
            if head["events"] == trail.events:  # else a process still knew a key
                detail = {"deleted": "with its tenant", **asdict(trail)}
                await db.execute(sql.begin_removal, campaign, by, detail, timeout=LOCK_SECONDS)
                return trail


@translate_errors()
async def _remove_rows(pool: asyncpg.Pool, campaign: UUID) -> None:
    """Delete the rows of a campaign, a bounded number per transaction."""
    while True:
        try:
            if not await pool.fetchval(sql.remove_rows, campaign, REMOVED_AT_ONCE):
                return
        except asyncpg.ForeignKeyViolationError:
            # A health check that was under way has added a finding at the last moment.
            await pool.fetchval(sql.remove_rows, campaign, REMOVED_AT_ONCE)


@translate_errors()
async def _finish_removals(pool: asyncpg.Pool) -> list[asyncpg.Record]:
    """Finish the removals that earlier commands began; return their records."""
    begun = await pool.fetch(sql.removals_begun)
    for row in begun:
        await _remove_rows(pool, row["campaign"])
    return list(begun)


async def _end_keys(db: asyncpg.Connection, name: str) -> tuple[int, list[asyncpg.Record]]:
    """Lock a tenant and end all its keys; return its id and the keys."""
    tenant = await db.fetchval(sql.tenant_to_remove, name)
    if tenant is None:
        raise InvalidInput("TENANT", "the name of a tenant", name)
    return tenant, await db.fetch(sql.end_keys_of, tenant)


@translate_errors()
async def removals(pool: asyncpg.Pool) -> list[dict[str, Any]]:
    """Return the records of all removals, oldest first."""
    return [dict(row) for row in await pool.fetch(sql.removals)]


@translate_errors()
async def _check_right(pool: asyncpg.Pool) -> None:
    if not await pool.fetchval(sql.may_remove):
        raise NotSupported(
            "only the role that owns the schema may remove campaigns and tenants; "
            "'affinity serve roles' says which that is"
        )


@translate_errors()
async def _check_ended(
    db: asyncpg.Pool | asyncpg.Connection, campaign: UUID, events: int | None, now: datetime | None
) -> None:
    """Check that a campaign has ended, with so many events unless that is None, and lock it."""
    head = await db.fetchrow(sql.head_to_archive, campaign, now, timeout=LOCK_SECONDS)
    if head is None:
        raise NoSuchCampaign(campaign)
    if head["status"] not in ENDED:
        raise NotSupported(f"campaign {campaign} is {head['status']}: stop it first")
    if head["leased_until"] is not None:
        raise NotSupported(
            f"campaign {campaign} awaits answers until {head['leased_until'].isoformat()}"
        )
    if events is not None and head["events"] != events:
        raise NotSupported(f"campaign {campaign} went on while it was verified; try again")


async def _digest(
    db: asyncpg.Pool | asyncpg.Connection, campaign: UUID, table: TableWriter | None = None
) -> Trail:
    """Return the record of a trail, and copy the trail to a table if there is one."""
    hashed, events = hashlib.sha256(), 0
    async for row in read_trail(db, sql.events_to_archive, campaign):
        events += 1
        hashed.update(row["row"].encode() + b"\n")
        if table is not None:
            table.add(list(row.values()))
    return Trail(events, hashed.hexdigest())


def _read_events(file: Path) -> Trail:
    """Return the trail in a file; 0 events if their numbers have a gap."""
    from pyarrow import parquet

    hashed, events = hashlib.sha256(), 0
    for batch in parquet.ParquetFile(file).iter_batches(columns=["number", "row"]):
        for number, row in zip(*(batch.column(i).to_pylist() for i in (0, 1)), strict=True):
            events += 1
            if number != events or json.loads(row)["number"] != number:
                return Trail(0, "")
            hashed.update(row.encode() + b"\n")
    return Trail(events, hashed.hexdigest())


def _write_about(file: Path, about: dict[str, Any]) -> None:
    """Write the rest of a campaign, and wait until it is on disk."""
    with file.open("x", encoding="utf-8") as out:
        json.dump(about, out, indent=1)
        out.flush()
        os.fsync(out.fileno())
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
