"""Creating a campaign: what is stored of it, its first round and its first event."""

from __future__ import annotations

import uuid
from datetime import datetime
from uuid import UUID

import asyncpg

from affinity_bandits._version import __version__
from affinity_bandits.errors import InvalidInput
from affinity_bandits.service import problems
from affinity_bandits.service.core.campaign_spec import (
    ANY,
    CampaignSpec,
    next_round,
    tellers_to_store,
)
from affinity_bandits.service.core.closing import opened
from affinity_bandits.service.core.health_checks import LOOK_SECONDS
from affinity_bandits.service.core.judging import Judges, NamedJudges, fewest_seats, open_with
from affinity_bandits.service.store.connection import transaction
from affinity_bandits.service.store.named import sql
from affinity_bandits.wire.values import check_key


async def create_campaign(
    pool: asyncpg.Pool,
    tenant: int,
    spec: CampaignSpec,
    *,
    key: str,
    actor: str,
    now: datetime | None,
) -> UUID:
    """Create a campaign and open its first round; see `Campaigns.create`."""
    check_key(key)
    spec = spec.with_window()
    policy, arms, scale = spec.policy, len(spec.arms), spec.scale
    state = policy.start(arms, spec.horizon)
    first = next_round(policy, state, arms, spec.horizon, 0)
    if first is None:
        raise InvalidInput("policy", "one that plans a first round", str(policy))
    saved = policy.save(state, arms, spec.horizon)
    data, digest = spec.to_json(), spec.digest()
    terms = (spec.lease_seconds, scale.lowest, scale.highest)
    tellers = tellers_to_store(spec.tellers)
    async with transaction(pool) as db:
        now = await db.fetchval(sql.time_of, now)
        what = (
            *(spec.name, spec.arms, data["policy"], spec.horizon, *terms),
            *(saved, spec.committee, tellers),
        )
        id_: UUID | None = await db.fetchval(
            sql.create_campaign, uuid.uuid4(), tenant, *what, now, actor, key, digest
        )
        if id_ is None:
            before = await db.fetchrow(sql.created_before, tenant, key)
            if before is None or (before["digest"], before["created_by"]) != (digest, actor):
                raise problems.KeyReused
            return UUID(str(before["id"]))
        await _check_tellers(db, tenant, spec)
        status = "decided" if first.final else "open"
        shape = (len(first.arms), first.size)
        await db.execute(
            *(sql.create_head, id_, tenant, status, *shape, *terms),
            *(policy.order_window, spec.nodes.number, first.waits, tellers),
        )
        wanted = fewest_seats(policy, state)
        await opened(db, id_, 0, first, before=0, now=now, wanted=wanted)
        await db.execute(sql.watch, id_, now, LOOK_SECONDS)
        detail = {
            "description": data,  # the spec; so called since the first schema
            "version": __version__,
            "in_flight": policy.order_window,
            "tellers": tellers,
            "state": saved["state"],
        }
        await db.execute(sql.add_event, id_, 1, now, "create", actor, None, 0, detail)
        if first.waits and spec.first_judges is not None:
            named = NamedJudges(1, 0, Judges(spec.first_judges))
            await open_with(db, id_, policy, saved, named, 2, now)
    return UUID(str(id_))


async def _check_tellers(db: asyncpg.Connection, tenant: int, spec: CampaignSpec) -> None:
    """Refuse tellers that could never tell: a campaign cannot be given others later."""
    if spec.tellers in (None, ANY):
        return
    known = {row["id"] for row in await db.fetch(sql.keys_of_tenant, tenant, spec.tellers)}
    strange = [one for one in spec.tellers or () if one not in known]
    if strange:
        raise InvalidInput("tellers", "ids of API keys of this tenant that are in use", strange)
