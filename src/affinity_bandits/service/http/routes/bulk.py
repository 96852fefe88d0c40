"""Bulk tells: a request with a tell on each line, which is replied to as it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.errors import CallerError, InvalidInput
from affinity_bandits.service.core.tells import Tell
from affinity_bandits.service.http import errors
from affinity_bandits.service.http.auth import BulkRoute, Call
from affinity_bandits.service.http.ndjson import TOO_LONG, LinesResponse, lines_of
from affinity_bandits.service.http.parameters import KEYED, Telling
from affinity_bandits.service.http.translation import tell_of
from affinity_bandits.service.problems import Problem
from affinity_bandits.wire.limits import IDEMPOTENCY_KEY, LONGEST_KEY, LONGEST_LINE, ROOM_FOR_LINE
from affinity_bandits.wire.values import check_key

LARGEST_BATCH = 256
LONGEST_HERE = LONGEST_KEY - ROOM_FOR_LINE

router = APIRouter(
    prefix="/v1/campaigns/{campaign}",
    tags=["slots"],
    route_class=BulkRoute,
    responses=errors.refusals(*errors.ALWAYS, 404, 409),
)


def _lines(message: type[wire.Message]) -> dict[str, Any]:
    """Return the OpenAPI content of a body whose lines are messages of this type."""
    schema = {"$ref": f"#/components/schemas/{message.__name__}"}
    return {wire.NDJSON: {"schema": schema}, wire.JSON: {"schema": schema}}


@router.post(
    "/tells",
    status_code=200,
    response_class=LinesResponse,
    responses={200: {"content": _lines(wire.ToldLine)}},
    openapi_extra=KEYED
    | {
        "requestBody": {
            "required": True,
            "description": "A line for each tell. One line alone may be called JSON.",
            "content": _lines(wire.TellLine),
        }
    },
)
async def tell_many(campaign: UUID, call: Telling, request: Request) -> Response:
    """Tell many times in one request: a line of JSON for each tell, and one for each reply."""
    key = call.key()
    if len(key) > LONGEST_HERE:
        raise InvalidInput(IDEMPOTENCY_KEY, f"at most {LONGEST_HERE} characters long here", key)
    names = await call.backend.names(call.tenant, campaign)

    async def replies() -> AsyncIterator[bytes]:
        number = 0
        try:
            async for lines in lines_of(request.stream()):
                for first in range(0, len(lines), LARGEST_BATCH):
                    batch = lines[first : first + LARGEST_BATCH]
                    numbered = list(enumerate(batch, number + 1))
                    number += len(batch)
                    wanted = [(n, line) for n, line in numbered if line.strip()]
                    if wanted:
                        yield await _tell_lines(call, campaign, key, names, wanted)
        except errors.TooLarge as problem:
            yield _reply(number + 1, problem)

    named = request.headers.get("content-type", "").partition(";")[0]
    media_type = wire.JSON if named == wire.JSON else wire.NDJSON
    return LinesResponse(replies(), {IDEMPOTENCY_KEY.lower(): key}, media_type)


async def _tell_lines(
    call: Call, campaign: UUID, key: str, names: tuple[str, ...], numbered: list[tuple[int, bytes]]
) -> bytes:
    """Return the replies to some lines, in order."""
    found: dict[int, wire.Told | Problem] = {}
    good: list[tuple[int, Tell]] = []
    for number, line in numbered:
        try:
            body = _read(line)
            own = f"{key}:{number}" if body.key is None else body.key
            check_key(own)
            good.append((number, tell_of(body, own, call.principal.key_id, names)))
        except (CallerError, Problem) as error:
            found[number] = errors.as_problem(error)
        except Exception as error:
            found[number] = _defect(call, error)
    if good:
        results = await _tell(call, campaign, [one for _, one in good])
        found |= {n: one for (n, _), one in zip(good, results, strict=True)}
    return b"".join(_reply(number, found[number]) for number, _ in numbered)


def _read(line: bytes) -> wire.TellLine:
    if line is TOO_LONG:
        raise errors.TooLarge(LONGEST_LINE, "a line")
    try:
        return wire.TellLine.model_validate_json(line)
    except ValidationError as error:
        raise errors.invalid(error) from None


async def _tell(call: Call, campaign: UUID, tells: list[Tell]) -> list[wire.Told | Problem]:
    try:
        results = await call.parts.campaigns.tell(call.tenant, campaign, tells)
    except Problem as problem:
        return [problem] * len(tells)
    except Exception as error:
        return [_defect(call, error)] * len(tells)
    for one in results:
        if isinstance(one, wire.Told):
            call.metrics.told(one)
    return results


def _defect(call: Call, error: Exception) -> Problem:
    """Report a defect; return the problem for its lines, so that later ones are still read."""
    call.backend.watcher.failed(error)
    return errors.Unexpected()


def _reply(number: int, result: wire.Told | Problem) -> bytes:
    if isinstance(result, Problem):
        line = wire.ToldLine(
            line=number, status=result.status, code=result.code, detail=errors.detail_of(result)
        )
    else:
        line = wire.ToldLine(line=number, status=200, **vars(result))
    return line.encoded() + b"\n"
