"""Messages about API keys: how to make one, and what may be shown of it."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from affinity_bandits.wire.base import Body, KeyId, Message, Moment, Name, given
from affinity_bandits.wire.campaigns import Page
from affinity_bandits.wire.limits import (
    FASTEST_RATE,
    LARGEST_LIMIT,
    SLOWEST_RATE,
    SMALLEST_LIMIT,
)

__all__ = ["ApiKey", "CreateKey", "KeyPage", "MadeKey", "RevokedKeys"]

Scope = Literal["ask", "tell", "read", "admin", "keys"]


class CreateKey(Body):
    """A new API key of the caller's tenant, which may do no more than the caller's own.

    What is left out is as the caller's own key has it.
    """

    name: Name
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=10)
    requests_per_second: float = given(ge=SLOWEST_RATE, le=FASTEST_RATE)
    largest_body: int = given(ge=SMALLEST_LIMIT, le=LARGEST_LIMIT)
    expires_at: AwareDatetime = given()


class ApiKey(Message):
    """What may be shown of an API key: everything but its secret."""

    id: KeyId
    name: str
    scopes: tuple[str, ...]
    requests_per_second: float
    largest_body: int
    created_at: Moment
    made_by: str | None = Field(description="The id of the key that made it, if one did.")
    expires_at: Moment | None
    revoked_at: Moment | None


class MadeKey(ApiKey):
    """An API key that was just made, with its text, which cannot be shown again."""

    key: str


class RevokedKeys(Message):
    """The ids of keys that a request revoked."""

    revoked: tuple[str, ...]


class KeyPage(Page[ApiKey]):
    """Keys, oldest first."""
