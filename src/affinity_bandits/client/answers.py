"""From the JSON of the service to records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from affinity_bandits.client.messages import (
    Arm,
    Attention,
    Campaign,
    ClosedRound,
    Event,
    Finished,
    Lease,
    OpenRound,
    Told,
    ToldLine,
    Wait,
)

T = TypeVar("T")
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some of a list, and where the next page begins; None if this was the last."""

    items: list[T]
    next: str | None


def asked(campaign: str, content: bytes) -> Lease | Wait | Finished:
    """Read the answer to an ask."""
    data = json.loads(content)
    if data["status"] == "wait":
        return Wait(int(data["outstanding"]), float(data["retry_after"]))
    if data["status"] != "leased":
        return Finished(str(data["status"]))
    return Lease(
        campaign=campaign,
        number=int(data["lease"]),
        round=int(data["round"]),
        arms=tuple(data["arms"]),
        runs=tuple((int(first), int(count)) for first, count in data["runs"]),
        expires_at=datetime.fromisoformat(data["expires_at"]),
    )


def told(content: bytes) -> Told:
    """Read the answer to a tell."""
    return _told(json.loads(content))


def told_lines(content: bytes, first: int, expected: int) -> list[ToldLine]:
    """Read the answers to some of many tells, which begin at the first line given."""
    found = []
    for text in content.splitlines():
        data = json.loads(text)
        line, status = first - 1 + int(data["line"]), int(data["status"])
        if status == 200:
            found.append(ToldLine(line, status, _told(data)))
        else:
            found.append(ToldLine(line, status, None, str(data["code"]), str(data["detail"])))
    if [one.line for one in found] != list(range(first, first + expected)):
        raise ValueError(f"{expected} lines were sent and {len(found)} were answered")
    return found


def campaign(content: bytes) -> Campaign:
    """Read a campaign."""
    return _campaign(json.loads(content))


def campaigns(content: bytes) -> Page[Campaign]:
    """Read a page of campaigns."""
    return _page(content, _campaign)


def rounds(content: bytes) -> Page[ClosedRound]:
    """Read a page of closed rounds."""
    return _page(content, _round)


def events(content: bytes) -> Page[Event]:
    """Read a page of the audit trail."""
    return _page(content, _event)


def problem(status: int, content: bytes) -> tuple[str, str]:
    """Return code and detail of an answer that says no, whoever gave it."""
    try:
        data = json.loads(content)
        return str(data["code"]), str(data["detail"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return f"http_{status}", "the answer is not one of the service: is this its address?"


def _page(content: bytes, read: Callable[[Json], T]) -> Page[T]:
    data = json.loads(content)
    return Page([read(item) for item in data["items"]], data["next"])


def _told(data: Json) -> Told:
    return Told(int(data["counted"]), int(data["late"]), int(data["duplicate"]))


def _campaign(data: Json) -> Campaign:
    going_on = data["round"]
    return Campaign(
        id=str(data["id"]),
        name=data["name"],
        status=data["status"],
        arms=tuple(Arm(one["name"], one["active"], one["answers"]) for one in data["arms"]),
        recommended=data["recommended"],
        round=OpenRound(
            number=going_on["number"],
            arms=tuple(going_on["arms"]),
            repetitions=going_on["repetitions"],
            size=going_on["size"],
            handed_out=going_on["handed_out"],
            answered=going_on["answered"],
        ),
        horizon=data["horizon"],
        policy=data["policy"],
        lease_seconds=data["lease_seconds"],
        lowest=data["lowest"],
        highest=data["highest"],
        in_flight=data["in_flight"],
        created_at=datetime.fromisoformat(data["created_at"]),
        attention=_attention(data["attention"]),
    )


def _attention(data: Json | None) -> Attention | None:
    if data is None:
        return None
    return Attention(data["kind"], data["reason"], datetime.fromisoformat(data["since"]))


def _round(data: Json) -> ClosedRound:
    return ClosedRound(
        number=data["number"],
        arms=tuple(data["arms"]),
        counts=tuple(data["counts"]),
        sums=tuple(data["sums"]),
        means=tuple(data["means"]),
        dropped=tuple(data["dropped"]),
        opened_at=datetime.fromisoformat(data["opened_at"]),
        closed_at=datetime.fromisoformat(data["closed_at"]),
    )


def _event(data: Json) -> Event:
    return Event(
        number=data["number"],
        at=datetime.fromisoformat(data["at"]),
        kind=data["kind"],
        actor=data["actor"],
        key=data["key"],
        round=data["round"],
        data=data["data"],
    )
