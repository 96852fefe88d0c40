"""Declarations that routes share: scopes, cursors, JSON bodies, idempotency keys, replies."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, TypeVar

from fastapi import Query, Security
from pydantic import GetPydanticSchema
from pydantic_core import CoreSchema, core_schema
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.http.auth import Call, api_key
from affinity_bandits.wire.limits import IDEMPOTENCY_KEY, LONGEST_CURSOR, LONGEST_KEY, MOST_ITEMS

Asking = Annotated[Call, Security(api_key, scopes=["ask"])]
Telling = Annotated[Call, Security(api_key, scopes=["tell"])]
Reading = Annotated[Call, Security(api_key, scopes=["read"])]
Managing = Annotated[Call, Security(api_key, scopes=["admin"])]
ManagingKeys = Annotated[Call, Security(api_key, scopes=["keys"])]

Cursor = Annotated[
    str | None, Query(max_length=LONGEST_CURSOR, description="The 'next' of another page.")
]
Limit = Annotated[int, Query(ge=1, le=MOST_ITEMS)]

M = TypeVar("M")


def _from_json(kind: Any, handler: Any) -> CoreSchema:
    """Return a schema that parses JSON into a model in one pass; FastAPI alone needs two."""
    return core_schema.no_info_before_validator_function(kind.model_validate_json, handler(kind))


Body = Annotated[M, GetPydanticSchema(_from_json)]
"""A JSON body, of whatever content type."""

KEYED: dict[str, Any] = {
    "parameters": [
        {
            "name": IDEMPOTENCY_KEY,
            "in": "header",
            "required": False,
            "description": "A repeat with the same key has the same effect and reply as the first.",
            "schema": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_KEY,
                "pattern": "^[!-~]+$",
            },
        }
    ]
}
"""What a route that writes says of its idempotency key. Read by `Call.key`: as a header of
FastAPI's it would cost the hot path as much as the key and the scope together."""


def reply(
    message: wire.Message, key: str, headers: dict[str, str] | None = None, status: int = 200
) -> Response:
    """Return the response to a request that writes, with its idempotency key.

    Encoded here: FastAPI would validate it once more, for a tenth of the time that the process
    has for a request.
    """
    sent = {IDEMPOTENCY_KEY.lower(): key} | (headers or {})
    return Response(message.encoded(), status, sent, wire.JSON)


def to_cursor(position: int | None) -> str | None:
    """Return the position where a page begins as an opaque cursor.

    >>> to_cursor(17)
    'AAAAAAAAABE'
    """
    if position is None:
        return None
    return base64.urlsafe_b64encode(position.to_bytes(8, "big")).decode().rstrip("=")


def from_cursor(cursor: str | None) -> int | None:
    """Return the position that a cursor stands for.

    >>> from_cursor("AAAAAAAAABE")
    17
    """
    if cursor is None:
        return None
    try:
        data = base64.b64decode(cursor + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    position = int.from_bytes(data, "big")
    if len(data) != 8 or position >= 2**63:
        raise InvalidInput("cursor", "one that this service gave as 'next'", cursor)
    return position
