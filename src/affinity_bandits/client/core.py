"""Every request of the client as a value: what is sent, and how its reply is read.

A writing request carries its idempotency key from the start, so however often it is sent, it is
carried out once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import TypeAdapter

from affinity_bandits import wire
from affinity_bandits.client.retries import TRANSIENT, Lost, Reply
from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire import Campaign, Finished, Lease, Scores, Told, ToldLine, Total, Wait
from affinity_bandits.wire.limits import (
    IDEMPOTENCY_KEY,
    LARGEST_BODY,
    LARGEST_HORIZON,
    LARGEST_LEASE,
    LONGEST_KEY,
    MOST_ITEMS,
    ROOM_FOR_LINE,
)
from affinity_bandits.wire.values import check_key, listed, new_key, whole

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
AnyCampaign = Campaign | UUID | str
"""A campaign, or its id."""
AnyPolicy = Mapping[str, Any] | str
"""A policy's name, or its name and settings."""

LARGEST_PART = LARGEST_BODY
"""Bytes of many tells that are sent at once."""
PAGE = MOST_ITEMS
_read_asked: Callable[[bytes], Lease | Wait | Finished] = TypeAdapter(wire.Asked).validate_json


@dataclass(frozen=True)
class Request(Generic[T_co]):
    """What is sent, and how the reply is read.

    Attributes:
        method: of HTTP.
        path: under the service's address.
        read: from the body of a good reply to a message.
        params: what follows the path.
        content: the body.
        key: the idempotency key; None where nothing is changed.
        media_type: of the body.
    """

    method: str
    path: str
    read: Callable[[bytes], T_co]
    params: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    key: str | None = None
    media_type: str = wire.JSON

    def parts(self) -> dict[str, Any]:
        """Return what httpx is told to send."""
        sent: dict[str, Any] = {"method": self.method, "url": self.path, "params": self.params}
        if self.key is None:
            return sent
        headers = {IDEMPOTENCY_KEY: self.key, "Content-Type": self.media_type}
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
        except ValueError:
            return False  # said when the reply is read for good


def create_campaign(
    name: str,
    arms: Sequence[str],
    policy: AnyPolicy | None,
    plan: str | Path | None,
    horizon: int | None,
    settings: Mapping[str, float | None],
    key: str | None,
) -> Request[Campaign]:
    """Make a campaign."""
    if policy is not None and plan is not None:
        raise InvalidInput("policy", "given, or else plan, and not both", "both")
    members: dict[str, Any] = {
        setting: value for setting, value in settings.items() if value is not None
    }
    if plan is not None:
        members["plan"] = wire.Plan.from_toml(plan)
    if policy is not None:
        members["policy"] = {"name": policy} if isinstance(policy, str) else dict(policy)
    if horizon is not None:
        members["horizon"] = whole("horizon", horizon, low=1, high=LARGEST_HORIZON)
    names = tuple(listed("arms", arms, "a list of names"))
    body = wire.CreateCampaign.checked(name=name, arms=names, **members)
    return _post("/v1/campaigns", body, key, Campaign.model_validate_json)


def campaign(which: AnyCampaign) -> Request[Campaign]:
    """Look at a campaign."""
    return Request("GET", _path(which), Campaign.model_validate_json)


def campaigns(cursor: str | None) -> Request[wire.CampaignPage]:
    """Look at a page of campaigns."""
    return _page("/v1/campaigns", wire.CampaignPage.model_validate_json, cursor)


def rounds(which: AnyCampaign, cursor: str | None) -> Request[wire.RoundPage]:
    """Look at a page of a campaign's closed rounds."""
    return _page(_path(which, "/rounds"), wire.RoundPage.model_validate_json, cursor)


def events(which: AnyCampaign, cursor: str | None) -> Request[wire.EventPage]:
    """Look at a page of a campaign's audit trail."""
    return _page(_path(which, "/events"), wire.EventPage.model_validate_json, cursor)


def ask(which: AnyCampaign, count: int, key: str | None) -> Request[Lease | Wait | Finished]:
    """Ask for slots; they come as runs, which are shorter than a list."""
    body = wire.Ask(count=whole("count", count, low=1, high=LARGEST_LEASE), listed=False)
    return _post(_path(which, "/ask"), body, key, _read_asked)


def tell(lease: Lease, scores: Scores, key: str | None) -> Request[Told]:
    """Answer slots one by one."""
    body = wire.Tell(**_answers(lease, scores))
    return _post(_path(lease.campaign, "/tell"), body, key, Told.model_validate_json)


def tell_totals(lease: Lease, totals: Iterable[Total], key: str | None) -> Request[Told]:
    """Answer a lease with the sums of its groups."""
    body = wire.Tell.checked(lease=lease.number, totals=list(totals))
    return _post(_path(lease.campaign, "/tell"), body, key, Told.model_validate_json)


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
        body = wire.TellLine(**_answers(lease, scores), key=f"{chosen}:{line}")
        text = body.encoded() + b"\n"
        if part and size + len(text) > LARGEST_PART:
            yield _bulk(which, part, first, chosen)
            part, first, size = [], line, 0
        part.append(text)
        size += len(text)
    if which is not None:
        yield _bulk(which, part, first, chosen)


def stop(which: AnyCampaign, key: str | None) -> Request[Campaign]:
    """Hand out nothing more."""
    return Request("POST", _path(which, "/stop"), Campaign.model_validate_json, key=_key(key))


def campaign_id(which: AnyCampaign) -> str:
    """Return the id of a campaign."""
    given = which.id if isinstance(which, Campaign) else which
    try:
        return str(UUID(str(given)))
    except ValueError:
        raise InvalidInput("campaign", "a campaign or its id", given) from None


def _answers(lease: Lease, scores: Scores) -> dict[str, Any]:
    answers = [{"slot": slot, "score": score} for slot, score in lease.answers(scores).items()]
    return {"lease": lease.number, "answers": answers}


def _bulk(which: str, part: list[bytes], first: int, key: str) -> Request[list[ToldLine]]:
    return BulkRequest(
        "POST",
        _path(which, "/tells"),
        partial(_told_lines, first=first, expected=len(part)),
        content=b"".join(part),
        key=f"{key}:{first}",
        media_type=wire.NDJSON,
    )


def _told_lines(content: bytes, first: int, expected: int) -> list[ToldLine]:
    """Read the replies to some of many tells, which begin at the first line given."""
    found = [ToldLine.model_validate_json(text) for text in content.splitlines()]
    if [one.line for one in found] != list(range(1, expected + 1)):
        raise ValueError(f"{expected} lines were sent and {len(found)} came back")
    return [one.model_copy(update={"line": one.line + first - 1}) for one in found]


def _page(path: str, read: Callable[[bytes], T], cursor: str | None) -> Request[T]:
    params = {"limit": str(PAGE)}
    return Request("GET", path, read, params if cursor is None else params | {"cursor": cursor})


def _post(path: str, body: wire.Message, key: str | None, read: Callable[[bytes], T]) -> Request[T]:
    return Request("POST", path, read, content=body.encoded(), key=_key(key))


def _key(given: str | None, longest: int = LONGEST_KEY) -> str:
    """Return the idempotency key that was given, or a new one."""
    if given is None:
        return new_key()
    check_key(given, "key", longest=longest)
    return given


def _path(which: AnyCampaign, rest: str = "") -> str:
    return f"/v1/campaigns/{campaign_id(which)}{rest}"
