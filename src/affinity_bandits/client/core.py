"""A request as a value: its content, how its reply is read, and when to try again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

import httpx
from pydantic import TypeAdapter

from affinity_bandits import wire
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.wire import ToldLine, base
from affinity_bandits.wire.base import IDEMPOTENCY_KEY, check_key, check_list, check_whole, new_key

T_co = TypeVar("T_co", covariant=True)
# A reply, of the service or of something in between; or why none came, after which the request may
# have been carried out all the same.
Outcome = httpx.Response | str
TRANSIENT = frozenset({429, 502, 503, 504})  # statuses that say nothing against the request itself


@dataclass(frozen=True)
class Request(Generic[T_co]):
    """An HTTP request, and how to read its reply.

    Attributes:
        method: of HTTP.
        path: under the service's address.
        read: from the body of a good reply to a message.
        params: the query.
        content: the body.
        key: the idempotency key; None for reading requests.
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
        """Return the keyword arguments of httpx's `request`."""
        sent: dict[str, Any] = {"method": self.method, "url": self.path, "params": self.params}
        if self.key is not None:
            headers = {IDEMPOTENCY_KEY: self.key, "Content-Type": self.media_type}
            sent |= {"headers": headers, "content": self.content}
        return sent

    def transient(self, outcome: Outcome) -> bool:
        """Return whether another try may have a better outcome than this one."""
        return isinstance(outcome, str) or outcome.status_code in TRANSIENT


@dataclass(frozen=True)
class BulkRequest(Request[list[ToldLine]]):
    """Many tells in one request; each line of the reply has its own status."""

    def transient(self, outcome: Outcome) -> bool:
        if isinstance(outcome, str) or outcome.status_code != 200:
            return super().transient(outcome)
        try:
            return any(one.status in TRANSIENT for one in self.read(outcome.content))
        except ValueError:
            return False  # said when the reply is read for good


T = TypeVar("T")
AnyCampaign = wire.Campaign | UUID | str  # a campaign, or its id
AnyPolicy = Mapping[str, Any] | str  # a policy's name, or its name and settings

LARGEST_PART = base.LARGEST_BODY  # bytes of many tells that are sent at once
PAGE = base.MOST_ITEMS
_read_asked: Callable[[bytes], wire.Asked] = TypeAdapter(wire.Asked).validate_json


def create_campaign(
    name: str,
    arms: Sequence[str],
    policy: AnyPolicy | None = None,
    *,
    plan: str | Path | None = None,
    horizon: int | None = None,
    lease_seconds: float | None = None,
    lowest: float | None = None,
    highest: float | None = None,
    committee: Mapping[str, int] | None = None,
    tellers: Sequence[str] | str | None = None,
    declaration: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> Request[wire.Campaign]:
    """Return the request of `Client.create_campaign`."""
    if policy is not None and plan is not None:
        raise InvalidInput("policy", "given, or else plan, and not both", "both")
    members = {
        "policy": {"name": policy} if isinstance(policy, str) else policy and {**policy},
        "plan": None if plan is None else wire.Plan.from_toml(plan),
        "horizon": None
        if horizon is None
        else check_whole("horizon", horizon, low=1, high=base.LARGEST_HORIZON),
        "lease_seconds": lease_seconds,
        "lowest": lowest,
        "highest": highest,
        "committee": None if committee is None else _heads("committee", committee),
        "tellers": tellers if isinstance(tellers, str | None) else tuple(tellers),
        "declaration": declaration,
    }
    given = {word: one for word, one in members.items() if one is not None}
    names = tuple(check_list("arms", arms, "a list of names"))
    body = wire.CreateCampaign.checked(name=name, arms=names, **given)
    return _post("/v1/campaigns", body, key, wire.Campaign.model_validate_json)


def campaign(campaign: AnyCampaign) -> Request[wire.Campaign]:
    """Return the request of `Client.campaign`."""
    return Request("GET", _path(campaign), wire.Campaign.model_validate_json)


def campaigns(cursor: str | None) -> Request[wire.Page[wire.Campaign]]:
    """Return the request of a page of `Client.campaigns`."""
    return _page("/v1/campaigns", wire.CampaignPage.model_validate_json, cursor)


def rounds(cursor: str | None, campaign: AnyCampaign) -> Request[wire.Page[wire.ClosedRound]]:
    """Return the request of a page of `Client.rounds`."""
    return _page(_path(campaign, "/rounds"), wire.RoundPage.model_validate_json, cursor)


def events(cursor: str | None, campaign: AnyCampaign) -> Request[wire.Page[wire.Event]]:
    """Return the request of a page of `Client.events`."""
    return _page(_path(campaign, "/events"), wire.EventPage.model_validate_json, cursor)


def ask(campaign: AnyCampaign, count: int = 1, *, key: str | None = None) -> Request[wire.Asked]:
    """Return the request of `Client.ask`."""
    # The slots come as runs, which are shorter than a list.
    body = wire.Ask(count=check_whole("count", count, low=1, high=base.LARGEST_LEASE), listed=False)
    return _post(_path(campaign, "/ask"), body, key, _read_asked)


def tell(
    lease: wire.Lease,
    scores: wire.Scores,
    *,
    raters: wire.Raters | None = None,
    key: str | None = None,
) -> Request[wire.Told]:
    """Return the request of `Client.tell`."""
    body = wire.Tell.checked(**_answers(lease, scores, raters))
    return _post(_path(lease.campaign, "/tell"), body, key, wire.Told.model_validate_json)


def tell_totals(
    lease: wire.Lease, totals: Iterable[wire.Total], *, key: str | None = None
) -> Request[wire.Told]:
    """Return the request of `Client.tell_totals`."""
    body = wire.Tell.checked(lease=lease.number, totals=list(totals))
    return _post(_path(lease.campaign, "/tell"), body, key, wire.Told.model_validate_json)


def tell_many(
    tells: Iterable[tuple[wire.Lease, wire.Scores]], *, key: str | None = None
) -> Iterator[Request[list[wire.ToldLine]]]:
    """Return the requests of `Client.tell_many`, each as large as one may be."""
    # A line's key depends on its place among all lines, not on how they are cut into requests.
    chosen = _key(key, longest=base.LONGEST_KEY - base.ROOM_FOR_LINE)
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
            yield bulk_request(which, part, first, chosen)
            part, first, size = [], line, 0
        part.append(text)
        size += len(text)
    if which is not None:
        yield bulk_request(which, part, first, chosen)


def release(
    campaign: AnyCampaign, lease: wire.Lease | int, *, key: str | None = None
) -> Request[wire.Released]:
    """Return the request of `Client.release`."""
    number = lease.number if isinstance(lease, wire.Lease) else lease
    body = wire.Release.checked(lease=number)
    return _post(_path(campaign, "/release"), body, key, wire.Released.model_validate_json)


def stop(campaign: AnyCampaign, *, key: str | None = None) -> Request[wire.Campaign]:
    """Return the request of `Client.stop`."""
    return Request(
        "POST", _path(campaign, "/stop"), wire.Campaign.model_validate_json, key=_key(key)
    )


def name_judges(
    campaign: AnyCampaign,
    judges: Mapping[str, int],
    *,
    outsiders: int = 0,
    soon: Mapping[str, int] | None = None,
    later: Mapping[str, int] | None = None,
    standing: bool = False,
    round: int | None = None,
    key: str | None = None,
) -> Request[wire.Campaign]:
    """Return the request of `Client.name_judges`."""
    members: dict[str, Any] = {
        "judges": _heads("judges", judges),
        "outsiders": check_whole("outsiders", outsiders, low=0, high=base.MOST_JUDGES),
        "standing": standing,
        "soon": _heads("soon", soon or {}),
        "later": _heads("later", later or {}),
    }
    if round is not None:
        members["round"] = check_whole("round", round, low=0, high=2**31 - 2)
    body = wire.NameJudges.checked(**members)
    return _post(_path(campaign, "/judges"), body, key, wire.Campaign.model_validate_json)


def campaign_id(which: AnyCampaign) -> str:
    """Return the id of a campaign."""
    given = which.id if isinstance(which, wire.Campaign) else which
    try:
        return str(UUID(str(given)))
    except ValueError:
        raise InvalidInput("campaign", "a campaign or its id", given) from None


def _answers(
    lease: wire.Lease, scores: wire.Scores, raters: wire.Raters | None = None
) -> dict[str, Any]:
    given = lease.answers(scores)
    answers = []
    for (slot, score), (rater, group) in zip(given.items(), _raters(given, raters), strict=True):
        said = {"slot": slot, "score": score, "rater": rater, "rater_group": group}
        answers.append({name: value for name, value in said.items() if value is not None})
    return {"lease": lease.number, "answers": answers}


def _raters(slots: Collection[int], given: wire.Raters | None) -> list[wire.Rater]:
    rule = f"a Rater, or one for each of the {len(slots)} answers"
    if given is None or isinstance(given, wire.Rater):
        return [given or wire.Rater()] * len(slots)
    found: list[Any] = (
        [given.get(slot) for slot in slots]
        if isinstance(given, Mapping)
        else check_list("raters", given, rule)
    )
    if len(found) != len(slots) or not all(isinstance(one, wire.Rater) for one in found):
        raise InvalidInput("raters", rule, given)
    return found


def _heads(parameter: str, given: object) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise InvalidInput(parameter, "numbers by the names of groups", given)
    return {
        name: check_whole(f"{parameter}[{name!r}]", one, low=0, high=base.MOST_JUDGES)
        for name, one in given.items()
    }


def bulk_request(
    which: AnyCampaign, part: Sequence[bytes], first: int, key: str
) -> Request[list[wire.ToldLine]]:
    """Return a request with many tells, encoded as lines; the first has this number."""
    return BulkRequest(
        "POST",
        _path(which, "/tells"),
        partial(_told_lines, first=first, expected=len(part)),
        content=b"".join(part),
        key=f"{key}:{first}",
        media_type=wire.NDJSON,
    )


def _told_lines(content: bytes, first: int, expected: int) -> list[wire.ToldLine]:
    """Parse the replies to a part of many tells, which begins at line `first`."""
    found = [wire.ToldLine.model_validate_json(text) for text in content.splitlines()]
    if [one.line for one in found] != list(range(1, expected + 1)):
        raise ValueError(f"{expected} lines were sent and {len(found)} came back")
    return [one.model_copy(update={"line": one.line + first - 1}) for one in found]


def _page(path: str, read: Callable[[bytes], T], cursor: str | None) -> Request[T]:
    params = {"limit": str(PAGE)}
    return Request("GET", path, read, params if cursor is None else params | {"cursor": cursor})


def _post(path: str, body: wire.Message, key: str | None, read: Callable[[bytes], T]) -> Request[T]:
    return Request("POST", path, read, content=body.encoded(), key=_key(key))


def _key(given: str | None, longest: int = base.LONGEST_KEY) -> str:
    if given is None:
        return new_key()
    check_key(given, "key", longest=longest)
    return given


def _path(which: AnyCampaign, rest: str = "") -> str:
    return f"/v1/campaigns/{campaign_id(which)}{rest}"
