"""Every answer of the service is one that its OpenAPI description announces.

Schemathesis generates requests that fit the description, and requests that do not. Most of them
are turned to a campaign and a lease that exist: an unknown campaign is refused by one line of code.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from affinity_bandits_client import messages
from affinity_bandits_service.trail.verify import verify
from tests.support.web_site import PROBLEM, Site, opened, site

ASK, TELL, TELLS = (f"POST /v1/campaigns/{{campaign}}/{one}" for one in ("ask", "tell", "tells"))
SLOTS = 1000
MOST_FAILURES = 20


class Fuzz:
    """Requests to one app, what came back, and what was wrong with it."""

    def __init__(self, runner: asyncio.Runner, at: Site) -> None:
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.failures: list[str] = []
        self.repeats = 0
        self._runner = runner
        self._at = at
        self._random = random.Random(1)
        self.campaign, self._lease, self._key = runner.run(self._open())

    async def _open(self) -> tuple[str, int, str]:
        key = await self._at.key(requests_per_second=1e6)
        async with self._at.client(key) as client:
            campaign = await opened(client, policy={"name": "uniform"}, horizon=10**9)
            asked = await client.post(f"/v1/campaigns/{campaign}/ask", json={"count": SLOTS})
            return campaign, asked.json()["lease"], f"Bearer {key}"

    def run(self, chunk: int, number: int) -> None:
        import schemathesis

        schemathesis.serializer(messages.NDJSON)(
            lambda _, value: str(value).encode("utf-8", "replace")
        )
        schema = schemathesis.openapi.from_dict(self._at.app.openapi())
        for found in schema.get_all_operations():
            operation = found.ok()
            headers = {"Authorization": self._key} if operation.security else None
            names = {one.name for one in operation.iter_parameters()} - {"Authorization"}
            for mode in schemathesis.GenerationMode:
                if mode.is_negative and not (operation.body or names):
                    continue  # there is nothing that could be wrong

                @seed(number)
                @settings(
                    max_examples=chunk,
                    database=None,
                    phases=[Phase.generate],  # failures are collected, not shrunk
                    suppress_health_check=list(HealthCheck),
                )
                @given(operation.as_strategy(generation_mode=mode, headers=headers))
                def send(case: Any) -> None:
                    if len(self.failures) < MOST_FAILURES:
                        self._one(case)

                send()

    def _one(self, case: Any) -> None:
        import requests

        label = case.operation.label
        self._turn(case, label)
        kwargs = case.as_transport_kwargs(base_url="http://fuzz")
        request = requests.Request(**kwargs).prepare()
        if self._random.random() < 0.02:
            request.headers["Authorization"] = "Bearer unknown"
            self._at.forgive()
        response = self._send(label, request)
        wrong = faults_of(case, label, response)
        again = response.headers.get("idempotency-key")
        if again and response.status_code == 200 and self._random.random() < 0.3:
            request.headers["Idempotency-Key"] = again[0]
            repeated = self._send(label, request)
            self.repeats += 1
            if label in (TELL, TELLS) and repeated.content != response.content:
                wrong.append(f"a repeat was answered with {repeated.content[:500]!r}")
        self.failures += [
            f"{label} ({request.url} {request.body!r:.1500}): {response.status_code}"
            f" {response.content[:500]!r}: {one}"
            for one in wrong
        ]

    def _turn(self, case: Any, label: str) -> None:
        """Turn a request to the campaign and its lease, unless it means to be wrong there."""
        path, body = case.path_parameters or {}, case.body
        try:
            UUID(str(path.get("campaign")))
            if not label.endswith("/stop") and self._random.random() < 0.95:
                case.path_parameters = {"campaign": self.campaign}
        except ValueError:
            pass
        if label == TELL and isinstance(body, dict) and self._random.random() < 0.8:
            answers, totals = body.get("answers"), body.get("totals")
            if isinstance(body.get("lease"), int) and isinstance(answers, list):
                places = range(min(len(answers), SLOTS))
                slots = [{"slot": one, "score": self._random.random()} for one in places]
                case.body = {"lease": self._lease, "answers": slots}
            elif set(body) == {"lease"} or (isinstance(totals, list) and totals):
                counts = [{"score": self._random.random(), "count": 1}]
                case.body = {"lease": self._lease, "totals": [{"arm": "a", "scores": counts}]}
        if label == TELLS:
            slot = {"slot": self._random.randrange(SLOTS), "score": 1}
            line = json.dumps({"lease": self._lease, "answers": [slot]})
            case.body = f"{line}\n{json.dumps(body, default=str)}"

    def _send(self, label: str, request: Any) -> Any:
        response = self._runner.run(exchange(self._at.app, request))
        self.statuses[label, response.status_code // 100] += 1
        return response


def faults_of(case: Any, label: str, response: Any) -> list[str]:
    """Return what is wrong with a response."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    kept = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    # Lines are sent as a string, which fits every schema; and 413 is no refusal to Schemathesis.
    if label != TELLS and response.status_code != 413:
        kept.append(checks.negative_data_rejection)
    try:
        case.validate_response(response, checks=kept)
    except BaseExceptionGroup as group:
        return [str(one) for one in group.exceptions]
    except AssertionError as one:
        return [str(one)]
    if response.status_code >= 400:
        body = response.json()
        good = response.headers["content-type"] == [PROBLEM] and 5 < len(body["detail"]) < 1500
        return [] if good and body["status"] == response.status_code else ["no problem+json"]
    if label == TELLS:
        lines = [json.loads(line) for line in response.content.splitlines()]
        numbers = [one["line"] for one in lines]
        if numbers != sorted(numbers) or any(one["status"] >= 500 for one in lines):
            return ["lines must come in their order and not fail"]
    return []


async def exchange(app: Any, request: Any) -> Any:
    """Send a request to the app without a network between."""
    import schemathesis

    parts = urlsplit(request.url)
    body = request.body or b""
    scope = {
        "type": "http",
        "method": request.method,
        "scheme": "http",
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [
            (as_bytes(name).lower(), as_bytes(value)) for name, value in request.headers.items()
        ],
        "client": ("127.0.0.1", 1),
    }
    data = body.encode() if isinstance(body, str) else body
    incoming = [{"type": "http.request", "body": data, "more_body": False}]
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return incoming.pop() if incoming else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await app(scope, receive, send)
    start, *rest = messages
    found: dict[str, list[str]] = {}
    for name, value in start["headers"]:
        found.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    content = b"".join(one.get("body", b"") for one in rest)
    return schemathesis.Response(start["status"], found, content, request, 0.0, verify=False)


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("chunk", [8, pytest.param(100, marks=pytest.mark.nightly)])
def test_no_generated_request_gets_an_answer_that_the_description_does_not_know(
    dsn: str, chunk: int
) -> None:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        at = runner.run(stack.enter_async_context(site(dsn, quiet=True)))
        try:
            fuzz = Fuzz(runner, at)
            fuzz.run(chunk, 1)
            verdict = runner.run(verify(at.pool, UUID(fuzz.campaign)))
        finally:
            runner.run(stack.aclose())
    assert not fuzz.failures, "\n".join(fuzz.failures)
    assert verdict.differences == ()
    # A test that meets nothing but refusals, or no refusal, would pass whatever the service does.
    for label in (ASK, TELL, TELLS, "GET /v1/campaigns/{campaign}"):
        assert fuzz.statuses[label, 2] > 2, fuzz.statuses
    for label in (ASK, TELL):
        assert fuzz.statuses[label, 4] > 2, fuzz.statuses
    assert fuzz.repeats > 2
