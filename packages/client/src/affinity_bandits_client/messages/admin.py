"""Messages about webhooks, and the signature of their notices."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from typing import Annotated, Literal

from pydantic import Field

from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.messages.base import Body, Message, Moment

__all__ = [
    "SIGNATURE",
    "CreateWebhook",
    "MadeWebhook",
    "RemovedWebhook",
    "Retried",
    "Webhook",
    "WebhookList",
    "check_notice",
    "signature",
]


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
