"""The routes of the API; each declares its scope, body and replies."""

from __future__ import annotations

import asyncio
import math
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from affinity_bandits_client import messages
from affinity_bandits_client.messages.base import MOST_ANSWERS
from affinity_bandits_service.core.blocks import read_block_ask, read_block_tell
from affinity_bandits_service.core.campaigns import SlotAsk
from affinity_bandits_service.core.judging import Naming, read_judges
from affinity_bandits_service.core.spec import read_spec
from affinity_bandits_service.core.tells import names_raters, read_tell
from affinity_bandits_service.http.auth import (
    KEYED,
    ApiRoute,
    Asking,
    Body,
    Cursor,
    HotRoute,
    Limit,
    Managing,
    Reading,
    Telling,
    from_cursor,
    reply,
    to_cursor,
)
from affinity_bandits_service.http.errors import ALWAYS, refusals

EVENTS_AT_ONCE = 20
"""Events that are read together: with 10,000 answers each, more of them would keep others
waiting."""

campaign_routes = APIRouter(
    prefix="/v1/campaigns", tags=["campaigns"], route_class=ApiRoute, responses=refusals(*ALWAYS)
)


@campaign_routes.post(
    "",
    status_code=201,
    response_model=messages.Campaign,
    responses=refusals(409),
    openapi_extra=KEYED,
)
async def create_campaign(call: Managing, body: Body[messages.CreateCampaign]) -> Response:
    """Create a campaign and open its first round."""
    key = call.key()
    await call.parts.quotas.check_all(call.tenant)
    # A policy for a thousand groups takes a while to make, and there are asks to serve.
    spec = await asyncio.to_thread(read_spec, body)
    campaign = await call.parts.campaigns.create(
        call.tenant, spec, key=key, actor=call.principal.actor
    )
    place = {"location": f"/v1/campaigns/{campaign}"}
    return reply(await call.parts.queries.campaign(call.tenant, campaign), key, place, 201)


@campaign_routes.get("")
async def list_campaigns(
    call: Reading, cursor: Cursor = None, limit: Limit = 100
) -> messages.CampaignPage:
    """List campaigns, oldest first."""
    found, following = await call.parts.reads.campaigns(call.tenant, from_cursor(cursor), limit)
    return messages.CampaignPage(items=tuple(found), next=to_cursor(following))


@campaign_routes.get("/{campaign}", responses=refusals(404))
async def get_campaign(campaign: UUID, call: Reading) -> messages.Campaign:
    """Get a campaign."""
    return await call.parts.queries.campaign(call.tenant, campaign)


@campaign_routes.post(
    "/{campaign}/stop",
    response_model=messages.Campaign,
    responses=refusals(404, 409),
    openapi_extra=KEYED,
)
async def stop_campaign(campaign: UUID, call: Managing) -> Response:
    """Stop a campaign: it hands out no more slots, but answers to leased slots still count."""
    key = call.key()
    await call.parts.campaigns.stop(call.tenant, campaign, actor=call.principal.actor, key=key)
    return reply(await call.parts.queries.campaign(call.tenant, campaign), key)


@campaign_routes.post(
    "/{campaign}/judges",
    response_model=messages.Campaign,
    responses=refusals(404, 409),
    openapi_extra=KEYED,
)
async def name_judges(campaign: UUID, call: Managing, body: Body[messages.NameJudges]) -> Response:
    """Name who judges the round that waits, which opens it, or the one after the open round."""
    key = call.key()
    names = await call.backend.names(call.tenant, campaign)
    naming = Naming(read_judges(body, names), body.round, key, call.principal.actor)
    await call.parts.campaigns.name_judges(call.tenant, campaign, naming)
    return reply(await call.parts.queries.campaign(call.tenant, campaign), key)


@campaign_routes.get("/{campaign}/rounds", responses=refusals(404))
async def list_rounds(
    campaign: UUID, call: Reading, cursor: Cursor = None, limit: Limit = 100
) -> messages.RoundPage:
    """List closed rounds, with the sums they were decided from."""
    found, following = await call.parts.reads.rounds(
        call.tenant, campaign, from_cursor(cursor), limit
    )
    return messages.RoundPage(items=tuple(found), next=to_cursor(following))


@campaign_routes.get("/{campaign}/events", responses=refusals(404))
async def list_events(
    campaign: UUID, call: Reading, cursor: Cursor = None, limit: Limit = 100
) -> messages.EventPage:
    """List the events of the audit trail; fewer than wanted where they have many answers."""
    items: list[messages.Event] = []
    size, position = 0, from_cursor(cursor)
    while True:
        some = min(limit - len(items), EVENTS_AT_ONCE)
        found, following = await call.parts.reads.events(call.tenant, campaign, position, some)
        items += found
        size += sum(len(one.data.get("units") or ()) for one in found)
        position = following
        if following is None or len(items) >= limit or size > MOST_ANSWERS:
            return messages.EventPage(items=tuple(items), next=to_cursor(following))


slot_routes = APIRouter(
    prefix="/v1/campaigns/{campaign}",
    tags=["slots"],
    route_class=HotRoute,
    responses=refusals(*ALWAYS, 404, 409),
)


@slot_routes.post("/ask", response_model=messages.Asked, openapi_extra=KEYED)
async def ask(campaign: UUID, call: Asking, body: Body[messages.Ask]) -> Response:
    """Lease slots of the open round, or learn why there are none."""
    key = call.key()
    found = await call.parts.batcher.ask(
        call.tenant, campaign, SlotAsk(body.count, key, call.principal.actor, body.listed)
    )
    if isinstance(found, messages.Lease):
        call.metrics.leases.inc()
    if isinstance(found, messages.Wait):
        return reply(found, key, {"retry-after": str(math.ceil(found.retry_after))})
    return reply(found, key)


@slot_routes.post("/tell", response_model=messages.Told, openapi_extra=KEYED)
async def tell(campaign: UUID, call: Telling, body: Body[messages.Tell]) -> Response:
    """Report the scores of slots of a lease."""
    key = call.key()
    names: tuple[str, ...] = ()
    if body.totals is not None or names_raters(body):
        names = await call.backend.names(call.tenant, campaign)
    told = await call.parts.batcher.tell(
        call.tenant, campaign, read_tell(body, key, call.principal.actor, names)
    )
    call.metrics.count_told(told)
    return reply(told, key)


@slot_routes.post("/ask-block", response_model=messages.AskedBlock, openapi_extra=KEYED)
async def ask_block(campaign: UUID, call: Asking, body: Body[messages.AskBlock]) -> Response:
    """Get a block for one rater to score, or learn why there is none."""
    key = call.key()
    found = await call.parts.campaigns.ask_block(
        call.tenant, campaign, read_block_ask(body, key, call.principal.actor)
    )
    if isinstance(found, messages.Block):
        call.metrics.leases.inc()
    if isinstance(found, messages.Wait):
        return reply(found, key, {"retry-after": str(math.ceil(found.retry_after))})
    return reply(found, key)


@slot_routes.post("/tell-block", response_model=messages.Told, openapi_extra=KEYED)
async def tell_block(campaign: UUID, call: Telling, body: Body[messages.TellBlock]) -> Response:
    """Report all scores of a block; they count together or not at all."""
    key = call.key()
    told = await call.parts.campaigns.tell_block(
        call.tenant, campaign, read_block_tell(body, key, call.principal.actor)
    )
    call.metrics.count_told(told)
    return reply(told, key)


@slot_routes.post("/release", response_model=messages.Released, openapi_extra=KEYED)
async def release(campaign: UUID, call: Asking, body: Body[messages.Release]) -> Response:
    """Give back a lease before it expires, so that others can have its slots."""
    key = call.key()
    slots = await call.parts.campaigns.release(
        call.tenant, campaign, body.lease, actor=call.principal.actor, key=key
    )
    return reply(messages.Released(released=slots), key)


SECRET = {"cache-control": "no-store"}
webhook_routes = APIRouter(
    prefix="/v1/webhooks", tags=["webhooks"], route_class=ApiRoute, responses=refusals(*ALWAYS)
)


@webhook_routes.post(
    "", status_code=201, response_model=messages.MadeWebhook, responses=refusals(409)
)
async def create_webhook(call: Managing, body: Body[messages.CreateWebhook]) -> Response:
    """Make a webhook; its secret is in the reply and cannot be shown again."""
    actor = call.principal.actor  # a session stands for its key, which is what may leak
    id_, secret = await call.parts.webhooks.add(call.tenant, body.url, body.kinds, actor)
    made = messages.MadeWebhook(id=str(id_), secret=secret)
    return Response(made.encoded(), 201, SECRET, messages.JSON)


@webhook_routes.get("")
async def list_webhooks(call: Managing) -> messages.WebhookList:
    """List the tenant's webhooks, with how many notices wait and how many are dead."""
    found = await call.parts.webhooks.list(call.tenant)
    items = tuple(messages.Webhook(**one | {"id": str(one["id"])}) for one in found)
    return messages.WebhookList(items=items)


@webhook_routes.post("/{webhook}/remove", responses=refusals(404))
async def remove_webhook(webhook: UUID, call: Managing) -> messages.RemovedWebhook:
    """Remove a webhook with all notices that it is still owed."""
    await call.parts.webhooks.remove(call.tenant, webhook)
    return messages.RemovedWebhook(removed=str(webhook))


@webhook_routes.post("/{webhook}/retry", responses=refusals(404))
async def retry_webhook(webhook: UUID, call: Managing) -> messages.Retried:
    """Try dead notices again, from the oldest on, before those that came after them."""
    return messages.Retried(retried=await call.parts.webhooks.retry(call.tenant, webhook))
