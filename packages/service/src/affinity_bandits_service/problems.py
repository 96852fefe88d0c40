"""Errors that the service reports to callers: a table of them, and classes of those caught."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from affinity_bandits.base.errors import AffinityError


class ProblemType(NamedTuple):
    """A type of problem (RFC 9457).

    Attributes:
        code: a stable word for programs.
        status: the HTTP status.
        title: the meaning of the code.
        detail: the problem in one case, with a place for each argument.
        headers: further headers of the response.
    """

    code: str
    status: int
    title: str
    detail: str = "{}"
    headers: Mapping[str, str] = {}


TOO_MANY = ProblemType(
    *("too_many", 429, "Too many requests"),
    "this API key may make {:g} requests a second, where every line counts; try again in {} s",
)
TOO_MANY_REFUSALS = ProblemType(
    *("too_many_refusals", 429, "Too many requests without a good API key"),
    "too many requests from this address had no API key in use; check the key, and try again in"
    " {} s",
)
QUOTA_USED_UP = ProblemType(
    *("quota", 429, "Quota of the tenant used up"),
    "{0} of this tenant must be at most {1:,}, and are {2:,}; let whoever runs the service archive"
    " finished campaigns, or raise the limit with 'affinity serve quotas'",
    {"retry-after": "60"},
)
NO_SUCH_CAMPAIGN = ProblemType(
    "no_such_campaign", 404, "No such campaign", "there is no campaign {}"
)
NO_SUCH_LEASE = ProblemType(
    *("no_such_lease", 404, "No such lease"),
    "lease must be one that this campaign granted, got {}",
)
NOT_TELLER = ProblemType(
    *("not_teller", 403, "Lease of another API key"),
    "lease {0} was taken with another API key, and this one ({1}) is not among the campaign's"
    " tellers; answer with the key that asked, or ask and tell in a campaign that was made with"
    " tellers = ['{1}'], or 'any' for all keys of the tenant",
)
NOT_HOLDER = NOT_TELLER._replace(
    detail="lease {0} was taken with another API key, and only that key can give it back; its"
    " slots are offered again when it expires"
)
NO_SUCH_WEBHOOK = ProblemType("no_such_webhook", 404, "No such webhook", "there is no webhook {}")
TOO_MANY_WEBHOOKS = ProblemType(
    *("too_many_webhooks", 409, "Too many webhooks"),
    "a tenant must have at most {:,} webhooks: remove one first",
)
KEY_REUSED = ProblemType(
    *("key_reused", 409, "Idempotency key used before"),
    "the idempotency key came before with another request; repeat a request unchanged, or send a"
    " new one with a new key",
)
NOT_LEASED = ProblemType(
    *("not_leased", 422, "Not part of the lease"), "every answer must be for a slot of lease {}"
)
SCORE_OUT_OF_RANGE = ProblemType(
    *("score_out_of_range", 422, "Score out of range"),
    "every score must be from {} to {}, the campaign's range, got {}",
)
GIVES_BLOCKS = ProblemType(
    *("gives_blocks", 409, "The campaign hands out blocks"),
    "this campaign hands out blocks, each of which one rater scores: ask for one with ask-block and"
    " tell its scores with tell-block",
)
GIVES_SLOTS = ProblemType(
    *("gives_slots", 409, "The campaign hands out no blocks"),
    "the policy of this campaign, {}, takes single answers, so use ask and tell; campaigns of"
    " neutral-elimination and crossed-elimination hand out blocks",
)
BLOCK_IN_PART = ProblemType(
    *("block_in_part", 422, "Not all scores of a block"),
    "scores must be all {} of block {} at once, got {}, because a block that is answered in part"
    " counts nothing; release it if its rater cannot finish",
)
BLOCK_ANSWERED = ProblemType(
    *("block_answered", 409, "The block has other scores"),
    "block {} was answered before with other scores, which stay; a block is answered once",
)
OTHER_GROUP = ProblemType(
    *("other_group", 409, "The rater is of another group"),
    "rater {} took blocks before as a member of {}, and not of {}: a rater whose group is wrong may"
    " score their own group",
)
JUDGES_NOT_ASKED = ProblemType(
    *("judges_not_asked", 409, "The campaign does not ask who judges"),
    "judges must be named for a campaign that is open and is told who judges; {}",
)
JUDGES_SETTLED = ProblemType(
    *("judges_settled", 409, "Who judges this round is settled"),
    "the {} of round {} is settled, since the round is open; name the next one with round = {}",
)
NEEDS_ATTENTION = ProblemType(
    *("needs_attention", 500, "The campaign needs attention"),
    "campaign {} needs the attention of whoever runs the service: {}; whatever was acknowledged is"
    " kept",
)
UNAVAILABLE = ProblemType(
    *("unavailable", 503, "Try again"),
    "the database did not answer; repeat the request with the same key",
    {"retry-after": "1"},
)


class ServiceProblem(AffinityError):  # noqa: N818 - named after the media type that carries it
    """An error that is reported to the caller as a problem.

    Args:
        kind: its row of a table.
        parts: the arguments of the row's detail.
        headers: further headers of the response, in place of the row's.
    """

    def __init__(
        self, kind: ProblemType, *parts: object, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(kind.detail.format(*parts))
        self.code, self.status, self.title = kind.code, kind.status, kind.title
        self.headers = kind.headers if headers is None else headers


class TooMany(ServiceProblem):
    """The API key exceeds its rate of requests."""

    def __init__(self, rate: float, seconds: float) -> None:
        wait = _whole_seconds(seconds)
        super().__init__(TOO_MANY, rate, wait, headers={"retry-after": str(wait)})


class TooManyRefusals(ServiceProblem):
    """Too many requests from one address had a missing or bad API key."""

    def __init__(self, seconds: float) -> None:
        wait = _whole_seconds(seconds)
        super().__init__(TOO_MANY_REFUSALS, wait, headers={"retry-after": str(wait)})


class NoSuchCampaign(ServiceProblem):
    """The id is unknown to the tenant, or of another tenant's campaign."""

    def __init__(self, campaign: UUID | str) -> None:
        super().__init__(NO_SUCH_CAMPAIGN, campaign)


class NeedsAttention(ServiceProblem):
    """A fault of the service that concerns one campaign; `__cause__` is the error behind it.

    Args:
        campaign: its id.
        kind: a key of `faults.REASONS`.
        reason: the problem in fixed words, free of data.
    """

    def __init__(self, campaign: UUID, kind: str, reason: str) -> None:
        self.campaign = campaign
        self.kind = kind
        self.reason = reason
        super().__init__(NEEDS_ATTENTION, campaign, reason)


class Unavailable(ServiceProblem):
    """The database did not answer, so whether the request was carried out is unknown."""

    def __init__(self, kind: ProblemType = UNAVAILABLE, *parts: object) -> None:
        super().__init__(kind, *parts)


def _whole_seconds(seconds: float) -> int:
    return max(1, math.ceil(seconds))
