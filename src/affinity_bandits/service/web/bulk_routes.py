"""Many tells in one request, a line each, read and answered as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from affinity_bandits.errors import CallerError, InvalidInput
from affinity_bandits.service.idempotency import LONGEST_KEY, check_key
from affinity_bandits.service.problems import Problem
from affinity_bandits.service.records import Told
from affinity_bandits.service.tells import Tell
from affinity_bandits.service.web.backend import Backend
from affinity_bandits.service.web.bodies import LineBody, to_tell
from affinity_bandits.service.web.forms import told_form
from affinity_bandits.service.web.lines import LONGEST_LINE, TOO_LONG, lines_of
from affinity_bandits.service.web.metrics import Metrics
from affinity_bandits.service.web.problem_json import (
    TooLarge,
    Unexpected,
    as_problem,
    detail_of,
)
from affinity_bandits.service.web.requests import HEADER, key_of, principal_of

MEDIA_TYPE = "application/x-ndjson"
LARGEST_BATCH = 256
BACKLOG = 2**24
"""Bytes of answers kept for a client that reads nothing before it has sent everything."""


def bulk_routes(backend: Backend, metrics: Metrics) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/v1/campaigns/{campaign}", tags=["slots"])

    @router.post("/tells", response_class=Response)
    async def tells(campaign: UUID, request: Request) -> Response:
        """Tell many times: a line of JSON for each, a line of JSON in return."""
        principal, key = principal_of(request), key_of(request)
        if len(key) > LONGEST_KEY - 20:
            raise InvalidInput(
                "Idempotency-Key", f"at most {LONGEST_KEY - 20} characters long here", key
            )
        names = await backend.names(principal.tenant, campaign)

        async def tell(batch: list[tuple[int, Tell]]) -> list[Told | Problem]:
            try:
                answers = await backend.parts.campaigns.tell(
                    principal.tenant, campaign, [one for _, one in batch]
                )
            except Problem as problem:
                return [problem] * len(batch)
            except Exception as error:  # these lines are answered so, and the next ones taken
                backend.failed(error)
                return [Unexpected()] * len(batch)
            for one in answers:
                if isinstance(one, Told):
                    metrics.told(one.counted, one.late, one.duplicate)
            return answers

        async def answered(numbered: list[tuple[int, bytes]]) -> bytes:
            """Return the answers to some lines, in their order."""
            found: dict[int, Told | Problem] = {}
            good: list[tuple[int, Tell]] = []
            for number, line in numbered:
                try:
                    if line is TOO_LONG:
                        raise TooLarge(LONGEST_LINE, "a line")
                    body = LineBody.model_validate_json(line)
                    own = f"{key}:{number}" if body.key is None else body.key
                    check_key(own)
                    good.append((number, to_tell(body, own, principal.key_id, names)))
                except (ValidationError, CallerError, Problem) as error:
                    found[number] = as_problem(error)
            if good:
                outcomes = await tell(good)
                found |= {n: one for (n, _), one in zip(good, outcomes, strict=True)}
            return b"".join(_line(number, found[number]) for number, _ in numbered)

        async def everything() -> AsyncIterator[bytes]:
            number = 0
            try:
                async for lines in lines_of(request.stream()):
                    for first in range(0, len(lines), LARGEST_BATCH):
                        batch = lines[first : first + LARGEST_BATCH]
                        numbered = list(enumerate(batch, number + 1))
                        number += len(batch)
                        wanted = [(n, line) for n, line in numbered if line.strip()]
                        if wanted:
                            yield await answered(wanted)
            except TooLarge as problem:
                yield _line(number + 1, problem)

        return Lines(everything(), {HEADER: key})

    return router


class Lines(Response):
    """A response that is written while its request is still being read.

    Writing never stops the reading, up to a limit: a client that sends everything before it reads
    would wait for us while we wait for it. Starlette's own streaming response would also take
    messages away from whoever reads the request.

    Args:
        parts: the text, piece by piece.
        headers: of the response.
    """

    def __init__(self, parts: AsyncIterator[bytes], headers: dict[str, str]) -> None:
        super().__init__(None, 200, headers, MEDIA_TYPE)
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        backlog = _Backlog(send)
        writer = asyncio.create_task(backlog.write())
        try:
            async for part in self._parts:
                await backlog.put(part)
            await backlog.put(b"")
            await writer
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        await send({"type": "http.response.body", "body": b""})


class _Backlog:
    """What was answered and not sent yet; an empty piece is the end."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._parts: asyncio.Queue[bytes] = asyncio.Queue()
        self._size = 0
        self._room = asyncio.Event()

    async def put(self, part: bytes) -> None:
        while self._size > BACKLOG:
            self._room.clear()
            await self._room.wait()
        self._size += len(part)
        self._parts.put_nowait(part)

    async def write(self) -> None:
        while part := await self._parts.get():
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
            self._size -= len(part)
            self._room.set()


def _line(number: int, outcome: Told | Problem) -> bytes:
    line: dict[str, Any] = {"line": number, "status": 200}
    if isinstance(outcome, Problem):
        line |= {
            "status": outcome.status,
            "code": outcome.code,
            "detail": detail_of(outcome),
        }
    else:
        line |= told_form(outcome)
    return orjson.dumps(line) + b"\n"
