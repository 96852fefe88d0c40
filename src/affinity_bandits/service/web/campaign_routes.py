"""Campaigns: opened, looked at, stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from affinity_bandits.service.records import Campaign
from affinity_bandits.service.web.answers import (
    CampaignForm,
    CampaignsPage,
    EventsPage,
    RoundsPage,
)
from affinity_bandits.service.web.backend import Backend
from affinity_bandits.service.web.bodies import CampaignBody
from affinity_bandits.service.web.cursors import from_cursor, to_cursor
from affinity_bandits.service.web.forms import (
    campaign_form,
    event_form,
    json_response,
    round_form,
)
from affinity_bandits.service.web.requests import HEADER, key_of, principal_of

MOST_ITEMS = 200
Cursor = Annotated[str | None, Query(max_length=100, description="The 'next' of another page.")]
Limit = Annotated[int, Query(ge=1, le=MOST_ITEMS)]


def campaign_routes(backend: Backend) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"])

    async def forms(campaigns: Sequence[Campaign]) -> list[dict[str, Any]]:
        answers = await backend.parts.reading.answers(campaigns)
        return [campaign_form(one, answers[one.id]) for one in campaigns]

    async def shown(tenant: int, campaign: UUID) -> dict[str, Any]:
        return (await forms([await backend.parts.reading.campaign(tenant, campaign)]))[0]

    @router.post("", status_code=201, response_model=CampaignForm)
    async def create(request: Request) -> Response:
        """Open a campaign and its first round."""
        principal, key = principal_of(request), key_of(request)
        body = CampaignBody.model_validate_json(await request.body())
        # A plan for a thousand groups takes a while to read, and there are asks to answer.
        description = await asyncio.to_thread(body.description)
        campaign = await backend.parts.campaigns.create(
            principal.tenant, description, key=key, actor=principal.key_id
        )
        headers = {HEADER: key, "location": f"/v1/campaigns/{campaign}"}
        return json_response(await shown(principal.tenant, campaign), status=201, headers=headers)

    @router.get("", response_model=CampaignsPage)
    async def campaigns(request: Request, cursor: Cursor = None, limit: Limit = 100) -> Response:
        """List campaigns, oldest first."""
        items, following = await backend.parts.reading.campaigns(
            principal_of(request).tenant, from_cursor(cursor), limit
        )
        return json_response({"items": await forms(items), "next": to_cursor(following)})

    @router.get("/{campaign}", response_model=CampaignForm)
    async def campaign(campaign: UUID, request: Request) -> Response:
        """Look at a campaign."""
        return json_response(await shown(principal_of(request).tenant, campaign))

    @router.post("/{campaign}/stop", response_model=CampaignForm)
    async def stop(campaign: UUID, request: Request) -> Response:
        """Hand out nothing more; answers to what was handed out still count."""
        principal, key = principal_of(request), key_of(request)
        await backend.parts.campaigns.stop(
            principal.tenant, campaign, actor=principal.key_id, key=key
        )
        return json_response(await shown(principal.tenant, campaign), headers={HEADER: key})

    @router.get("/{campaign}/rounds", response_model=RoundsPage)
    async def rounds(
        campaign: UUID, request: Request, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List the rounds that were closed, with the sums they were decided from."""
        tenant = principal_of(request).tenant
        items, following = await backend.parts.reading.rounds(
            tenant, campaign, from_cursor(cursor), limit
        )
        names = await backend.names(tenant, campaign)
        return json_response(
            {"items": [round_form(one, names) for one in items], "next": to_cursor(following)}
        )

    @router.get("/{campaign}/events", response_model=EventsPage)
    async def events(
        campaign: UUID, request: Request, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List the audit trail."""
        items, following = await backend.parts.reading.events(
            principal_of(request).tenant, campaign, from_cursor(cursor), limit
        )
        return json_response(
            {"items": [event_form(one) for one in items], "next": to_cursor(following)}
        )

    return router
