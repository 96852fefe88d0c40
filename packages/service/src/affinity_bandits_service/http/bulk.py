"""Bulk tells: newline-delimited JSON, answered line by line as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_client import messages
from affinity_bandits_client.messages.base import (
    IDEMPOTENCY_KEY,
    LONGEST_KEY,
    LONGEST_LINE,
    ROOM_FOR_LINE,
    check_key,
)
from affinity_bandits_service.core.tells import AnyTell, read_tell
from affinity_bandits_service.http import errors
from affinity_bandits_service.http.auth import KEYED, BulkRoute, Call, Telling
from affinity_bandits_service.problems import ServiceProblem, TooMany

BACKLOG = 1000
"""Parts of a response kept for a client that reads nothing before it has sent everything."""
MOST_LINES = 256
"""Lines that are handed on together: as many as share a transaction."""
TOO_LONG = b"too long"
"""Stands, by identity, for a line that was too long to be kept."""


async def lines_of(
    chunks: AsyncIterable[bytes], longest: int = LONGEST_LINE, most: int = MOST_LINES
) -> AsyncIterator[list[bytes]]:
    """Yield the lines that each chunk completes, a few at a time, and at the end an unfinished one.

    A line that is too long is dropped, so it takes no memory.
    """
    rest: list[bytes] = []
    size = 0
    async for chunk in chunks:
        begun = chunk
        while True:
            *complete, begun = begun.split(b"\n", most)
            lines = []
            for end in complete:
                size += len(end)
                lines.append(TOO_LONG if size > longest else b"".join([*rest, end]))
                rest, size = [], 0
            if not lines:
                break
            yield lines
        size += len(begun)
        if size > longest:
            rest = []
        elif begun:
            rest.append(begun)
    if size:
        yield [TOO_LONG if size > longest else b"".join(rest)]


class LinesResponse(Response):
    """A response that is written while its request is still being read.

    Parts wait in a queue: a client that sends everything before it reads would otherwise wait for
    us while we wait for it. Starlette's streaming response would read messages of the request.

    Args:
        parts: the text, piece by piece.
        headers: of the response.
        media_type: of the lines.
    """

    def __init__(
        self, parts: AsyncIterator[bytes], headers: dict[str, str], media_type: str
    ) -> None:
        super().__init__(None, 200, headers, media_type)
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        backlog: asyncio.Queue[bytes] = asyncio.Queue(BACKLOG)
        writer = asyncio.create_task(_write(backlog, send))
        try:
            async for part in self._parts:
                await backlog.put(part)
            await backlog.put(b"")
            await writer
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        await send({"type": "http.response.body", "body": b""})


async def _write(backlog: asyncio.Queue[bytes], send: Send) -> None:
    while part := await backlog.get():
        await send({"type": "http.response.body", "body": part, "more_body": True})


LONGEST_PAUSE = 10.0
"""Seconds for which a line waits to be paid for; those that would wait longer are refused."""
REFUSED_SECONDS = 0.1
"""How long a batch of lines is kept before it is refused for coming too fast."""
LONGEST_HERE = LONGEST_KEY - ROOM_FOR_LINE

bulk_routes = APIRouter(
    prefix="/v1/campaigns/{campaign}",
    tags=["slots"],
    route_class=BulkRoute,
    responses=errors.refusals(*errors.ALWAYS, 404, 409),
)


def _lines(message: type[messages.Message]) -> dict[str, Any]:
    """Return the OpenAPI content of a body whose lines are messages of this type."""
    schema = {"$ref": f"#/components/schemas/{message.__name__}"}
    return {messages.NDJSON: {"schema": schema}, messages.JSON: {"schema": schema}}


@bulk_routes.post(
    "/tells",
    status_code=200,
    response_class=LinesResponse,
    responses={200: {"content": _lines(messages.ToldLine)}},
    openapi_extra=KEYED
    | {
        "requestBody": {
            "required": True,
            "description": "A line for each tell. One line alone may be called JSON.",
            "content": _lines(messages.TellLine),
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
                    refusal = await _wait_for_tokens(call, max(1, len(wanted)) - prepaid)
                    prepaid = 0
                    if refusal is not None:
                        yield b"".join(_reply(n, refusal) for n, _ in wanted)
                    elif wanted:
                        yield await _tell_lines(call, campaign, key, names, wanted)
        except errors.TooLarge as problem:
            yield _reply(number + 1, problem)

    named = request.headers.get("content-type", "").partition(";")[0]
    media_type = messages.JSON if named == messages.JSON else messages.NDJSON
    return LinesResponse(replies(), {IDEMPOTENCY_KEY.lower(): key}, media_type)


def _batches(lines: list[bytes], rate: float) -> Iterator[list[bytes]]:
    """Yield lines in batches that the API key may send within a tenth of a second."""
    most = max(1, min(len(lines), int(rate / 10)))
    for first in range(0, len(lines), most):
        yield lines[first : first + most]


async def _wait_for_tokens(call: Call, tokens: int) -> TooMany | None:
    """Wait until the API key has so many tokens; return the refusal if that takes too long."""
    left = LONGEST_PAUSE
    while (wait := call.pay(tokens)) > 0:
        if wait > left:
            await asyncio.sleep(min(left, REFUSED_SECONDS))  # else refused lines cost nothing
            return TooMany(call.principal.requests_per_second, wait)
        left -= wait
        await asyncio.sleep(wait)
    return None


async def _tell_lines(
    call: Call, campaign: UUID, key: str, names: tuple[str, ...], numbered: list[tuple[int, bytes]]
) -> bytes:
    """Return the replies to some lines, in order."""
    found: dict[int, messages.Told | ServiceProblem] = {}
    good: list[tuple[int, AnyTell]] = []
    for number, line in numbered:
        await asyncio.sleep(0)  # a line may take milliseconds to read, and others wait
        try:
            body = _read(line)
            own = f"{key}:{number}" if body.key is None else body.key
            check_key(own)
            good.append((number, read_tell(body, own, call.principal.actor, names)))
        except (*errors.CAUSED, ServiceProblem) as error:
            found[number] = errors.as_problem(error)
        except Exception as error:
            found[number] = _defect(call, error)
    if good:
        results = await _tell(call, campaign, [one for _, one in good])
        found |= {n: one for (n, _), one in zip(good, results, strict=True)}
    return b"".join(_reply(number, found[number]) for number, _ in numbered)


def _read(line: bytes) -> messages.TellLine:
    if line is TOO_LONG:
        raise errors.TooLarge(LONGEST_LINE, "a line")
    try:
        return messages.TellLine.model_validate_json(line)
    except ValidationError as error:
        raise errors.invalid(error) from None


async def _tell(
    call: Call, campaign: UUID, tells: list[AnyTell]
) -> list[messages.Told | ServiceProblem]:
    try:
        # Lines may come for hours after the request was admitted.
        await call.check_again()
        await call.parts.quotas.check(call.tenant)
        results = await call.parts.campaigns.tell(call.tenant, campaign, tells)
    except ServiceProblem as problem:
        return [problem] * len(tells)
    except Exception as error:
        return [_defect(call, error)] * len(tells)
    for one in results:
        if isinstance(one, messages.Told):
            call.metrics.count_told(one)
    return results


def _defect(call: Call, error: Exception) -> ServiceProblem:
    """Report a defect; return the problem for its lines, so that later ones are still read."""
    call.metrics.count_failure(error)
    return ServiceProblem(errors.UNEXPECTED)


def _reply(number: int, result: messages.Told | ServiceProblem) -> bytes:
    if isinstance(result, ServiceProblem):
        line = messages.ToldLine(
            line=number, status=result.status, code=result.code, detail=errors.detail_of(result)
        )
    else:
        line = messages.ToldLine(line=number, status=200, **vars(result))
    return line.encoded() + b"\n"
