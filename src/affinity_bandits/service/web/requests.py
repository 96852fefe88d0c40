"""What every route of the API takes from a request."""

from __future__ import annotations

from typing import cast

from fastapi import Request

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.idempotency import check_key, new_key
from affinity_bandits.service.keys import Principal

HEADER = "idempotency-key"


def principal_of(request: Request) -> Principal:
    """Return whoever the guard let in; without one there is no way on."""
    return cast(Principal, request.scope["principal"])


def key_of(request: Request) -> str:
    """Return the request's idempotency key, a new one if it has none."""
    found = [value for name, value in request.scope["headers"] if name == b"idempotency-key"]
    if not found:
        return new_key()
    key: str = found[0].decode("latin-1")
    if len(found) > 1:
        raise InvalidInput("Idempotency-Key", "sent once", key)
    check_key(key)
    return key
