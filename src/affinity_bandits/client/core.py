"""A request as a value: its content, how its reply is read, and when to try again."""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload
from uuid import UUID

import httpx
from pydantic import TypeAdapter

from affinity_bandits import wire
from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire import Page, ToldLine, base
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


P = ParamSpec("P")
T = TypeVar("T")
Now = TypeVar("Now")
Later = TypeVar("Later")
Awaited = Coroutine[Any, Any, T]


class Waits:
    """A client whose methods block until the reply is there."""


class Awaits:
    """A client whose methods are awaited."""


class Method(Generic[P, Now, Later]):
    """A method of both clients, documented by the function that builds its requests.

    Args:
        build: builds the requests.
        call: sends them with a client, its first argument.
        hidden: how many of the first parameters of `build` the method fills in.
    """

    def __init__(
        self, build: Callable[..., Any], call: Callable[..., Any], hidden: int = 0
    ) -> None:
        self._build = build
        self._call = call
        whole = inspect.signature(build)
        self._signature = whole.replace(
            parameters=list(whole.parameters.values())[hidden:],
            return_annotation=inspect.Signature.empty,
        )

    @overload
    def __get__(self, client: Waits, kind: type) -> Callable[P, Now]: ...
    @overload
    def __get__(self, client: Awaits, kind: type) -> Callable[P, Later]: ...
    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        def bound(*given: Any, **more: Any) -> Any:
            return self._call(client, *given, **more)

        wraps(self._build)(bound).__signature__ = self._signature  # type: ignore[attr-defined]
        return bound


def sends(build: Callable[P, Request[T]]) -> Method[P, T, Awaited[T]]:
    """Return a method that sends one request and returns its reply."""
    return Method(build, lambda client, *given, **more: client.send(build(*given, **more)))


def sends_each(
    build: Callable[P, Iterator[Request[list[T]]]],
) -> Method[P, list[T], Awaited[list[T]]]:
    """Return a method that sends several requests in turn and returns all replies in one list."""
    return Method(build, lambda client, *given, **more: client._each(build(*given, **more)))


def lists(
    build: Callable[Concatenate[str | None, P], Request[Page[T]]],
) -> Method[P, Iterator[T], AsyncIterator[T]]:
    """Return a method that iterates over the items of all pages."""

    def call(client: Any, *given: P.args, **more: P.kwargs) -> Any:
        return client._pages(lambda cursor: build(cursor, *given, **more))

    return Method(build, call, hidden=1)


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
    """Create a campaign; requires the scope "admin".

    Args:
        name: its name for people.
        arms: the names of the groups to compare.
        policy: a round policy's name, or its name and settings. It needs a horizon.
        plan: instead, a file written by `affinity plan`, or its text.
        horizon: answers that the policy may count on.
        lease_seconds: time to answer a lease; default 3600.
        lowest: the smallest possible score; by default the plan's, or else 0. Settings of a policy
            about scores refer to scores mapped from the range to [0, 1].
        highest: the largest; by default the plan's, or else 1.
        committee: initial members of each group, if known.
        tellers: ids of API keys that may answer any lease, or "any" for all keys of the tenant. By
            default only the key that took a lease answers it.
        declaration: `groups_are`, `responsible`, `purpose` and, if the groups are protected
            attributes of people, `protected`. Required, unless the plan has one.
        key: the idempotency key; by default a new one.
    """
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
    """Get a campaign; requires the scope "read"."""
    return Request("GET", _path(campaign), wire.Campaign.model_validate_json)


def campaigns(cursor: str | None) -> Request[wire.Page[wire.Campaign]]:
    """Iterate over all campaigns, oldest first; requires the scope "read"."""
    return _page("/v1/campaigns", wire.CampaignPage.model_validate_json, cursor)


def rounds(cursor: str | None, campaign: AnyCampaign) -> Request[wire.Page[wire.ClosedRound]]:
    """Iterate over the closed rounds of a campaign; requires the scope "read"."""
    return _page(_path(campaign, "/rounds"), wire.RoundPage.model_validate_json, cursor)


def events(cursor: str | None, campaign: AnyCampaign) -> Request[wire.Page[wire.Event]]:
    """Iterate over the audit trail of a campaign; requires the scope "read"."""
    return _page(_path(campaign, "/events"), wire.EventPage.model_validate_json, cursor)


def ask(campaign: AnyCampaign, count: int = 1, *, key: str | None = None) -> Request[wire.Asked]:
    """Ask which groups come next; requires the scope "ask".

    Args:
        campaign: a campaign, or its id.
        count: slots at most; a lease may have fewer.
        key: the idempotency key; by default a new one.
    """
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
    """Report the scores of slots; requires the scope "tell".

    Args:
        lease: the reply to `ask`.
        scores: by slot, or those of all slots in order.
        raters: who gave them, for the audit trail: one for all, or one for each. A pseudonym, never
            a name or an e-mail address.
        key: the idempotency key; by default a new one.
    """
    body = wire.Tell.checked(**_answers(lease, scores, raters))
    return _post(_path(lease.campaign, "/tell"), body, key, wire.Told.model_validate_json)


def tell_totals(
    lease: wire.Lease, totals: Iterable[wire.Total], *, key: str | None = None
) -> Request[wire.Told]:
    """Report the scores of a whole lease as totals; requires the scope "tell".

    `Lease.totals` counts them by group. They count only if the whole lease is still unanswered and
    yours.
    """
    body = wire.Tell.checked(lease=lease.number, totals=list(totals))
    return _post(_path(lease.campaign, "/tell"), body, key, wire.Told.model_validate_json)


def tell_many(
    tells: Iterable[tuple[wire.Lease, wire.Scores]], *, key: str | None = None
) -> Iterator[Request[list[wire.ToldLine]]]:
    """Report the scores of slots of many leases of one campaign; requires the scope "tell".

    A tell that is refused leaves the others as they are: see each line's `told`.
    """
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
    """Give back a lease's unanswered slots; requires the scope "ask" and the key that took it.

    Others can have them at once, instead of when the lease expires.
    """
    number = lease.number if isinstance(lease, wire.Lease) else lease
    body = wire.Release.checked(lease=number)
    return _post(_path(campaign, "/release"), body, key, wire.Released.model_validate_json)


def stop(campaign: AnyCampaign, *, key: str | None = None) -> Request[wire.Campaign]:
    """Stop a campaign; requires the scope "admin".

    It hands out no more slots, but answers to leased slots still count.
    """
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
    """Name who judges a round, which opens it if it waits for that; requires the scope "admin".

    Args:
        campaign: a campaign, or its id.
        judges: number per group; default 0. If all members judge, the current committee.
        outsiders: judges from outside all groups.
        soon: per group, at most how many of those chosen may begin to judge during the round, if
            all members judge.
        later: per group, how many of those chosen will begin after it.
        standing: whether they also judge later rounds, until others are named; a panel only while
            the leading group has the fewest seats.
        round: the one that waits, or the one after the open round; default the one that waits.
        key: the idempotency key; by default a new one.
    """
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


class Methods:
    """The methods of both clients: one for each function above."""

    create_campaign = sends(create_campaign)
    campaign = sends(campaign)
    campaigns = lists(campaigns)
    rounds = lists(rounds)
    events = lists(events)
    ask = sends(ask)
    tell = sends(tell)
    tell_totals = sends(tell_totals)
    tell_many = sends_each(tell_many)
    release = sends(release)
    stop = sends(stop)
    name_judges = sends(name_judges)
