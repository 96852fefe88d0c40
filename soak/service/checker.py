"""Check that every acknowledged request is recorded once, and that all else follows from events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.service.store.connection import connect
from affinity_bandits.service.trail.verify import verify
from soak.service.cases import UNITS_PER_ONE, Case
from soak.service.client import Setup, slots_of
from soak.service.faults import Pause
from soak.service.journal import Request, requests_in
from soak.service.replay import Replay, slots_in
from soak.service.verdict import Verdict

EVENTS = (
    "SELECT number, at, kind, key, round, asked, slots::text, expires_at, lease, told, counts,"
    " units, counted, late, duplicate, detail::text FROM affinity.events WHERE campaign = $1"
    " ORDER BY number, at"
)


async def check(
    dsn: str,
    setup: Setup,
    journals: Iterable[Path],
    pauses: Sequence[tuple[Path, Pause]],
    quiet_from: datetime,
) -> Verdict:
    """Compare the clients' journals with the events, and the tables with the events replayed.

    Args:
        dsn: where the database is.
        setup: what the clients were told at the beginning.
        journals: of all clients.
        pauses: of clients, with the journal of each.
        quiet_from: when the faults were over.
    """
    verdict = Verdict()
    requests: list[dict[str, Request]] = [{} for _ in setup.campaigns]
    writers: dict[str, Path] = {}
    slept_over: set[int] = set()
    for path in journals:
        for key, request in requests_in(path).items():
            requests[request.campaign][key] = request
            writers[key] = path
    connection = await asyncpg.connect(dsn)
    try:
        for at, (id_, case) in enumerate(setup.campaigns):
            events = [dict(row) for row in await connection.fetch(EVENTS, UUID(id_))]
            compare_requests(case, requests[at], events, verdict)
            replay = Replay(case, setup.lease_seconds, quiet_from, verdict)
            for event in events:
                replay.play(event)
            await _compare_tables(connection, UUID(id_), case, replay, verdict)
            _compare_endings(case, requests[at], replay.model.status, verdict)
            slept_over |= _slept_over(events, writers, pauses)
    finally:
        await connection.close()
    verdict.slept_over = len(slept_over)
    await _own_audit(dsn, setup, verdict)
    return verdict


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
            verdict.asks += bool(granted)
        else:
            verdict.tells += bool(granted)
        verdict.repeats += max(0, len(granted) - 1)
        if any(answer != granted[0] for answer in granted):
            verdict.complain("wrong", f"{case.name}: key {key} was answered so and so: {granted}")
    for key, found in by_key.items():
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
    """Return a total as events have it: arm, count and sum in units, for each score if counted."""
    arm = int(total["arm"].rpartition("-")[2])
    if "sum" in total:
        return [(arm, total["count"], int(total["sum"].replace(".", "")))]
    return [
        (arm, one["count"], one["count"] * round(one["score"] * UNITS_PER_ONE))
        for one in total["scores"]
    ]


async def _compare_tables(
    connection: asyncpg.Connection[Any], id_: UUID, case: Case, replay: Replay, verdict: Verdict
) -> None:
    """Compare every table with the replayed events."""

    def same(what: str, found: object, expected: object, kind: str = "wrong") -> None:
        verdict.expect(found == expected, kind, f"{case.name}: {what}: {found}, not {expected}")

    model, current = replay.model, replay.model.round
    head = await connection.fetchrow("SELECT * FROM affinity.heads WHERE campaign = $1", id_)
    same("status", head["status"], model.status)
    same("open round", head["round"], model.number)
    same("last event", head["events"], replay.last)
    same("next slot", head["next_slot"], current.next_slot)
    same("answered", head["answered"], len(current.answered))
    leases = await connection.fetch(
        "SELECT lease, pending::text FROM affinity.leases WHERE campaign = $1", id_
    )
    pending = [(slot, row["lease"]) for row in leases for slot in slots_in(row["pending"])]
    same("pending", sorted(pending), sorted(current.owed.items()))
    held = {slot for slot, _ in pending}
    same("slots held twice", len(pending) - len(held), 0, "doubled")
    out = set(range(current.next_slot))
    same("unaccounted", sorted(out - current.answered - held), [], "gaps")
    rows = await connection.fetch("SELECT * FROM affinity.sums WHERE campaign = $1", id_)
    same(
        "sums",
        sorted((row["place"], row["answers"], int(row["total"])) for row in rows),
        [
            (place, answers, total)
            for place, (answers, total) in enumerate(zip(current.counts, current.sums, strict=True))
            if answers and current.dropped is None
        ],
    )
    kept = {row["place"]: row["tallies"] for row in rows}
    for place, tallies in enumerate(model.tallies() or ()):
        if current.counts[place] and current.dropped is None:
            same(f"tallies of place {place}", list(map(int, kept.get(place) or ())), tallies)
    rounds = await connection.fetch(
        "SELECT * FROM affinity.rounds WHERE campaign = $1 ORDER BY number", id_
    )
    closed = [row for row in rounds if row["closed_at"] is not None]
    same("closed rounds", [row["number"] for row in closed], replay.closed)
    same("closed", sorted({*replay.closed}), list(range(len(replay.closed))), "gaps")
    for row, one in zip(closed, model.rounds, strict=False):
        found = [row[name] for name in ("arms", "counts", "sums", "dropped")]
        ours = [list(one.arms), one.counts, one.sums, list(one.dropped or ())]
        same(f"round {row['number']}", found, ours)
    if not case.stopped:
        same("ended", model.status in ("decided", "exhausted"), True)
    saved = await connection.fetchval("SELECT saved::text FROM affinity.campaigns WHERE id=$1", id_)
    same("the policy's state", json.loads(saved), replay.saved)
    due = await connection.fetchval("SELECT count(*) FROM affinity.due WHERE campaign = $1", id_)
    same("rounds that wait to be closed", due, 0)


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
    verdict.expect(told <= possible, "wrong", f"{case.name}: clients were told {told}")


def _slept_over(
    events: list[dict[str, Any]],
    writers: dict[str, Path],
    pauses: Sequence[tuple[Path, Pause]],
) -> set[int]:
    """Return the pauses during which a lease expired that the client answered later."""
    leases = {event["number"]: event for event in events if event["kind"] == "ask"}
    told: dict[Path, list[tuple[datetime, dict[str, Any]]]] = {}
    for event in events:
        if event["kind"] == "tell" and event["lease"] in leases and event["key"] in writers:
            told.setdefault(writers[event["key"]], []).append((event["at"], leases[event["lease"]]))
    return {
        place
        for place, (path, pause) in enumerate(pauses)
        for at, lease in told.get(path, [])
        if lease["at"] <= pause.since < lease["expires_at"] <= pause.until <= at
    }


async def _own_audit(dsn: str, setup: Setup, verdict: Verdict) -> None:
    """Run the service's own audit, which must agree."""
    pool = await connect(dsn)
    try:
        for id_, case in setup.campaigns:
            found = await verify(pool, UUID(id_))
            for difference in found.differences:
                verdict.complain("wrong", f"{case.name}: affinity serve verify: {difference}")
    finally:
        await pool.close()
