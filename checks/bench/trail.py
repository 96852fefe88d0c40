"""Measure an audit trail: its size on disk, and the time to verify and export it.

    python -m checks.bench.trail

    trail.ask_bytes, .tell_bytes     disk of an ask and of a tell of one slot: its event and its
                                     idempotency key, with their indexes
    trail.slot_bytes, .total_bytes   the same of a slot in leases of `BLOCK`, asked and told, with
                                     single scores of two decimals and with totals
    trail.gb.single, .slot, .total   gigabytes of 10^8 choices in these three forms
    trail.verify_per_s, .export_per_s
                                     events a second of `affinity serve verify` and `export`

The events are made by the service's own functions, without HTTP.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.base.tables import TableFile
from affinity_bandits_client.messages import Lease, Told
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.tells import AnyTell, ScoreTell, SlotTell
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.trail.export import export
from affinity_bandits_service.trail.verify import verify
from checks.bench.measure import main
from checks.bench.service_setup import Bench, database

SINGLE = 30_000
BLOCK, BLOCKS = 1_000, 100
AT_ONCE = 200
ACTOR = "0123456789abcdef"
HUNDREDTH = 10_000_000
"""Of a score, in units of 1e-9."""
chance = random.Random(0)
SIZE = """
SELECT sum(pg_total_relation_size(inhrelid))::bigint FROM pg_inherits
WHERE inhparent IN ('affinity.events'::regclass, 'affinity.requests'::regclass)
"""


class Trail:
    """A campaign whose trail grows."""

    def __init__(self, pool: asyncpg.Pool[Any], tenant: int, campaign: UUID) -> None:
        self._pool = pool
        self._core = Campaigns(pool)
        self._place = (tenant, campaign)

    async def grown(self, work: Awaitable[Any]) -> tuple[Any, int]:
        """Return the result of some work, and by how many bytes the trail grew."""
        before = await self._pool.fetchval(SIZE)
        result = await work
        return result, await self._pool.fetchval(SIZE) - before

    async def ask(self, leases: int, slots: int) -> list[Lease]:
        """Take so many leases of so many slots."""
        taken: list[Lease] = []
        while len(taken) < leases:
            number = min(AT_ONCE, leases - len(taken))
            asks = [SlotAsk(slots, new_key(), ACTOR) for _ in range(number)]
            found = await self._core.ask(*self._place, asks)
            taken += [one for one in found if isinstance(one, Lease)]
        return taken

    async def tell(self, leases: list[Lease], form: Callable[[Lease], AnyTell]) -> None:
        """Answer leases, each with one tell."""
        at_once = max(1, AT_ONCE // len(leases[0]))
        for first in range(0, len(leases), at_once):
            tells = [form(one) for one in leases[first : first + at_once]]
            for told in await self._core.tell(*self._place, tells):
                assert isinstance(told, Told), told


def by_slot(lease: Lease) -> AnyTell:
    """Answer every slot of a lease with a score."""
    slots = tuple(slot for slot, _ in lease.slots)
    units = tuple(chance.randrange(101) * HUNDREDTH for _ in slots)
    return SlotTell(lease.number, new_key(), ACTOR, slots, units)


def by_arm(lease: Lease) -> AnyTell:
    """Answer a lease with one score for all answers of each of two arms."""
    half = len(lease) // 2
    sums = tuple(half * chance.randrange(101) * HUNDREDTH for _ in range(2))
    return ScoreTell(lease.number, new_key(), ACTOR, (0, 1), sums, (half,) * 2)


def run() -> dict[str, float]:
    """Return every figure."""
    with database("trail") as dsn:
        bench = Bench(dsn)
        return asyncio.run(_run(dsn, bench.tenant, bench.campaign()))


async def _run(dsn: str, tenant: int, campaign: UUID) -> dict[str, float]:
    pool = await connect(dsn, largest=2)
    try:
        trail = Trail(pool, tenant, campaign)
        leases, asked = await trail.grown(trail.ask(SINGLE, 1))
        _, told = await trail.grown(trail.tell(leases, by_slot))
        begun = time.perf_counter()
        verdict = await verify(pool, campaign)
        verified = time.perf_counter()
        assert not verdict.differences, verdict.differences
        with tempfile.TemporaryDirectory() as folder:
            file = TableFile("--out", Path(folder, "answers.csv"), force=False)
            assert await export(pool, campaign, file) == SINGLE
        exported = time.perf_counter()
        figures = {
            "trail.ask_bytes": asked / SINGLE,
            "trail.tell_bytes": told / SINGLE,
            "trail.verify_per_s": verdict.events / (verified - begun),
            "trail.export_per_s": verdict.events / (exported - verified),
        }
        for name, form in (("slot", by_slot), ("total", by_arm)):
            blocks, asked = await trail.grown(trail.ask(BLOCKS, BLOCK))
            _, told = await trail.grown(trail.tell(blocks, form))
            figures[f"trail.{name}_bytes"] = (asked + told) / (BLOCKS * BLOCK)
        single = figures["trail.ask_bytes"] + figures["trail.tell_bytes"]
        return figures | {
            "trail.gb.single": 1e8 * single / 1e9,
            "trail.gb.slot": 1e8 * figures["trail.slot_bytes"] / 1e9,
            "trail.gb.total": 1e8 * figures["trail.total_bytes"] / 1e9,
        }
    finally:
        await pool.close()


if __name__ == "__main__":
    raise SystemExit(main(run))
