"""Campaigns to export, and the tables that are made of them."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from affinity_bandits.base.tables import TableFile
from affinity_bandits.policies import RoundPolicy, SequentialHalving
from affinity_bandits_client.messages import Lease
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core.scores import to_units
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.trail.export import export
from tests.support.declared import DECLARED
from tests.support.one_campaign import LEASE_SECONDS, OneCampaign

STARS = (-1.0, 5.0)
Row = dict[str, Any]


async def create(
    one: OneCampaign, names: Sequence[str], policy: RoundPolicy, horizon: int, **more: Any
) -> UUID:
    about = CampaignSpec(
        "some", tuple(names), policy, horizon, LEASE_SECONDS, **more, declaration=DECLARED
    )
    return await one.campaigns.create(one.tenant, about, key=new_key(), actor="t", now=one.now)


async def written(one: OneCampaign, path: Path) -> list[Row]:
    """The table of a campaign's export, as text if it is CSV."""
    rows = await export(one.pool, one.id, TableFile("out", path))
    found = read(path)
    assert len(found) == rows
    assert [path] == list(path.parent.iterdir())  # and nothing temporary
    return found


def read(path: Path) -> list[Row]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))
    from pyarrow import parquet

    return list(parquet.read_table(path).to_pylist())


async def a_busy_campaign(one: OneCampaign, names: Sequence[str]) -> None:
    """Answers and totals, of whole leases and of parts, in time, late and twice, in some rounds."""
    low, high = STARS
    one.id = await create(one, names, SequentialHalving(), 300, lowest=low, highest=high)
    rng = random.Random(5)
    kept: list[Lease] = []
    for _ in range(120):
        lease = await one.ask(rng.randint(1, 9))
        if isinstance(lease, Lease):
            kept.append(lease)
            await tell_some(one, names, lease, rng)
        await tell_some(one, names, rng.choice(kept[-5:]), rng)
        one.wait(rng.choice([1.0, 1.0, 1.0, LEASE_SECONDS]))


async def tell_some(
    one: OneCampaign, names: Sequence[str], lease: Lease, rng: random.Random
) -> None:
    slots = [slot for slot, _ in lease.slots]
    if rng.random() < 0.3:
        arms = [names.index(arm) for _, arm in lease.slots]
        scores = {arm: rng.randint(-1, 5) / 7 for arm in arms}
        totals = {(arm, score): arms.count(arm) for arm, score in scores.items()}
        await one.tell(lease, totals)
        return
    some = tuple(rng.sample(slots, rng.randint(1, len(slots))))
    units = tuple(to_units(rng.uniform(*STARS)) for _ in some)
    raters = tuple((rng.choice([None, "r1", "-r2"]), rng.choice([None, 0])) for _ in some)
    told = SlotTell(lease.number, new_key(), "t", some, units, rng.choice([(), raters]))
    await one.tell_all([told])


async def change(one: OneCampaign, *statements: str) -> None:
    """Change the campaign as a superuser would, with triggers disabled."""
    async with one.pool.acquire() as db, db.transaction():
        await db.execute("SET LOCAL session_replication_role = replica")
        for statement in statements:
            done = await db.execute(statement, one.id)
            assert done.rpartition(" ")[2] != "0", statement
