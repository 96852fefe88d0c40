"""Errors that the service reports to callers, each with its HTTP status and code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar
from uuid import UUID

from affinity_bandits.errors import AffinityError


class ServiceProblem(AffinityError):  # noqa: N818 - named after the media type that carries it
    """An error that is reported to the caller as a problem (RFC 9457).

    Attributes:
        code: a stable word for programs.
        status: the HTTP status.
        title: the meaning of the code.
        detail: the problem in this case, with a place for each argument.
        headers: further headers of the response.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    detail: ClassVar[str] = "{}"
    headers: Mapping[str, str] = {}

    def __init__(self, *parts: object) -> None:
        super().__init__(self.detail.format(*parts))


class TooMany(ServiceProblem):
    """The API key exceeds its rate of requests."""

    code, status, title = "too_many", 429, "Too many requests"
    detail = (
        "this API key may make {:g} requests a second, where every line counts; try again in {} s"
    )

    def __init__(self, *parts: float) -> None:
        *rate, seconds = parts
        wait = max(1, math.ceil(seconds))
        super().__init__(*rate, wait)
        self.headers = {"retry-after": str(wait)}


class TooManyRefusals(TooMany):
    """Too many requests from one address had a missing or bad API key."""

    code, status, title = "too_many_refusals", 429, "Too many requests without a good API key"
    detail = (
        "too many requests from this address had no API key in use; check the key, and try again"
        " in {} s"
    )


class QuotaUsedUp(ServiceProblem):
    """The tenant has as many campaigns, events or bytes as it may have."""

    code, status, title = "quota", 429, "Quota of the tenant used up"
    detail = (
        "{0} of this tenant must be at most {1:,}, and are {2:,}; let whoever runs the service"
        " archive finished campaigns, or raise the limit with 'affinity serve quotas'"
    )
    headers: Mapping[str, str] = {"retry-after": "60"}


class NoSuchCampaign(ServiceProblem):
    """The id is unknown to the tenant, or of another tenant's campaign."""

    code, status, title = "no_such_campaign", 404, "No such campaign"
    detail = "there is no campaign {}"


class NoSuchLease(ServiceProblem):
    """The lease's number is unknown to the campaign."""

    code, status, title = "no_such_lease", 404, "No such lease"
    detail = "lease must be one that this campaign granted, got {}"


class NotTeller(ServiceProblem):
    """A lease is answered with an API key that neither took it nor is named by the campaign."""

    code, status, title = "not_teller", 403, "Lease of another API key"
    detail = (
        "lease {0} was taken with another API key, and this one ({1}) is not among the campaign's "
        "tellers; answer with the key that asked, or ask and tell in a campaign that was made with "
        "tellers = ['{1}'], or 'any' for all keys of the tenant"
    )


class NotHolder(NotTeller):
    """A lease is given back with another API key than the one that took it."""

    detail = (
        "lease {0} was taken with another API key, and only that key can give it back; its slots "
        "are offered again when it expires"
    )


class NoSuchWebhook(ServiceProblem):
    """The id is unknown to the tenant, or of another tenant's webhook."""

    code, status, title = "no_such_webhook", 404, "No such webhook"
    detail = "there is no webhook {}"


class TooManyWebhooks(ServiceProblem):
    """The tenant has as many webhooks as it may have."""

    code, status, title = "too_many_webhooks", 409, "Too many webhooks"
    detail = "a tenant must have at most {:,} webhooks: remove one first"


class KeyReused(ServiceProblem):
    """The idempotency key was used before, with another request."""

    code, status, title = "key_reused", 409, "Idempotency key used before"
    detail = (
        "the idempotency key came before with another request; repeat a request unchanged, "
        "or send a new one with a new key"
    )


class NotLeased(ServiceProblem):
    """A tell has answers to slots outside its lease."""

    code, status, title = "not_leased", 422, "Not part of the lease"
    detail = "every answer must be for a slot of lease {}"


class ScoreOutOfRange(ServiceProblem):
    """A score is outside the campaign's range."""

    code, status, title = "score_out_of_range", 422, "Score out of range"
    detail = "every score must be from {} to {}, the campaign's range, got {}"


class JudgesNotAsked(ServiceProblem):
    """Judges were named for a campaign that does not ask for them, or has ended."""

    code, status, title = "judges_not_asked", 409, "The campaign does not ask who judges"
    detail = "judges must be named for a campaign that is open and is told who judges; {}"


class JudgesSettled(ServiceProblem):
    """Judges were named for a round that is open, and others judge it."""

    code, status, title = "judges_settled", 409, "Who judges this round is settled"
    detail = (
        "the {} of round {} is settled, since the round is open; name the next one with round = {}"
    )


class NeedsAttention(ServiceProblem):
    """A fault of the service that concerns one campaign; `__cause__` is the error behind it.

    Args:
        campaign: its id.
        kind: a key of `faults.REASONS`.
        reason: the problem in fixed words, free of data.
    """

    code, status, title = "needs_attention", 500, "The campaign needs attention"
    detail = (
        "campaign {} needs the attention of whoever runs the service: {}; "
        "whatever was acknowledged is kept"
    )

    def __init__(self, campaign: UUID, kind: str, reason: str) -> None:
        self.campaign = campaign
        self.kind = kind
        self.reason = reason
        super().__init__(campaign, reason)


class Unavailable(ServiceProblem):
    """The database did not answer, so whether the request was carried out is unknown."""

    code, status, title = "unavailable", 503, "Try again"
    detail = "the database did not answer; repeat the request with the same key"
    headers: Mapping[str, str] = {"retry-after": "1"}
