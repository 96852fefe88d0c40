"""Ask and tell: the two routes that live traffic waits for."""

from __future__ import annotations

import math
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from affinity_bandits.service.campaigns import Ask
from affinity_bandits.service.records import Lease, Wait
from affinity_bandits.service.web.answers import FinishedForm, LeaseForm, ToldForm, WaitForm
from affinity_bandits.service.web.backend import Backend
from affinity_bandits.service.web.bodies import AskBody, TellBody, to_tell
from affinity_bandits.service.web.forms import json_response, lease_form, nothing_form, told_form
from affinity_bandits.service.web.metrics import Metrics
from affinity_bandits.service.web.requests import HEADER, key_of, principal_of


def slot_routes(backend: Backend, metrics: Metrics) -> APIRouter:
    """Return the routes.

    They read their bodies themselves, which spares a second pass over them; `description`
    describes the bodies all the same.
    """
    router = APIRouter(prefix="/v1/campaigns/{campaign}", tags=["slots"])

    @router.post("/ask", response_model=LeaseForm | WaitForm | FinishedForm)
    async def ask(campaign: UUID, request: Request) -> Response:
        """Lease slots of the open round, or learn why there are none."""
        principal, key = principal_of(request), key_of(request)
        body = AskBody.model_validate_json(await request.body())
        wish = Ask(body.count, key, principal.key_id)
        found = await backend.parts.combiner.ask(principal.tenant, campaign, wish)
        headers = {HEADER: key}
        if isinstance(found, Lease):
            metrics.leases.inc()
            names = await backend.names(principal.tenant, campaign)
            return json_response(lease_form(found, names, listed=body.listed), headers=headers)
        if isinstance(found, Wait):
            headers["retry-after"] = str(math.ceil(found.retry_after))
        return json_response(nothing_form(found), headers=headers)

    @router.post("/tell", response_model=ToldForm)
    async def tell(campaign: UUID, request: Request) -> Response:
        """Answer slots of a lease."""
        principal, key = principal_of(request), key_of(request)
        body = TellBody.model_validate_json(await request.body())
        names: tuple[str, ...] = ()
        if body.totals is not None:
            names = await backend.names(principal.tenant, campaign)
        told = await backend.parts.combiner.tell(
            principal.tenant, campaign, to_tell(body, key, principal.key_id, names)
        )
        metrics.told(told.counted, told.late, told.duplicate)
        return json_response(told_form(told), headers={HEADER: key})

    return router
