"""Routes that make, list and revoke the API keys of the caller's own tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.service.core.key_administration import keys_of, make_key_by, revoke_key_of
from affinity_bandits.service.http.auth import ApiRoute
from affinity_bandits.service.http.errors import ALWAYS, refusals
from affinity_bandits.service.http.parameters import (
    Body,
    Cursor,
    Limit,
    ManagingKeys,
    from_cursor,
    to_cursor,
)
from affinity_bandits.wire.limits import KEY_ID

router = APIRouter(
    prefix="/v1/keys", tags=["keys"], route_class=ApiRoute, responses=refusals(*ALWAYS)
)
KeyId = Annotated[str, Path(pattern=KEY_ID, description="Of the key: not its whole text.")]
WithMade = Annotated[bool, Query(description="Whether the keys that it made go with it.")]
SECRET = {"cache-control": "no-store"}


@router.post("", status_code=201, response_model=wire.MadeKey, responses=refusals(409))
async def create_key(call: ManagingKeys, body: Body[wire.CreateKey]) -> Response:
    """Make an API key; its text is in the reply and cannot be had again.

    There is no idempotency key: nobody could repeat the reply. Revoke a key whose reply was lost.
    """
    made = await make_key_by(call.parts.pool, call.principal, body)
    return Response(made.encoded(), 201, SECRET, wire.JSON)


@router.get("")
async def list_keys(call: ManagingKeys, cursor: Cursor = None, limit: Limit = 100) -> wire.KeyPage:
    """List the tenant's API keys, oldest first, without their secrets."""
    found, following = await keys_of(call.parts.pool, call.tenant, from_cursor(cursor), limit)
    return wire.KeyPage(items=found, next=to_cursor(following))


@router.post("/{key}/revoke", responses=refusals(404))
async def revoke_key(key: KeyId, call: ManagingKeys, made: WithMade = False) -> wire.RevokedKeys:
    """Take an API key out of use; every process knows within ten seconds."""
    revoked = await revoke_key_of(call.parts.pool, call.tenant, key, made=made)
    return wire.RevokedKeys(revoked=revoked)
