"""Bulk tells: a request with a tell on each line, which is replied to as it arrives.

Every line is paid for as a request is, whatever becomes of it. Where the API key's tokens are used
up, nothing more is read until there are some, so the client can send no faster than its rate.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.errors import CallerError, InvalidInput
from affinity_bandits.service.core.tells import Tell
from affinity_bandits.service.http import errors
from affinity_bandits.service.http.auth import BYTES_A_TOKEN, BulkRoute, Call, check_commas
from affinity_bandits.service.http.ndjson import TOO_LONG, LinesResponse, lines_of
from affinity_bandits.service.http.parameters import KEYED, Telling
from affinity_bandits.service.http.translation import tell_of
from affinity_bandits.service.problems import Problem, TooMany
from affinity_bandits.wire.limits import IDEMPOTENCY_KEY, LONGEST_KEY, LONGEST_LINE, ROOM_FOR_LINE
from affinity_bandits.wire.values import check_key

LONGEST_PAUSE = 10.0
"""Seconds for which a line waits to be paid for; those that would wait longer are refused."""
A_TURN = 16_384
"""Bytes of lines that are read in one go: a few milliseconds at most, if they are single answers
or wrong."""
MOST_A_TURN = 50
"""Lines that are read in one go at most."""
REFUSED_SECONDS = 0.1
"""How long a batch of lines is kept before it is refused for coming too fast."""
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
        number, prepaid = 0, 1  # a request of one line costs what a request costs
        try:
            async for lines in lines_of(request.stream()):
                for batch in _batches(lines, call.principal.requests_per_second):
                    numbered = list(enumerate(batch, number + 1))
                    number += len(batch)
                    wanted = [(n, line) for n, line in numbered if line.strip()]
                    refusal = await _paid(call, request, wanted, prepaid)
                    prepaid = 0
                    if refusal is not None:
                        yield b"".join(_reply(n, refusal) for n, _ in wanted)
                    elif wanted:
                        yield await _tell_lines(call, campaign, key, names, wanted)
        except errors.TooLarge as problem:
            yield _reply(number + 1, problem)

    named = request.headers.get("content-type", "").partition(";")[0]
    media_type = wire.JSON if named == wire.JSON else wire.NDJSON
    return LinesResponse(replies(), {IDEMPOTENCY_KEY.lower(): key}, media_type)


def _batches(lines: list[bytes], rate: float) -> Iterator[list[bytes]]:
    """Yield lines in batches, of no more than the API key may send in a tenth of a second."""
    most = max(1, min(len(lines), int(rate / 10)))
    for first in range(0, len(lines), most):
        yield lines[first : first + most]


async def _paid(
    call: Call, request: Request, lines: list[tuple[int, bytes]], prepaid: int
) -> TooMany | None:
    """Wait until some lines can be paid for; return how they are refused if that takes too long.

    Lines with nothing on them cost a token together.
    """
    price = max(1, len(lines)) - prepaid + _extra(sum(len(line) for _, line in lines))
    left = LONGEST_PAUSE
    while (wait := call.pay(price)) > 0:
        if wait > left:
            # Refused lines are paid for by the time that they take: else they would come for free.
            await asyncio.sleep(min(left, REFUSED_SECONDS))
            return TooMany(call.principal.requests_per_second, wait)
        left -= wait
        await asyncio.sleep(wait)
    pardon = request.scope.get("pardon")
    if pardon is not None and left < LONGEST_PAUSE:
        pardon(LONGEST_PAUSE - left)
    return None


def _extra(size: int) -> float:
    return size / BYTES_A_TOKEN if size > BYTES_A_TOKEN else 0.0


async def _tell_lines(
    call: Call, campaign: UUID, key: str, names: tuple[str, ...], numbered: list[tuple[int, bytes]]
) -> bytes:
    """Return the replies to some lines, in order."""
    found: dict[int, wire.Told | Problem] = {}
    good: list[tuple[int, Tell]] = []
    unread = A_TURN
    for number, line in numbered:
        unread -= len(line) + A_TURN // MOST_A_TURN
        if unread <= 0:  # others have their turn
            await asyncio.sleep(0)
            unread = A_TURN
        try:
            body = _read(line)
            own = f"{key}:{number}" if body.key is None else body.key
            check_key(own)
            good.append((number, tell_of(body, own, call.principal.actor, names)))
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
    check_commas(line)
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
