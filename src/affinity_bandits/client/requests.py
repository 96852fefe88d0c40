"""Every request of the client as a value: what is sent, and how its answer is read.

A writing request carries its idempotency key from the start, so however often it is sent, it is
carried out once.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import UUID

from affinity_bandits.client import answers
from affinity_bandits.client.answers import Page
from affinity_bandits.client.messages import (
    Campaign,
    ClosedRound,
    Event,
    Finished,
    Lease,
    Scores,
    Told,
    ToldLine,
    Total,
    Wait,
)
from affinity_bandits.client.retries import TRANSIENT, Lost, Reply
from affinity_bandits.client.values import listed, whole
from affinity_bandits.errors import InvalidInput

T = TypeVar("T")
AnyCampaign = Campaign | UUID | str
"""A campaign, or its id."""
AnyPolicy = Mapping[str, Any] | str
"""A policy's name, or its name and settings."""

LARGEST_COUNT = 10_000
LARGEST_HORIZON = 10**15
LONGEST_KEY = 200
ROOM_FOR_LINE = 20
"""Characters of a key that are kept free for the number of a line."""
LARGEST_PART = 2**20
"""Bytes of many tells that are sent at once."""
PAGE = 200


@dataclass(frozen=True)
class Request(Generic[T]):
    """What is sent, and how the answer is read.

    Attributes:
        method: of HTTP.
        path: under the service's address.
        read: from the body of a good answer to a record.
        params: what follows the path.
        content: the body.
        key: the idempotency key; None where nothing is changed.
        media_type: of the body.
    """

    method: str
    path: str
    read: Callable[[bytes], T]
    params: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    key: str | None = None
    media_type: str = "application/json"

    def parts(self) -> dict[str, Any]:
        """Return what httpx is told to send."""
        sent: dict[str, Any] = {"method": self.method, "url": self.path, "params": self.params}
        if self.key is None:
            return sent
        headers = {"Idempotency-Key": self.key, "Content-Type": self.media_type}
        return sent | {"headers": headers, "content": self.content}

    def transient(self, outcome: Reply | Lost) -> bool:
        """Return whether the same request may go better the next time."""
        return isinstance(outcome, Lost) or outcome.status in TRANSIENT


@dataclass(frozen=True)
class BulkRequest(Request[list[ToldLine]]):
    """Many tells at once: each line has a status of its own."""

    def transient(self, outcome: Reply | Lost) -> bool:
        if super().transient(outcome):
            return True
        assert isinstance(outcome, Reply)
        if outcome.status != 200:
            return False
        try:
            return any(one.status in TRANSIENT for one in self.read(outcome.content))
        except (KeyError, TypeError, ValueError):
            return False  # said when the answer is read for good


def create_campaign(
    name: str,
    arms: Sequence[str],
    policy: AnyPolicy | None,
    plan: str | None,
    horizon: int | None,
    settings: Mapping[str, float | None],
    key: str | None,
) -> Request[Campaign]:
    """Open a campaign."""
    if (policy is None) == (plan is None):
        given = "neither" if policy is None else "both"
        raise InvalidInput("policy", "given, or else plan, and not both", given)
    body: dict[str, Any] = {"name": name, "arms": listed("arms", arms, "a list of names")}
    if plan is not None:
        body["plan"] = plan
    else:
        body["policy"] = {"name": policy} if isinstance(policy, str) else dict(policy or {})
    if horizon is not None:
        body["horizon"] = whole("horizon", horizon, low=1, high=LARGEST_HORIZON)
    body |= {setting: value for setting, value in settings.items() if value is not None}
    return _post("/v1/campaigns", body, key, answers.campaign)


def campaign(which: AnyCampaign) -> Request[Campaign]:
    """Look at a campaign."""
    return Request("GET", _path(which), answers.campaign)


def campaigns(cursor: str | None) -> Request[Page[Campaign]]:
    """Look at a page of campaigns."""
    return Request("GET", "/v1/campaigns", answers.campaigns, _from(cursor))


def rounds(which: AnyCampaign, cursor: str | None) -> Request[Page[ClosedRound]]:
    """Look at a page of a campaign's closed rounds."""
    return Request("GET", _path(which, "/rounds"), answers.rounds, _from(cursor))


def events(which: AnyCampaign, cursor: str | None) -> Request[Page[Event]]:
    """Look at a page of a campaign's audit trail."""
    return Request("GET", _path(which, "/events"), answers.events, _from(cursor))


def ask(which: AnyCampaign, count: int, key: str | None) -> Request[Lease | Wait | Finished]:
    """Ask for slots; they come as runs, which are shorter than a list."""
    wanted = whole("count", count, low=1, high=LARGEST_COUNT)
    return _post(
        _path(which, "/ask"),
        {"count": wanted, "listed": False},
        key,
        partial(answers.asked, campaign_id(which)),
    )


def tell(lease: Lease, scores: Scores, key: str | None) -> Request[Told]:
    """Answer slots one by one."""
    return _post(_path(lease.campaign, "/tell"), _answers(lease, scores), key, answers.told)


def tell_totals(lease: Lease, totals: Iterable[Total], key: str | None) -> Request[Told]:
    """Answer a lease with the sums of its groups."""
    body = {"lease": lease.number, "totals": [asdict(one) for one in totals]}
    return _post(_path(lease.campaign, "/tell"), body, key, answers.told)


def tell_many(
    tells: Iterable[tuple[Lease, Scores]], key: str | None
) -> Iterator[Request[list[ToldLine]]]:
    """Answer slots of many leases of one campaign, in as many requests as their size asks for.

    A line's key depends on its place among all lines, not on how they are cut into requests.
    """
    chosen = _key(key, longest=LONGEST_KEY - ROOM_FOR_LINE)
    which: str | None = None
    part: list[bytes] = []
    first, size = 1, 0
    for line, (lease, scores) in enumerate(tells, start=1):
        if which is not None and lease.campaign != which:
            raise InvalidInput("tells", f"of one campaign ({which})", lease.campaign)
        which = lease.campaign
        text = _json(_answers(lease, scores) | {"key": f"{chosen}:{line}"}) + b"\n"
        if part and size + len(text) > LARGEST_PART:
            yield _bulk(which, part, first, chosen)
            part, first, size = [], line, 0
        part.append(text)
        size += len(text)
    if which is not None:
        yield _bulk(which, part, first, chosen)


def stop(which: AnyCampaign, key: str | None) -> Request[Campaign]:
    """Hand out nothing more."""
    return _post(_path(which, "/stop"), {}, key, answers.campaign)


def campaign_id(which: AnyCampaign) -> str:
    """Return the id of a campaign."""
    given = which.id if isinstance(which, Campaign) else which
    try:
        return str(UUID(str(given)))
    except ValueError:
        raise InvalidInput("campaign", "a campaign or its id", given) from None


def _answers(lease: Lease, scores: Scores) -> dict[str, Any]:
    given = lease.answers(scores)
    return {
        "lease": lease.number,
        "answers": [{"slot": slot, "score": score} for slot, score in given.items()],
    }


def _bulk(which: str, part: list[bytes], first: int, key: str) -> Request[list[ToldLine]]:
    return BulkRequest(
        "POST",
        _path(which, "/tells"),
        partial(answers.told_lines, first=first, expected=len(part)),
        content=b"".join(part),
        key=f"{key}:{first}",
        media_type="application/x-ndjson",
    )


def _post(
    path: str, body: Mapping[str, Any], key: str | None, read: Callable[[bytes], T]
) -> Request[T]:
    return Request("POST", path, read, content=_json(body), key=_key(key))


def _key(given: str | None, longest: int = LONGEST_KEY) -> str:
    """Return the idempotency key that was given, or a new one."""
    if given is None:
        return uuid.uuid4().hex
    rule = f"1 to {longest} printable ASCII characters without spaces"
    if not isinstance(given, str) or not 1 <= len(given) <= longest:
        raise InvalidInput("key", rule, given)
    if not (given.isascii() and given.isprintable()) or " " in given:
        raise InvalidInput("key", rule, given)
    return given


def _path(which: AnyCampaign, rest: str = "") -> str:
    return f"/v1/campaigns/{campaign_id(which)}{rest}"


def _from(cursor: str | None) -> dict[str, str]:
    limit = {"limit": str(PAGE)}
    return limit if cursor is None else limit | {"cursor": cursor}


def _json(data: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput("request", "what JSON can say", str(error)) from None
