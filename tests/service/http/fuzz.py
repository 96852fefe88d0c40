"""The service against its own OpenAPI description: requests that fit it, and requests that do not.

    python -m tests.service.http.fuzz --requests 100000

Schemathesis makes the requests; most of them are then turned to campaigns and leases that there
are, since a campaign nobody has ever made is answered by one line of code.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from affinity_bandits import wire
from affinity_bandits.service.store.migrate import migrate
from affinity_bandits.service.trail.verify import verify
from tests.service.http.fuzz_world import ASK, TELL, TELLS, WEBHOOK, Turning, World, made_world
from tests.support.databases import made_database
from tests.support.web_site import PROBLEM, Site, site

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
BASE = "http://fuzz"
MOST_FAILURES = 20
WITHOUT_KEY = ("/v1/keys", "/v1/webhooks")
"""Where nothing is repeated: a secret is shown once, and what is revoked or removed is gone."""


@schemathesis.serializer(wire.NDJSON)
def _lines(_: schemathesis.SerializationContext, value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")


@dataclass
class Outcome:
    """What was sent and what came back.

    Attributes:
        statuses: requests by operation and status.
        failures: what should not have been, each with the request that shows it.
        repeats: requests that were sent a second time and answered the same.
        events: of the audit trails that were replayed at the end.
        slowest: seconds, by operation.
    """

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    repeats: int = 0
    events: int = 0
    slowest: dict[str, float] = field(default_factory=dict)

    @property
    def sent(self) -> int:
        return self.statuses.total()

    def enough(self, wanted: int) -> bool:
        """Return whether as many requests were sent, or too many failed."""
        return self.sent >= wanted or len(self.failures) >= MOST_FAILURES

    def of(self, label: str, status_class: int) -> int:
        """Return how many requests of an operation were answered by a class of statuses."""
        return sum(
            count
            for (found, status), count in self.statuses.items()
            if found == label and status // 100 == status_class
        )

    def table(self) -> str:
        """Return the numbers for people."""
        labels = sorted({label for label, _ in self.statuses})
        rows = []
        for label in labels:
            found = sorted(
                (status, n) for (one, status), n in self.statuses.items() if one == label
            )
            said = "  ".join(f"{status}: {n:,}" for status, n in found)
            rows.append(f"{label:45} {said}  (slowest {self.slowest[label]:.2f} s)")
        rows.append(
            f"{self.sent:,} requests, {self.repeats:,} of them repeats; {self.events:,} events"
            f" replayed; {len(self.failures)} failures"
        )
        return "\n".join(rows)


def fuzz(
    dsn: str, wanted: int, *, chunk: int, first_seed: int = 0, say: Callable[[str], None] = str
) -> Outcome:
    """Send generated requests until there were as many as wanted.

    Args:
        dsn: a migrated database.
        wanted: requests at least, unless too many fail.
        chunk: requests that are generated of one kind before the next kind's turn.
        first_seed: the same one makes the same requests.
        say: told how far it is, after every pass through the operations.
    """
    outcome = Outcome()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        at = runner.run(stack.enter_async_context(site(dsn, quiet=True)))
        try:
            number = first_seed
            while not outcome.enough(wanted):
                # A world of its own for each pass: lists stay short, rounds stay open.
                world = runner.run(made_world(at))
                one_pass = _Pass(at, runner, world, outcome, number, wanted)
                one_pass.run(chunk)
                runner.run(_audit(at, world, outcome))
                say(outcome.table())
                number += 1
        finally:
            runner.run(stack.aclose())
    return outcome


async def _audit(at: Site, world: World, outcome: Outcome) -> None:
    for target in world.targets:
        verdict = await verify(at.pool, target.id)
        outcome.events += verdict.events
        outcome.failures += [f"{target.id}: {one}" for one in verdict.differences]


class _Pass:
    """One turn of every operation, with data that fits and with data that does not."""

    def __init__(
        self,
        at: Site,
        runner: asyncio.Runner,
        world: World,
        outcome: Outcome,
        number: int,
        wanted: int,
    ) -> None:
        self._app = at.app
        self._runner = runner
        self._world = world
        self._outcome = outcome
        self._number = number
        self._wanted = wanted
        self._random = random.Random(number)
        self._turning = Turning(world, self._random)

    def run(self, chunk: int) -> None:
        schema = schemathesis.openapi.from_dict(self._app.openapi())
        operations = [found.ok() for found in schema.get_all_operations()]
        # Asks and tells first: what they leave behind is there for the others to find.
        for operation in operations:
            parameters = {one.name for one in operation.iter_parameters()}
            takes_something = bool(operation.body) or bool(parameters - {"Authorization"})
            if parameters and not takes_something:
                self._send_bare(operation, chunk)
                continue
            for mode in GenerationMode:
                if mode.is_negative and not takes_something:
                    continue  # nothing that could be wrong
                if self._outcome.enough(self._wanted):
                    return  # what takes long is to generate them, sent or not
                self._generate(operation, mode, chunk)

    def _send_bare(self, operation: Any, chunk: int) -> None:
        """Send a request in which nothing can be different but the key, which is often wrong."""
        for _ in range(chunk):
            if self._outcome.enough(self._wanted):
                return
            wrong = self._random.choice(self._world.bad_keys)
            right = f"Bearer {self._world.key}"
            key = wrong if self._random.random() < 0.4 else right
            self._one(operation.Case(headers={"Authorization": key}))

    def _generate(self, operation: Any, mode: GenerationMode, chunk: int) -> None:
        headers = {"Authorization": f"Bearer {self._world.key}"} if operation.security else None

        @seed(self._number)
        @settings(
            max_examples=chunk,
            database=None,
            deadline=None,
            phases=[Phase.generate],  # failures are collected, not looked into
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode, headers=headers))
        def send(case: schemathesis.Case) -> None:
            if not self._outcome.enough(self._wanted):
                self._one(case)

        send()

    def _one(self, case: schemathesis.Case) -> None:
        label = case.operation.label
        target = self._turning.turn(case, label, self._outcome.sent)
        request = requests.Request(**case.as_transport_kwargs(base_url=BASE)).prepare()
        if "Authorization" in request.headers and self._random.random() < 0.02:
            request.headers["Authorization"] = self._random.choice(self._world.bad_keys)
        response = self._sent(label, request)
        self._judge(case, label, response)
        if target is not None and label == ASK and response.status_code == 200:
            target.learn(response.json())
        if label == WEBHOOK and response.status_code == 201:
            self._world.webhooks.append(response.json()["id"])
        keyed = case.method == "POST" and not label.startswith(WITHOUT_KEY, len("POST "))
        if keyed and response.status_code < 300 and self._random.random() < 0.6:
            self._repeat(label, request, response)

    def _sent(self, label: str, request: requests.PreparedRequest) -> schemathesis.Response:
        begun = time.perf_counter()
        response = self._runner.run(_exchange(self._app, request))
        seconds = time.perf_counter() - begun
        outcome = self._outcome
        outcome.statuses[label, response.status_code] += 1
        outcome.slowest[label] = max(seconds, outcome.slowest.get(label, 0.0))
        return response

    def _judge(self, case: schemathesis.Case, label: str, response: schemathesis.Response) -> None:
        wrong = []
        try:
            # Whatever is sent as lines is a string, so no body of theirs can break the schema; and
            # Schemathesis does not take 413 for a refusal.
            refusable = label != TELLS and response.status_code != 413
            left_out = [] if refusable else [checks.negative_data_rejection]
            case.validate_response(response, checks=CHECKS, excluded_checks=left_out)
        except BaseExceptionGroup as group:
            wrong += [str(one) for one in group.exceptions]
        except AssertionError as one:
            wrong.append(str(one))
        if response.status_code >= 400:
            wrong += _faults_of_problem(response)
        elif label == TELLS:
            wrong += _faults_of_lines(response.content)
        request = response.request
        self._outcome.failures += [
            f"{label} ({request.method} {request.url} {request.body!r:.1500}):"
            f" {response.status_code} {response.content[:500]!r}: {one}"
            for one in wrong
        ]

    def _repeat(
        self, label: str, request: requests.PreparedRequest, before: schemathesis.Response
    ) -> None:
        """Send a request again with the key that its answer named: nothing may be different."""
        if b'"code":"too_many"' in before.content:  # a line of a slow key, which may come later
            return
        if request.headers["Authorization"] != f"Bearer {self._world.key}":
            return  # of the slow one: it has no second try, and another's keys are their own
        request.headers["Idempotency-Key"] = before.headers["idempotency-key"][0]
        again = self._sent(label, request)
        self._outcome.repeats += 1
        if label == ASK and before.json()["status"] != "leased":
            return  # that there was nothing is not remembered
        same = again.status_code == before.status_code
        if same and label in {ASK, TELL, TELLS}:
            same = again.content == before.content
        elif same:
            same = again.json()["id"] == before.json()["id"]
        if not same:
            self._outcome.failures.append(
                f"{label} ({request.url} {request.body!r:.1500}): first {before.content[:500]!r},"
                f" then {again.status_code} {again.content[:500]!r}"
            )


def _faults_of_problem(response: schemathesis.Response) -> list[str]:
    """Return what is wrong with the form of a refusal."""
    if response.headers["content-type"] != [PROBLEM]:
        return ["a refusal must be problem+json"]
    body = response.json()
    if set(body) != {"type", "title", "status", "detail", "code", "request_id"}:
        return [f"a problem must have its six members, got {sorted(body)}"]
    if body["status"] != response.status_code or not 5 < len(body["detail"]) < 1500:
        return ["a problem must say its status, and what is wrong in a few words"]
    return []


def _faults_of_lines(content: bytes) -> list[str]:
    """Return what is wrong with the answers to a request of many lines."""
    wrong, last = [], 0
    for line in content.splitlines():
        one = json.loads(line)
        told = {"line", "status", "counted", "late", "duplicate"}
        if set(one) != (told if one["status"] == 200 else {"line", "status", "code", "detail"}):
            wrong.append(f"a line must be an answer or a problem, got {line!r:.300}")
        if one["line"] <= last or not 200 <= one["status"] < 500:
            wrong.append(f"lines must come in their order and not fail, got {line!r:.300}")
        last = one["line"]
    return wrong


async def _exchange(app: Any, request: requests.PreparedRequest) -> schemathesis.Response:
    """Send a request to the app without a network between."""
    parts = urlsplit(request.url)
    body = request.body or b""
    data = body.encode() if isinstance(body, str) else body
    headers = [(_bytes(name).lower(), _bytes(value)) for name, value in request.headers.items()]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("fuzz", 80),
    }
    incoming = [{"type": "http.request", "body": data, "more_body": False}]
    status, found, content = 0, {}, []

    async def receive() -> dict[str, Any]:
        return incoming.pop() if incoming else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            for name, value in message["headers"]:
                found.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        else:
            content.append(message.get("body", b""))

    await app(scope, receive, send)
    return schemathesis.Response(status, found, b"".join(content), request, 0.0, verify=False)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


def main() -> None:
    """Fuzz a database of its own and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--chunk", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given_ = parser.parse_args()
    with made_database(f"affinity_fuzz_{given_.seed}") as dsn:
        migrate(dsn)
        outcome = fuzz(
            dsn, given_.requests, chunk=given_.chunk, first_seed=given_.seed, say=_progress
        )
    for one in outcome.failures:
        print(f"{one}\n")
    print(outcome.table())
    sys.exit(bool(outcome.failures) or outcome.sent < given_.requests)


def _progress(table: str) -> None:
    print(table.splitlines()[-1], file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
