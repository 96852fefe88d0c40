"""Make the golden dump of the newest schema: python -m tests.service.store.golden.make

A dump is made once, when its revision is released, and never again: it stands for the databases
that are out there. It needs a server at AFFINITY_DSN and pg_dump; restoring it needs neither psql
nor the version it was made with. The same schema gives the same file.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

from affinity_bandits.policies import (
    Elimination,
    ExploreThenCommit,
    HandicapElimination,
    ListedSchedule,
    RoundPolicy,
)
from affinity_bandits.service.core.campaign_spec import CampaignSpec
from affinity_bandits.service.core.campaigns import Ask, Campaigns
from affinity_bandits.service.core.health_checks import HealthChecks
from affinity_bandits.service.core.judging import Judges, Naming
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.core.tells import ArmTell, ScoreTell, SlotTell
from affinity_bandits.service.store.connection import connect
from affinity_bandits.service.store.migrate import migrate, newest_revision
from affinity_bandits.service.store.named import sql
from affinity_bandits.wire import Wait
from tests.support.databases import made_database

HERE = Path(__file__).parent
TENANT = 1
BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
LATER = BEGIN + timedelta(minutes=2)
RUNNING, DECIDED, EXHAUSTED, STOPPED, COMPLETE, STARS, IN_ORDER, MARKED, COUNTED, *_TOLD = (
    UUID(int=number) for number in range(1, 12)
)
SEATED, JOINED = _TOLD
POLICIES: dict[UUID, tuple[RoundPolicy, int]] = {
    RUNNING: (Elimination(ListedSchedule([(4, 0.5), (6, 0.1)])), 200),
    DECIDED: (ExploreThenCommit(2), 50),
    EXHAUSTED: (Elimination(ListedSchedule([(2, 9.0)]), discard_first=False), 7),
    STOPPED: (ExploreThenCommit(3), 50),
    COMPLETE: (ExploreThenCommit(3), 50),
    STARS: (Elimination(ListedSchedule([(2, 0.5), (3, 0.1)])), 50),
    IN_ORDER: (HandicapElimination(head_start=2, bounded=True, failure=0.05, in_flight=6), 500),
    MARKED: (ExploreThenCommit(3), 50),
    COUNTED: (HandicapElimination(head_start=2, bounded=True, levels=5, in_flight=12), 500),
    SEATED: (HandicapElimination(bounded=True, levels=5, failure=0.05, judges="panel"), 500),
    JOINED: (HandicapElimination(bounded=True, levels=5, in_flight=12, judges="members"), 500),
}
SINCE = {
    STARS: "0002",
    IN_ORDER: "0002",
    MARKED: "0003",
    COUNTED: "0004",
    SEATED: "0006",
    JOINED: "0006",
}
"""Campaigns that dumps of earlier schemas do not have."""
ON_STARS = (STARS, COUNTED)


class Maker:
    """Campaigns at every stage of their lives, made with fixed ids at fixed moments."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.campaigns = Campaigns(pool)
        self.keys = (f"key-{number}" for number in range(1_000_000))

    async def fill(self) -> None:
        await self.pool.execute(
            "INSERT INTO affinity.tenants (name, created_at) VALUES ('golden', $1)", BEGIN
        )
        await self.pool.execute(
            "INSERT INTO affinity.api_keys VALUES"
            " ('0123456789abcdef', 1, 'golden', $1, '{ask,tell}', 1000, 1048576, $2)",
            bytes(range(32)),
            BEGIN,
        )
        for id_, (policy, horizon) in POLICIES.items():
            scale = (1.0, 5.0) if id_ in ON_STARS else (0.0, 1.0)
            members = (3, 1, 2) if id_ == JOINED else None
            about = CampaignSpec(
                f"campaign {id_.int}", ("a", "b", "ü"), policy, horizon, 60.0, *scale, members
            )
            with patch("affinity_bandits.service.core.creating.uuid.uuid4", return_value=id_):
                await self.campaigns.create(TENANT, about, key=f"c{id_.int}", actor="g", now=BEGIN)
        await self.running()
        for id_ in (DECIDED, EXHAUSTED, DECIDED, EXHAUSTED):
            await self.tell(id_, await self.ask(id_, 6))
        await self.tell(STOPPED, await self.ask(STOPPED, 4))
        await self.campaigns.stop(TENANT, STOPPED, actor="g", key="stop", now=BEGIN)
        for _ in range(3):
            await self.tell(STARS, await self.ask(STARS, 6))
        for _ in range(6):  # as much as the window lets through; then it waits for the oldest
            await self.tell(IN_ORDER, await self.ask(IN_ORDER, 10))
        held = await self.ask(IN_ORDER, 2)
        await self.tell(IN_ORDER, await self.ask(IN_ORDER, 10))
        assert isinstance(await self.ask(IN_ORDER, 1), Wait)
        again = await self.ask(IN_ORDER, 1, LATER)
        assert again.runs == ((held.runs[0][0], 1),)
        await self.tell(COUNTED, await self.ask(COUNTED, 12))
        lease = await self.ask(COUNTED, 3)
        told = ((0, 1, 0), (3 * 10**9, 4_123_456_789, 10**9), (1, 1, 1))
        scores = ScoreTell(lease.number, next(self.keys), "g", *told)
        (counted,) = await self.campaigns.tell(TENANT, COUNTED, [scores], now=BEGIN)
        assert counted.counted == 3
        await self.judged()
        # A server of another version, which cannot read the state.
        lease = await self.ask(MARKED, 9)
        with patch.object(ExploreThenCommit, "version", 2):
            await self.tell(MARKED, lease)
        await HealthChecks(self.pool).check(RUNNING, now=LATER)
        said = ("seen", "effect", "advice")
        await self.pool.execute(sql.save_finding, RUNNING, "ends", "note", LATER, [1], *said)
        # A process that died between its last answer and the end of the round.
        with patch.object(self.campaigns, "close"):
            await self.tell(COMPLETE, await self.ask(COMPLETE, 9))

    async def judged(self) -> None:
        """A panel that stands until another group leads, and a committee that has to be told."""
        assert isinstance(await self.ask(SEATED, 1), Wait)
        await self.name(SEATED, Judges((1, 2, 2), 1, standing=True))
        lease = await self.ask(SEATED, 100)
        slots = tuple(slot for slot, _ in lease.slots)
        raters = tuple((f"r{slot % 4}", slot % 3 if slot % 5 else None) for slot in slots)
        units = tuple(10**8 * (9 - 4 * arm) for _, arm in lease.slots)
        rated = SlotTell(lease.number, next(self.keys), "g", slots, units, raters)
        await self.campaigns.tell(TENANT, SEATED, [rated], now=BEGIN)
        await self.name(SEATED, Judges((0, 2, 1)), 2)
        for _ in range(2):
            await self.tell(SEATED, await self.ask(SEATED, 100))
        assert isinstance(await self.ask(SEATED, 1), Wait)
        await self.tell(JOINED, await self.ask(JOINED, 12))
        assert isinstance(await self.ask(JOINED, 1), Wait)

    async def name(self, campaign: UUID, judges: Judges, number: int | None = None) -> None:
        naming = Naming(judges, number, next(self.keys), "g")
        await self.campaigns.name_judges(TENANT, campaign, naming, now=BEGIN)

    async def running(self) -> None:
        """Closed rounds, a total, a late answer, a slot offered again, leases good and expired."""
        await self.tell(RUNNING, await self.ask(RUNNING, 3))
        first, second = await self.ask(RUNNING, 6), await self.ask(RUNNING, 6)
        totals = ArmTell(first.number, next(self.keys), "g", (0, 2), (10**9, 3 * 10**8), (2, 1))
        await self.campaigns.tell(TENANT, RUNNING, [totals], now=BEGIN)
        again = await self.ask(RUNNING, 100, LATER)
        await self.tell(RUNNING, second, LATER)
        await self.tell(RUNNING, again, LATER)
        await self.tell(RUNNING, await self.ask(RUNNING, 5, LATER), LATER)
        await self.ask(RUNNING, 4, LATER)
        await self.ask(RUNNING, 2, LATER + timedelta(seconds=30))

    async def ask(self, campaign: UUID, count: int, now: datetime = BEGIN) -> Any:
        ask = Ask(count, next(self.keys), "g")
        return (await self.campaigns.ask(TENANT, campaign, [ask], now=now))[0]

    async def tell(self, campaign: UUID, lease: Lease, now: datetime = BEGIN) -> None:
        slots = tuple(slot for slot, _ in lease.slots)
        lowest = 10**9 if campaign in ON_STARS else 0
        units = tuple(lowest + 3 * 10**8 + arm * 10**8 + slot for slot, arm in lease.slots)
        tell = SlotTell(lease.number, next(self.keys), "g", slots, units)
        await self.campaigns.tell(TENANT, campaign, [tell], now=now)


async def fill(dsn: str) -> None:
    pool = await connect(dsn)
    try:
        # As the policy was when 0009 was released; a later schema's dump is made without this.
        with patch("affinity_bandits.policies.handicap_elimination.TRIED", 0.0):
            await Maker(pool).fill()
    finally:
        await pool.close()


def dump(dsn: str) -> str:
    """Return a database as statements that any client and any server can run."""
    command = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", "--dbname", dsn]
    there = os.environ | {"PGTZ": "UTC"}  # moments are written in the zone of whoever dumps
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=there).stdout
    # Without psql's own commands, settings of one version only, and what names the versions.
    text = re.sub(r"^(\\.*|SET transaction_timeout.*|-- Dumped .*)\n", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text)


def made() -> str:
    with made_database(f"affinity_golden_{os.getpid()}") as dsn:
        migrate(dsn)
        asyncio.run(fill(dsn))
        return dump(dsn)


if __name__ == "__main__":
    path = HERE / f"{newest_revision()}.sql"
    path.write_text(made(), encoding="utf-8")
    print(f"wrote {path.name}")
