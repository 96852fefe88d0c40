"""What every route of the API takes from a request."""

from __future__ import annotations

from typing import cast

from fastapi import Request

from affinity_bandits.service.idempotency import check_key, new_key
from affinity_bandits.service.keys import Principal

HEADER = "idempotency-key"


def principal_of(request: Request) -> Principal:
    """Return whoever the guard let in; without one there is no way on."""
    return cast(Principal, request.scope["principal"])


def key_of(request: Request) -> str:
    """Return the request's idempotency key, a new one if it has none."""
    for name, value in request.scope["headers"]:
        if name == b"idempotency-key":
            key: str = value.decode("latin-1")
            check_key(key)
            return key
    return new_key()
