"""Check that every acknowledged request is on record once, and that all else follows from events.

The clients' journals are compared with the events here; `verify` replays the events and compares
the tables with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.trail.replay import slots_in
from affinity_bandits_service.trail.verify import verify
from checks.soak.service.cases import UNITS_PER_ONE, Case
from checks.soak.service.client import Request, Setup, requests_in, slots_of
from checks.soak.service.rows import Verdict

EVENTS = "SELECT * FROM affinity.events WHERE campaign = $1 ORDER BY number, at"
HEAD = "SELECT status FROM affinity.heads WHERE campaign = $1"


async def check(dsn: str, setup: Setup, journals: Iterable[Path]) -> Verdict:
    """Compare the clients' journals with the events, and the tables with the events replayed.

    Args:
        dsn: where the database is.
        setup: what the clients were told at the beginning.
        journals: of all clients.
    """
    verdict = Verdict()
    requests: list[dict[str, Request]] = [{} for _ in setup.campaigns]
    for path in journals:
        for key, request in requests_in(path).items():
            requests[request.campaign][key] = request
    pool = await connect(dsn)
    try:
        for at, (id_, case) in enumerate(setup.campaigns):
            events = [dict(row) for row in await pool.fetch(EVENTS, UUID(id_))]
            compare_requests(case, requests[at], events, verdict)
            _count(events, verdict)
            await _verify(pool, UUID(id_), case, verdict)
            status = await pool.fetchval(HEAD, UUID(id_))
            _compare_endings(case, requests[at], status, verdict)
    finally:
        await pool.close()
    return verdict


async def _verify(pool: asyncpg.Pool[Any], id_: UUID, case: Case, verdict: Verdict) -> None:
    found = await verify(pool, id_)
    for difference in found.differences:
        verdict.complain("wrong", f"{case.name}: affinity serve verify: {difference}")
    verdict["rounds"] += found.rounds
    due = await pool.fetchval("SELECT count(*) FROM affinity.due WHERE campaign = $1", id_)
    if due:
        verdict.complain("wrong", f"{case.name}: a round was not closed")


def _count(events: list[dict[str, Any]], verdict: Verdict) -> None:
    """Count what happened."""
    asks = {event["number"]: event for event in events if event["kind"] == "ask"}
    for event in events:
        if event["kind"] == "tell":
            verdict["counted"] += event["counted"]
            verdict["late"] += event["late"]
            verdict["duplicate"] += event["duplicate"]
            lease = asks.get(event["lease"])
            if lease is not None and lease["expires_at"] <= event["at"]:
                verdict["late_counted"] += event["counted"]


def compare_requests(
    case: Case, requests: dict[str, Request], events: list[dict[str, Any]], verdict: Verdict
) -> None:
    """Match every response that a client got with an event, and every event with a request."""
    by_key: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if event["kind"] in ("ask", "tell"):
            by_key.setdefault(event["key"], []).append(event)
    for key, request in requests.items():
        for status, answer in request.answers:
            if status != 200:
                verdict.complain("refused", f"{case.name}: {request.kind}: {status}: {answer}")
                continue
            if request.kind == "ask" and answer["status"] != "leased":
                continue  # an ask that got no slots leaves no event
            found = by_key.get(key, [])
            if not any(_agrees(event, request, answer) for event in found):
                what = "is not on record" if not found else f"is on record as {found[:2]}"
                kind = "wrong" if found else "lost"
                verdict.complain(kind, f"{case.name}: {request.kind} {key} ({answer}) {what}")
        granted = [answer for status, answer in request.answers if status == 200]
        if request.kind == "ask":
            granted = [answer for answer in granted if answer["status"] == "leased"]
            verdict["asks"] += bool(granted)
        else:
            verdict["tells"] += bool(granted)
        verdict["repeats"] += max(0, len(granted) - 1)
        if any(answer != granted[0] for answer in granted):
            verdict.complain("wrong", f"{case.name}: key {key} was answered so and so: {granted}")
    for key, found in by_key.items():
        if len(found) > 1:
            verdict.complain("doubled", f"{case.name}: key {key} is on record twice")
        if key not in requests:
            verdict.complain("wrong", f"{case.name}: nobody sent {found[0]}")
        elif not all(_asks_for(event, requests[key]) for event in found):
            verdict.complain("wrong", f"{case.name}: {requests[key]} is on record as {found[0]}")


def _agrees(event: dict[str, Any], request: Request, answer: dict[str, Any]) -> bool:
    """Return whether an event agrees with the response to its request."""
    if event["kind"] != request.kind:
        return False
    if request.kind == "tell":
        return all(event[name] == answer[name] for name in ("counted", "late", "duplicate"))
    return (
        (event["number"], event["round"]) == (answer["lease"], answer["round"])
        and slots_in(event["slots"]) == [slot for slot, _ in slots_of(answer)]
        and answer["slots"]
        == [{"slot": slot, "arm": f"arm-{arm}"} for slot, arm in slots_of(answer)]
        and event["expires_at"] == datetime.fromisoformat(answer["expires_at"])
    )


def _asks_for(event: dict[str, Any], request: Request) -> bool:
    """Return whether an event agrees with what the client sent."""
    body = request.body
    if request.kind == "ask":
        return bool(event["kind"] == "ask" and event["asked"] == body["count"])
    if event["kind"] != "tell" or event["lease"] != body["lease"]:
        return False
    if not event["told"]:  # duplicates alone, of which only the number is kept
        told = len(body.get("answers", ())) or sum(
            count for one in body["totals"] for _, count, _ in _rows_of_total(one)
        )
        return (event["counted"], event["late"], event["duplicate"]) == (0, 0, told)
    if "answers" in body:
        sent = [(one["slot"], round(one["score"] * UNITS_PER_ONE)) for one in body["answers"]]
        return event["counts"] is None and sent == list(
            zip(event["told"], event["units"], strict=True)
        )
    totals = [row for one in body["totals"] for row in _rows_of_total(one)]
    return event["counts"] is not None and totals == list(
        zip(event["told"], event["counts"], event["units"], strict=True)
    )


def _rows_of_total(total: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Return a total as events have it: the arm, count and sum of each score."""
    arm = int(total["arm"].rpartition("-")[2])
    return [
        (arm, one["count"], one["count"] * round(one["score"] * UNITS_PER_ONE))
        for one in total["scores"]
    ]


def _compare_endings(
    case: Case, requests: dict[str, Request], status: str, verdict: Verdict
) -> None:
    """Check that no client was told that a campaign was over when it was not."""
    told = {
        answer["status"]
        for request in requests.values()
        for code, answer in request.answers
        if code == 200 and request.kind == "ask"
    }
    possible = {"leased", "wait", status} | ({"stopped"} if case.stopped else set())
    if not told <= possible:
        verdict.complain("wrong", f"{case.name}: clients were told {told}")
