"""Records of the core as the JSON of responses."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response

from affinity_bandits.service.records import (
    Campaign,
    ClosedRound,
    Event,
    Finished,
    Lease,
    Told,
    Wait,
)
from affinity_bandits.service.scores import from_units, units_to_text


def json_response(
    data: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return data as a response."""
    return Response(orjson.dumps(data), status, headers, "application/json")


def campaign_form(one: Campaign, answers: tuple[int, ...]) -> dict[str, Any]:
    """Return a campaign, given how many answers each of its arms has."""
    about, round_ = one.description, one.round
    names = about.arms
    return {
        "id": str(one.id),
        "name": about.name,
        "status": one.status,
        "arms": [
            {"name": name, "active": arm in one.active, "answers": answers[arm]}
            for arm, name in enumerate(names)
        ],
        "recommended": None if one.recommended is None else names[one.recommended],
        "round": {
            "number": round_.number,
            "arms": [names[arm] for arm in round_.arms],
            "repetitions": round_.repetitions,
            "size": round_.size,
            "handed_out": round_.handed_out,
            "answered": round_.answered,
        },
        "horizon": about.horizon,
        "policy": about.settings if about.policy is None else about.policy.to_json(),
        "lease_seconds": about.lease_seconds,
        "lowest": about.lowest,
        "highest": about.highest,
        "in_flight": one.in_flight,
        "created_at": one.created_at,
        "attention": None
        if one.attention is None
        else {
            "kind": one.attention.kind,
            "reason": one.attention.reason,
            "since": one.attention.since,
        },
    }


def round_form(one: ClosedRound, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a closed round."""
    return {
        "number": one.number,
        "arms": [names[arm] for arm in one.arms],
        "repetitions": one.repetitions,
        "size": one.size,
        "before": one.before,
        "counts": one.counts,
        "sums": [units_to_text(total) for total in one.sums],
        "means": [
            from_units(total) / count if count else None
            for total, count in zip(one.sums, one.counts, strict=True)
        ],
        "dropped": [names[arm] for arm in one.dropped],
        "opened_at": one.opened_at,
        "closed_at": one.closed_at,
    }


def event_form(one: Event) -> dict[str, Any]:
    """Return a line of the audit trail."""
    return {
        "number": one.number,
        "at": one.at,
        "kind": one.kind,
        "actor": one.actor,
        "key": one.key,
        "round": one.round,
        "data": one.data,
    }


def lease_form(one: Lease, names: tuple[str, ...], *, listed: bool) -> dict[str, Any]:
    """Return a lease, with every slot if wanted."""
    form: dict[str, Any] = {
        "status": "leased",
        "lease": one.number,
        "round": one.round,
        "arms": [names[arm] for arm in one.arms],
        "runs": one.runs,
        "expires_at": one.expires_at,
    }
    if listed:
        form["slots"] = [{"slot": slot, "arm": names[arm]} for slot, arm in one.slots]
    return form


def nothing_form(one: Wait | Finished) -> dict[str, Any]:
    """Return why there is nothing to hand out."""
    if isinstance(one, Finished):
        return {"status": one.status}
    return {"status": "wait", "outstanding": one.outstanding, "retry_after": one.retry_after}


def told_form(one: Told) -> dict[str, Any]:
    """Return what became of answers."""
    return {"counted": one.counted, "late": one.late, "duplicate": one.duplicate}
