"""Routes that make, list and remove webhooks."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.service.http.auth import ApiRoute
from affinity_bandits.service.http.errors import ALWAYS, refusals
from affinity_bandits.service.http.parameters import Body, Managing
from affinity_bandits.service.http.routes.keys import SECRET

router = APIRouter(
    prefix="/v1/webhooks", tags=["webhooks"], route_class=ApiRoute, responses=refusals(*ALWAYS)
)


@router.post("", status_code=201, response_model=wire.MadeWebhook, responses=refusals(409))
async def create_webhook(call: Managing, body: Body[wire.CreateWebhook]) -> Response:
    """Make a webhook; its secret is in the reply and cannot be had again."""
    actor = call.principal.actor  # a session stands for its key, which is what may leak
    id_, secret = await call.parts.webhooks.add(call.tenant, body.url, body.kinds, actor)
    made = wire.MadeWebhook(id=str(id_), secret=secret)
    return Response(made.encoded(), 201, SECRET, wire.JSON)


@router.get("")
async def list_webhooks(call: Managing) -> wire.WebhookList:
    """List the tenant's webhooks, with how many notices wait and how many are dead."""
    found = await call.parts.webhooks.list(call.tenant)
    items = tuple(wire.Webhook(**one | {"id": str(one["id"])}) for one in found)
    return wire.WebhookList(items=items)


@router.post("/{webhook}/remove", responses=refusals(404))
async def remove_webhook(webhook: UUID, call: Managing) -> wire.RemovedWebhook:
    """Remove a webhook with all notices that it is still owed."""
    await call.parts.webhooks.remove(call.tenant, webhook)
    return wire.RemovedWebhook(removed=str(webhook))


@router.post("/{webhook}/retry", responses=refusals(404))
async def retry_webhook(webhook: UUID, call: Managing) -> wire.Retried:
    """Try dead notices again, from the oldest on, before those that came after them."""
    return wire.Retried(retried=await call.parts.webhooks.retry(call.tenant, webhook))
