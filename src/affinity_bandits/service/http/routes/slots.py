"""Ask and tell: the two routes that live traffic waits for."""

from __future__ import annotations

import math
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.service.core.campaigns import Ask
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.http.auth import HotRoute
from affinity_bandits.service.http.errors import ALWAYS, refusals
from affinity_bandits.service.http.parameters import KEYED, Asking, Body, Telling, reply
from affinity_bandits.service.http.translation import lease_message, rated, tell_of

router = APIRouter(
    prefix="/v1/campaigns/{campaign}",
    tags=["slots"],
    route_class=HotRoute,
    responses=refusals(*ALWAYS, 404, 409),
)


@router.post("/ask", response_model=wire.Asked, openapi_extra=KEYED)
async def ask(campaign: UUID, call: Asking, body: Body[wire.Ask]) -> Response:
    """Lease slots of the open round, or learn why there are none."""
    key = call.key()
    found = await call.parts.batcher.ask(
        call.tenant, campaign, Ask(body.count, key, call.principal.actor)
    )
    if isinstance(found, Lease):
        call.metrics.leases.inc()
        names = await call.backend.names(call.tenant, campaign)
        return reply(lease_message(campaign, found, names, listed=body.listed), key)
    if isinstance(found, wire.Wait):
        return reply(found, key, {"retry-after": str(math.ceil(found.retry_after))})
    return reply(found, key)


@router.post("/tell", response_model=wire.Told, openapi_extra=KEYED)
async def tell(campaign: UUID, call: Telling, body: Body[wire.Tell]) -> Response:
    """Report the scores of slots of a lease."""
    key = call.key()
    names: tuple[str, ...] = ()
    if body.totals is not None or rated(body):
        names = await call.backend.names(call.tenant, campaign)
    told = await call.parts.batcher.tell(
        call.tenant, campaign, tell_of(body, key, call.principal.actor, names)
    )
    call.metrics.told(told)
    return reply(told, key)
