"""The audit trail in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from markupsafe import Markup

from affinity_bandits.policies import FOREVER
from affinity_bandits.service.core.records import About
from affinity_bandits.service.ui.campaign_text import round_in_words
from affinity_bandits.service.ui.judging_text import seats_in_words
from affinity_bandits.service.ui.wording import capital, counted, listed, minute, named, say
from affinity_bandits.wire import Event


@dataclass(frozen=True)
class Line:
    """An event as a row of a table."""

    number: int
    at: str
    iso: str
    what: Markup
    who: str


def line(spec: About, event: Event) -> Line:
    """Return an event in words."""
    return replace(plain_line(event), at=minute(event.at), what=_what(spec, event))


def plain_line(event: Event) -> Line:
    """Return an event described by its kind alone."""
    who = "the service" if event.actor == "service" else f"key {event.actor}"
    at = event.at.isoformat(timespec="seconds")
    return Line(event.number, at, at, Markup.escape(event.kind), who)


def _what(spec: About, event: Event) -> Markup:
    label = round_in_words(spec.policy, event.round)
    match event.kind:
        case "create":
            return say(
                "The campaign was made: {groups}, {horizon} at most.",
                groups=counted(len(spec.arms), "group", spelled=True),
                horizon=counted(spec.horizon, "answer"),
            )
        case "ask":
            return _asked(event.data, label)
        case "tell":
            return _told(event.data)
        case "close":
            return _closed(spec, event.data, label)
        case "judges":
            return _judges(spec, event.data)
    return Markup("The campaign was stopped: nothing more is handed out.")


def _judges(spec: About, data: dict[str, Any]) -> Markup:
    body = spec.policy.judging_body
    label = round_in_words(spec.policy, data["round"])
    who = seats_in_words(spec.arms, data["judges"], data["outsiders"])
    if body == "committee":
        told = say("The committee before {label} has {who}.", label=label, who=who)
    else:
        told = say("The panel of {label} has {who}.", label=label, who=who)
    if data["named"] is not None:
        told += say(" It was named in event {named}.", named=f"{data['named']:,}")
    elif data["standing"]:
        told += " It stands until another is named."
    if data["opened"] is not None:
        each = counted(data["opened"]["repetitions"], "answer")
        told += say(" The round asks for {each} each.", each=each)
    return told


def _asked(data: dict[str, Any], label: str) -> Markup:
    given = sum(count for _, count in data["runs"])
    fewer = "" if given == data["count"] else f" ({data['count']:,} were asked for)"
    return say(
        "{given} of {label} {were} handed out{fewer}, to be answered by {due}.",
        given=counted(given, "rating"),
        label=label,
        were="was" if given == 1 else "were",
        fewer=fewer,
        due=minute(datetime.fromisoformat(data["expires_at"])),
    )


def _told(data: dict[str, Any]) -> Markup:
    total = data["counted"] + data["late"] + data["duplicate"]
    came = say(
        "{total} to event {lease} came in",
        total=capital(counted(total, "answer")),
        lease=f"{data['lease']:,}",
    )
    if data["counted"] == total:
        return came + (" and counted." if total == 1 else " and all counted.")
    parts = [f"{data['counted']:,} counted"]
    if data["late"]:
        parts.append(f"{data['late']:,} came too late to count")
    if data["duplicate"]:
        parts.append(f"{data['duplicate']:,} had been answered before")
    return came + ": " + listed([Markup(part) for part in parts]) + "."


def _closed(spec: About, data: dict[str, Any], label: str) -> Markup:
    dropped = [named(spec.arms[arm]) for arm in data["dropped"]]
    if dropped:
        were = "was" if len(dropped) == 1 else "were"
        result = say("{names} {were} dropped.", names=listed(dropped), were=were)
    else:
        result = Markup("No group was dropped.")
    after = data["next"]
    if after is None:
        ahead = Markup("The agreed number of answers is used up.")
    elif after["repetitions"] == 0:
        ahead = Markup("The next round needs to know who judges it.")
    elif after["repetitions"] >= FOREVER:
        left = listed([named(spec.arms[arm]) for arm in after["arms"]])
        go = "take turns to the end" if len(after["arms"]) > 1 else "goes on alone"
        ahead = say("{left} {go}.", left=left, go=go)
    else:
        ahead = say(
            "The next round asks for {each} each.", each=counted(after["repetitions"], "answer")
        )
    return say("{label} ended. ", label=capital(label)) + result + " " + ahead
