"""Messages about webhooks: how to make one, and what it is owed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from affinity_bandits.wire.base import Body, Message, Moment

__all__ = ["CreateWebhook", "MadeWebhook", "RemovedWebhook", "Retried", "Webhook", "WebhookList"]

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
