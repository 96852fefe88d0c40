"""Campaigns to export, the tables that are made of them, and what `verify` makes of them."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from affinity_bandits.policies import RoundPolicy, SequentialHalving
from affinity_bandits.service.core.campaign_spec import CampaignSpec
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.core.scores import to_units
from affinity_bandits.service.core.tells import SlotTell
from affinity_bandits.service.trail.export import export
from affinity_bandits.service.trail.replay import Replay
from affinity_bandits.service.trail.table_files import Target
from affinity_bandits.wire.values import new_key
from tests.support.one_campaign import LEASE_SECONDS, OneCampaign

STARS = (-1.0, 5.0)
Row = dict[str, Any]


class Counted(Replay):
    """A replay that keeps what it counts: event, round, arm, answers and their sum."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[int, int, int, int, int]] = []

    def _add(self, place: int, answers: int, units: int) -> None:
        super()._add(place, answers, units)
        self.kept.append((self.events, self.number, self.round.arms[place], answers, units))


async def replayed(one: OneCampaign) -> Counted:
    replay = Counted()
    query = "SELECT * FROM affinity.events WHERE campaign = $1 ORDER BY number"
    for event in await one.pool.fetch(query, one.id):
        replay.take(event)
    assert replay.differences == []
    return replay


async def create(
    one: OneCampaign, names: Sequence[str], policy: RoundPolicy, horizon: int, **more: Any
) -> UUID:
    about = CampaignSpec("some", tuple(names), policy, horizon, LEASE_SECONDS, **more)
    return await one.campaigns.create(one.tenant, about, key=new_key(), actor="t", now=one.now)


async def written(one: OneCampaign, path: Path) -> list[Row]:
    """The table of a campaign's export, as text if it is CSV."""
    rows = await export(one.pool, one.id, Target(path))
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
            await tell_some(one, lease, rng)
        await tell_some(one, rng.choice(kept[-5:]), rng)
        one.wait(rng.choice([1.0, 1.0, 1.0, LEASE_SECONDS]))


async def tell_some(one: OneCampaign, lease: Lease, rng: random.Random) -> None:
    slots = [slot for slot, _ in lease.slots]
    if rng.random() < 0.3:
        arms = [arm for _, arm in lease.slots]
        totals = {arm: (arms.count(arm), rng.randint(-1, 5) / 7 * arms.count(arm)) for arm in arms}
        await one.tell(lease, totals)
        return
    some = tuple(rng.sample(slots, rng.randint(1, len(slots))))
    units = tuple(to_units(rng.uniform(*STARS)) for _ in some)
    raters = tuple((rng.choice([None, "r1", "-r2"]), rng.choice([None, 0])) for _ in some)
    told = SlotTell(lease.number, new_key(), "t", some, units, rng.choice([(), raters]))
    await one.tell_all([told])
