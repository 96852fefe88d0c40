"""Routes that create, show, list and stop campaigns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.service.core.judging import Naming
from affinity_bandits.service.core.records import Campaign
from affinity_bandits.service.http.auth import ApiRoute, Call
from affinity_bandits.service.http.errors import ALWAYS, refusals
from affinity_bandits.service.http.parameters import (
    KEYED,
    Body,
    Cursor,
    Limit,
    Managing,
    Reading,
    from_cursor,
    reply,
    to_cursor,
)
from affinity_bandits.service.http.translation import (
    campaign_message,
    judges_of,
    round_message,
    spec_of,
)
from affinity_bandits.wire.limits import MOST_ANSWERS

EVENTS_AT_ONCE = 20
"""Events that are read together: with 10,000 answers each, more of them would keep others
waiting."""

router = APIRouter(
    prefix="/v1/campaigns", tags=["campaigns"], route_class=ApiRoute, responses=refusals(*ALWAYS)
)


@router.post(
    "", status_code=201, response_model=wire.Campaign, responses=refusals(409), openapi_extra=KEYED
)
async def create_campaign(call: Managing, body: Body[wire.CreateCampaign]) -> Response:
    """Create a campaign and open its first round."""
    key = call.key()
    # Every group is stored, and looked at, for as long as there is the campaign.
    call.charge(len(body.arms), in_debt=False)
    # A policy for a thousand groups takes a while to make, and there are asks to serve.
    spec = await asyncio.to_thread(spec_of, body)
    campaign = await call.parts.campaigns.create(
        call.tenant, spec, key=key, actor=call.principal.actor
    )
    place = {"location": f"/v1/campaigns/{campaign}"}
    return reply(await _campaign(call, campaign), key, place, 201)


@router.get("")
async def list_campaigns(
    call: Reading, cursor: Cursor = None, limit: Limit = 100
) -> wire.CampaignPage:
    """List campaigns, oldest first."""
    found, following = await call.parts.queries.campaigns(call.tenant, from_cursor(cursor), limit)
    return wire.CampaignPage(items=await _messages(call, found), next=to_cursor(following))


@router.get("/{campaign}", responses=refusals(404))
async def get_campaign(campaign: UUID, call: Reading) -> wire.Campaign:
    """Get a campaign."""
    return await _campaign(call, campaign)


@router.post(
    "/{campaign}/stop",
    response_model=wire.Campaign,
    responses=refusals(404, 409),
    openapi_extra=KEYED,
)
async def stop_campaign(campaign: UUID, call: Managing) -> Response:
    """Stop a campaign: it hands out no more slots, but answers to leased slots still count."""
    key = call.key()
    await call.parts.campaigns.stop(call.tenant, campaign, actor=call.principal.actor, key=key)
    return reply(await _campaign(call, campaign), key)


@router.post(
    "/{campaign}/judges",
    response_model=wire.Campaign,
    responses=refusals(404, 409),
    openapi_extra=KEYED,
)
async def name_judges(campaign: UUID, call: Managing, body: Body[wire.NameJudges]) -> Response:
    """Name who judges the round that waits, which opens it, or the one after the open round."""
    key = call.key()
    names = await call.backend.names(call.tenant, campaign)
    naming = Naming(judges_of(body, names), body.round, key, call.principal.actor)
    await call.parts.campaigns.name_judges(call.tenant, campaign, naming)
    return reply(await _campaign(call, campaign), key)


@router.get("/{campaign}/rounds", responses=refusals(404))
async def list_rounds(
    campaign: UUID, call: Reading, cursor: Cursor = None, limit: Limit = 100
) -> wire.RoundPage:
    """List closed rounds, with the sums they were decided from."""
    found, following = await call.parts.queries.rounds(
        call.tenant, campaign, from_cursor(cursor), limit
    )
    names = await call.backend.names(call.tenant, campaign)
    items = tuple(round_message(one, names) for one in found)
    return wire.RoundPage(items=items, next=to_cursor(following))


@router.get("/{campaign}/events", responses=refusals(404))
async def list_events(
    campaign: UUID, call: Reading, cursor: Cursor = None, limit: Limit = 100
) -> wire.EventPage:
    """List the events of the audit trail; fewer than wanted where they have many answers."""
    items: list[wire.Event] = []
    size, position = 0, from_cursor(cursor)
    while True:
        some = min(limit - len(items), EVENTS_AT_ONCE)
        found, following = await call.parts.queries.events(call.tenant, campaign, position, some)
        items += found
        size += sum(len(one.data.get("units") or ()) for one in found)
        position = following
        if following is None or len(items) >= limit or size > MOST_ANSWERS:
            return wire.EventPage(items=tuple(items), next=to_cursor(following))


async def _messages(call: Call, found: Sequence[Campaign]) -> tuple[wire.Campaign, ...]:
    answers = await call.parts.queries.answers(found)
    return tuple(campaign_message(one, answers[one.id]) for one in found)


async def _campaign(call: Call, campaign: UUID) -> wire.Campaign:
    return (await _messages(call, [await call.parts.queries.campaign(call.tenant, campaign)]))[0]
