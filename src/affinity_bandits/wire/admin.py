"""Messages about API keys and webhooks, and the signature of webhook notices."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire.base import (
    FASTEST_RATE,
    LARGEST_LIMIT,
    SLOWEST_RATE,
    SMALLEST_LIMIT,
    Body,
    KeyId,
    Message,
    Moment,
    Name,
    given,
)
from affinity_bandits.wire.campaigns import Page

__all__ = [
    "SIGNATURE",
    "ApiKey",
    "CreateKey",
    "CreateWebhook",
    "KeyPage",
    "MadeKey",
    "MadeWebhook",
    "RemovedWebhook",
    "Retried",
    "RevokedKeys",
    "Webhook",
    "WebhookList",
    "check_notice",
    "signature",
]


Scope = Literal["ask", "tell", "read", "admin", "keys"]


EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def _in_utc(at: datetime) -> datetime:
    """Return a moment in UTC, as it is stored. The ends of the calendar mean infinity there."""
    try:
        found = at.astimezone(UTC)
    except OverflowError:
        found = None
    if found is None or not EARLIEST <= found <= LATEST:
        rule = f"from {EARLIEST.isoformat()} to {LATEST.isoformat()}"
        raise ValueError(f"expires_at must be {rule}, got {at.isoformat()}")
    return found


class CreateKey(Body):
    """A new API key of the caller's tenant, with at most the rights of the caller's own.

    A member that is left out is as in the caller's own key.
    """

    name: Name
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=10)
    requests_per_second: float = given(ge=SLOWEST_RATE, le=FASTEST_RATE)
    largest_body: int = given(ge=SMALLEST_LIMIT, le=LARGEST_LIMIT)
    expires_at: Annotated[AwareDatetime, AfterValidator(_in_utc)] = given()


class ApiKey(Message):
    """An API key, without its secret."""

    id: KeyId
    name: str
    scopes: tuple[str, ...]
    requests_per_second: float
    largest_body: int
    created_at: Moment
    made_by: str | None = Field(description="The id of the key that made it, if one did.")
    expires_at: Moment | None
    revoked_at: Moment | None
    revoked_by: str | None = Field(
        description="The id of the key that revoked it, or who did so on the command line."
    )


class MadeKey(ApiKey):
    """An API key that was just made, with its text, which cannot be shown again."""

    key: str


class RevokedKeys(Message):
    """The ids of keys that a request revoked."""

    revoked: tuple[str, ...]


class KeyPage(Page[ApiKey]):
    """Keys, oldest first."""


NoticeKind = Literal["dropped", "decided", "exhausted", "attention", "standstill"]
WebhookId = Annotated[str, Field(json_schema_extra={"format": "uuid"})]


class CreateWebhook(Body):
    """Where notices of the tenant's campaigns are to be sent."""

    url: str = Field(min_length=1, max_length=2000)
    kinds: tuple[NoticeKind, ...] = Field(min_length=1, max_length=10)


class Webhook(Message):
    """A webhook, and how its notices fare."""

    id: WebhookId
    url: str
    kinds: tuple[str, ...]
    created_at: Moment
    created_by: str = Field(description="The id of the key that made it.")
    waiting: int = Field(description="Notices that are still to be received.")
    dead: int = Field(description="Notices that were given up; they can be tried again.")
    last_failure: str | None = Field(description="Why the last try failed, if it did.")


class MadeWebhook(Message):
    """A webhook that was just made, with its secret, which cannot be shown again."""

    id: WebhookId
    secret: str = Field(description="What its notices are signed with.")


class WebhookList(Message):
    """All webhooks of a tenant, oldest first."""

    items: tuple[Webhook, ...]


class RemovedWebhook(Message):
    """The webhook that a request removed."""

    removed: WebhookId


class Retried(Message):
    """How many dead notices are tried again."""

    retried: int


# The header that has the signature: t=<seconds since 1970>,v1=<hexadecimal digits>.
SIGNATURE = "Affinity-Signature"
OLDEST_SECONDS = 300.0
_FORM = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")


def signature(secret: str, body: bytes, at: float) -> str:
    """Return the signature of a notice that is sent at a time: HMAC-SHA256 of time and body."""
    moment = str(int(at))
    return f"t={moment},v1={_digest(secret, moment, body)}"


def check_notice(
    secret: str,
    header: str,
    body: bytes,
    *,
    oldest: float = OLDEST_SECONDS,
    now: float | None = None,
) -> None:
    """Check that a notice was sent by the service, recently and unchanged.

    Args:
        secret: the one that the service gave when the webhook was made.
        header: the value of the header `Affinity-Signature`.
        body: the body, byte for byte, before it is parsed.
        oldest: seconds for which a notice is accepted, against replays.
        now: seconds since 1970; by default the clock's.

    Raises:
        InvalidInput: the notice fails the check.
    """
    found = _FORM.fullmatch(header)
    if found is None:
        raise InvalidInput(SIGNATURE, "of the form t=...,v1=...", header)
    if not hmac.compare_digest(_digest(secret, found[1], body), found[2]):
        raise InvalidInput(SIGNATURE, "that of this body, by this secret", header)
    age = (time.time() if now is None else now) - int(found[1])
    if abs(age) > oldest:
        raise InvalidInput(SIGNATURE, f"of the last {oldest:g} seconds", header)


def _digest(secret: str, moment: str, body: bytes) -> str:
    signed = moment.encode() + b"." + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
