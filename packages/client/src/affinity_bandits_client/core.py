"""A request as a value: its content, how its reply is read, and when to try again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

import httpx2
from pydantic import TypeAdapter

from affinity_bandits_client import messages
from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.messages import ToldLine, base
from affinity_bandits_client.messages.base import (
    IDEMPOTENCY_KEY,
    check_key,
    check_list,
    check_whole,
    new_key,
)

T_co = TypeVar("T_co", covariant=True)
# A reply, of the service or of something in between; or why none came, after which the request may
# have been carried out all the same.
Outcome = httpx2.Response | str
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
    media_type: str = messages.JSON

    def parts(self) -> dict[str, Any]:
        """Return the keyword arguments of httpx2's `request`."""
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
AnyCampaign = messages.Campaign | UUID | str  # a campaign, or its id
AnyPolicy = Mapping[str, Any] | str  # a policy's name, or its name and settings

LARGEST_PART = base.LARGEST_BODY  # bytes of many tells that are sent at once
PAGE = base.MOST_ITEMS
_read_asked: Callable[[bytes], messages.Asked] = TypeAdapter(messages.Asked).validate_json
_read_asked_block: Callable[[bytes], messages.AskedBlock] = TypeAdapter(
    messages.AskedBlock
).validate_json


def create_campaign(
    name: str,
    arms: Sequence[str] | None = None,
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
) -> Request[messages.Campaign]:
    """Return the request of `Client.create_campaign`."""
    if policy is not None and plan is not None:
        raise InvalidInput("policy", "given, or else plan, and not both", "both")
    if arms is None and plan is not None:
        arms = messages.Plan.names_in(plan)
    members = {
        "policy": {"name": policy} if isinstance(policy, str) else policy and {**policy},
        "plan": None if plan is None else messages.Plan.from_toml(plan),
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
    body = messages.CreateCampaign.checked(name=name, arms=names, **given)
    return _post("/v1/campaigns", body, key, messages.Campaign.model_validate_json)


def campaign(campaign: AnyCampaign) -> Request[messages.Campaign]:
    """Return the request of `Client.campaign`."""
    return Request("GET", _path(campaign), messages.Campaign.model_validate_json)


def campaigns(cursor: str | None) -> Request[messages.Page[messages.Campaign]]:
    """Return the request of a page of `Client.campaigns`."""
    return _page("/v1/campaigns", messages.CampaignPage.model_validate_json, cursor)


def rounds(
    cursor: str | None, campaign: AnyCampaign
) -> Request[messages.Page[messages.ClosedRound]]:
    """Return the request of a page of `Client.rounds`."""
    return _page(_path(campaign, "/rounds"), messages.RoundPage.model_validate_json, cursor)


def events(cursor: str | None, campaign: AnyCampaign) -> Request[messages.Page[messages.Event]]:
    """Return the request of a page of `Client.events`."""
    return _page(_path(campaign, "/events"), messages.EventPage.model_validate_json, cursor)


def ask(
    campaign: AnyCampaign, count: int = 1, *, key: str | None = None
) -> Request[messages.Asked]:
    """Return the request of `Client.ask`."""
    # The slots come as runs, which are shorter than a list.
    body = messages.Ask(
        count=check_whole("count", count, low=1, high=base.LARGEST_LEASE), listed=False
    )
    return _post(_path(campaign, "/ask"), body, key, _read_asked)


def tell(
    lease: messages.Lease,
    scores: messages.Scores,
    *,
    raters: messages.Raters | None = None,
    key: str | None = None,
) -> Request[messages.Told]:
    """Return the request of `Client.tell`."""
    body = messages.Tell.checked(**_answers(lease, scores, raters))
    return _post(_path(lease.campaign, "/tell"), body, key, messages.Told.model_validate_json)


def tell_totals(
    lease: messages.Lease, totals: Iterable[messages.Total], *, key: str | None = None
) -> Request[messages.Told]:
    """Return the request of `Client.tell_totals`."""
    body = messages.Tell.checked(lease=lease.number, totals=list(totals))
    return _post(_path(lease.campaign, "/tell"), body, key, messages.Told.model_validate_json)


def tell_many(
    tells: Iterable[tuple[messages.Lease, messages.Scores]], *, key: str | None = None
) -> Iterator[Request[list[messages.ToldLine]]]:
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
        body = messages.TellLine(**_answers(lease, scores), key=f"{chosen}:{line}")
        text = body.encoded() + b"\n"
        if part and size + len(text) > LARGEST_PART:
            yield bulk_request(which, part, first, chosen)
            part, first, size = [], line, 0
        part.append(text)
        size += len(text)
    if which is not None:
        yield bulk_request(which, part, first, chosen)


def release(
    campaign: AnyCampaign, lease: messages.Lease | messages.Block | int, *, key: str | None = None
) -> Request[messages.Released]:
    """Return the request of `Client.release`."""
    number = lease if isinstance(lease, int) else lease.number
    body = messages.Release.checked(lease=number)
    return _post(_path(campaign, "/release"), body, key, messages.Released.model_validate_json)


def ask_block(
    campaign: AnyCampaign,
    rater_group: str | None = None,
    *,
    rater: str | None = None,
    key: str | None = None,
) -> Request[messages.AskedBlock]:
    """Return the request of `Client.ask_block`."""
    told = {"rater_group": rater_group, "rater": rater}
    body = messages.AskBlock.checked(**{name: one for name, one in told.items() if one is not None})
    return _post(_path(campaign, "/ask-block"), body, key, _read_asked_block)


def tell_block(
    block: messages.Block, scores: messages.BlockScores, *, key: str | None = None
) -> Request[messages.Told]:
    """Return the request of `Client.tell_block`."""
    body = messages.TellBlock.checked(lease=block.number, scores=block.in_order(scores))
    return _post(_path(block.campaign, "/tell-block"), body, key, messages.Told.model_validate_json)


def stop(campaign: AnyCampaign, *, key: str | None = None) -> Request[messages.Campaign]:
    """Return the request of `Client.stop`."""
    return Request(
        "POST", _path(campaign, "/stop"), messages.Campaign.model_validate_json, key=_key(key)
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
) -> Request[messages.Campaign]:
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
    body = messages.NameJudges.checked(**members)
    return _post(_path(campaign, "/judges"), body, key, messages.Campaign.model_validate_json)


def campaign_id(which: AnyCampaign) -> str:
    """Return the id of a campaign."""
    given = which.id if isinstance(which, messages.Campaign) else which
    try:
        return str(UUID(str(given)))
    except ValueError:
        raise InvalidInput("campaign", "a campaign or its id", given) from None


def _answers(
    lease: messages.Lease, scores: messages.Scores, raters: messages.Raters | None = None
) -> dict[str, Any]:
    given = lease.answers(scores)
    answers = []
    for (slot, score), (rater, group) in zip(given.items(), _raters(given, raters), strict=True):
        said = {"slot": slot, "score": score, "rater": rater, "rater_group": group}
        answers.append({name: value for name, value in said.items() if value is not None})
    return {"lease": lease.number, "answers": answers}


def _raters(slots: Collection[int], given: messages.Raters | None) -> list[messages.Rater]:
    rule = f"a Rater, or one for each of the {len(slots)} answers"
    if given is None or isinstance(given, messages.Rater):
        return [given or messages.Rater()] * len(slots)
    found: list[Any] = (
        [given.get(slot) for slot in slots]
        if isinstance(given, Mapping)
        else check_list("raters", given, rule)
    )
    if len(found) != len(slots) or not all(isinstance(one, messages.Rater) for one in found):
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
) -> Request[list[messages.ToldLine]]:
    """Return a request with many tells, encoded as lines; the first has this number."""
    return BulkRequest(
        "POST",
        _path(which, "/tells"),
        partial(_told_lines, first=first, expected=len(part)),
        content=b"".join(part),
        key=f"{key}:{first}",
        media_type=messages.NDJSON,
    )


def _told_lines(content: bytes, first: int, expected: int) -> list[messages.ToldLine]:
    """Parse the replies to a part of many tells, which begins at line `first`."""
    found = [messages.ToldLine.model_validate_json(text) for text in content.splitlines()]
    if [one.line for one in found] != list(range(1, expected + 1)):
        raise ValueError(f"{expected} lines were sent and {len(found)} came back")
    return [one.model_copy(update={"line": one.line + first - 1}) for one in found]


def _page(path: str, read: Callable[[bytes], T], cursor: str | None) -> Request[T]:
    params = {"limit": str(PAGE)}
    return Request("GET", path, read, params if cursor is None else params | {"cursor": cursor})


def _post(
    path: str, body: messages.Message, key: str | None, read: Callable[[bytes], T]
) -> Request[T]:
    return Request("POST", path, read, content=body.encoded(), key=_key(key))


def _key(given: str | None, longest: int = base.LONGEST_KEY) -> str:
    if given is None:
        return new_key()
    check_key(given, "key", longest=longest)
    return given


def _path(which: AnyCampaign, rest: str = "") -> str:
    return f"/v1/campaigns/{campaign_id(which)}{rest}"
