"""The requests that clients can make; both clients get their methods and documentation here.

A writing request carries its idempotency key from the start, so however often it is sent, it is
carried out once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from pydantic import TypeAdapter

from affinity_bandits import wire
from affinity_bandits.client.methods import lists, sends, sends_each
from affinity_bandits.client.requests import BulkRequest, Request
from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire import limits
from affinity_bandits.wire.values import check_key, listed, new_key, whole

T = TypeVar("T")
AnyCampaign = wire.Campaign | UUID | str
"""A campaign, or its id."""
AnyPolicy = Mapping[str, Any] | str
"""A policy's name, or its name and settings."""

LARGEST_PART = limits.LARGEST_BODY
"""Bytes of many tells that are sent at once."""
PAGE = limits.MOST_ITEMS
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
    key: str | None = None,
) -> Request[wire.Campaign]:
    """Create a campaign; requires the scope "admin".

    Args:
        name: what people call it.
        arms: the names of the groups that are compared.
        policy: a round policy's name, or its name and settings. It takes a horizon.
        plan: instead, a file written by `affinity plan`, or its text; it has a horizon.
        horizon: answers the policy may count on in all.
        lease_seconds: how long whoever asks has to answer; 3600 if left out.
        lowest: the smallest score there can be; the plan's, or else 0, if left out. Settings of
            a policy that speak of scores speak of scores mapped from the range to [0, 1].
        highest: the largest; the plan's, or else 1, if left out.
        committee: how many members each group has at the beginning, if that is known.
        tellers: ids of API keys that may answer any lease, or "any" for all keys of the tenant. If
            left out, a lease is answered with the key that took it.
        key: the idempotency key; a new one if left out.
    """
    if policy is not None and plan is not None:
        raise InvalidInput("policy", "given, or else plan, and not both", "both")
    settings = {"lease_seconds": lease_seconds, "lowest": lowest, "highest": highest}
    members: dict[str, Any] = {word: one for word, one in settings.items() if one is not None}
    if plan is not None:
        members["plan"] = wire.Plan.from_toml(plan)
    if policy is not None:
        members["policy"] = {"name": policy} if isinstance(policy, str) else dict(policy)
    if horizon is not None:
        members["horizon"] = whole("horizon", horizon, low=1, high=limits.LARGEST_HORIZON)
    if committee is not None:
        members["committee"] = _heads("committee", committee)
    if tellers is not None:
        members["tellers"] = tellers if isinstance(tellers, str) else tuple(tellers)
    names = tuple(listed("arms", arms, "a list of names"))
    body = wire.CreateCampaign.checked(name=name, arms=names, **members)
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
        key: the idempotency key; a new one if left out.
    """
    # The slots come as runs, which are shorter than a list.
    body = wire.Ask(count=whole("count", count, low=1, high=limits.LARGEST_LEASE), listed=False)
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
        lease: what `ask` returned.
        scores: by slot, or those of all slots in their order.
        raters: who gave them, for the audit trail: one rater for all, or one for each in the same
            way. A pseudonym, never a name or an e-mail address.
        key: the idempotency key; a new one if left out.
    """
    body = wire.Tell.checked(**_answers(lease, scores, raters))
    return _post(_path(lease.campaign, "/tell"), body, key, wire.Told.model_validate_json)


def tell_totals(
    lease: wire.Lease, totals: Iterable[wire.Total], *, key: str | None = None
) -> Request[wire.Told]:
    """Report the scores of a whole lease as totals; requires the scope "tell".

    `Lease.totals` counts them by group. They count only if nothing of the lease was answered or
    offered to others before; else none of them does. Campaigns whose policy counts how often each
    score was given refuse totals with a sum instead.
    """
    body = wire.Tell.checked(lease=lease.number, totals=list(totals))
    return _post(_path(lease.campaign, "/tell"), body, key, wire.Told.model_validate_json)


def tell_many(
    tells: Iterable[tuple[wire.Lease, wire.Scores]], *, key: str | None = None
) -> Iterator[Request[list[wire.ToldLine]]]:
    """Report the scores of slots of many leases; requires the scope "tell".

    All leases must be of one campaign; few requests are sent. A tell that is refused leaves the
    others as they are: look at each line's `told`.
    """
    # A line's key depends on its place among all lines, not on how they are cut into requests.
    chosen = _key(key, longest=limits.LONGEST_KEY - limits.ROOM_FOR_LINE)
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
    standing: bool = False,
    round: int | None = None,
    key: str | None = None,
) -> Request[wire.Campaign]:
    """Name who judges a round, which opens it if it waits for that; requires the scope "admin".

    Args:
        campaign: a campaign, or its id.
        judges: how many of each group; one left out has none. Where all members judge, the
            committee as it stands.
        outsiders: how many who belong to no group.
        standing: whether they judge the rounds after it too, until others are named; a panel only
            as long as the group that leads has no more seats than any other.
        round: the one that waits, or the one after the open round; the one that waits if left out.
        key: the idempotency key; a new one if left out.
    """
    members: dict[str, Any] = {"judges": _heads("judges", judges), "standing": standing}
    members["outsiders"] = whole("outsiders", outsiders, low=0, high=limits.MOST_JUDGES)
    if round is not None:
        members["round"] = whole("round", round, low=0, high=2**31 - 2)
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
    answers: list[dict[str, Any]]
    answers = [{"slot": slot, "score": score} for slot, score in lease.answers(scores).items()]
    if raters is not None:
        slots = [one["slot"] for one in answers]
        for one, rater in zip(answers, _raters(slots, raters), strict=True):
            said = {"rater": rater.rater, "rater_group": rater.group}
            one |= {name: value for name, value in said.items() if value is not None}
    return {"lease": lease.number, "answers": answers}


def _raters(slots: Sequence[int], given: wire.Raters) -> list[wire.Rater]:
    """Return the rater of each slot."""
    rule = f"a Rater, or one for each of the {len(slots)} answers"
    if isinstance(given, wire.Rater):
        return [given] * len(slots)
    found: list[Any] = (
        [given.get(slot) for slot in slots]
        if isinstance(given, Mapping)
        else listed("raters", given, rule)
    )
    if len(found) != len(slots) or not all(isinstance(one, wire.Rater) for one in found):
        raise InvalidInput("raters", rule, given)
    return found


def _heads(parameter: str, given: object) -> dict[str, int]:
    """Return how many each group has."""
    if not isinstance(given, Mapping):
        raise InvalidInput(parameter, "numbers by the names of groups", given)
    return {
        name: whole(f"{parameter}[{name!r}]", one, low=0, high=limits.MOST_JUDGES)
        for name, one in given.items()
    }


def _bulk(which: str, part: list[bytes], first: int, key: str) -> Request[list[wire.ToldLine]]:
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


def _key(given: str | None, longest: int = limits.LONGEST_KEY) -> str:
    """Return the idempotency key that was given, or a new one."""
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
    stop = sends(stop)
    name_judges = sends(name_judges)
