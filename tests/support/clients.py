"""Helpers of the client's tests: a real server, and transports that lose answers."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2
import uvicorn

from affinity_bandits_client import Client, Lease, Told
from affinity_bandits_service.core import keys
from affinity_bandits_service.http.app import create_app
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.trail.verify import verify
from tests.support.declared import DECLARED

ROUNDS = {"name": "elimination", "schedule": {"name": "published", "offset": -2.0}}
"""A round of two slots whose answers are thrown away, then rounds of 22 and more."""
EVERYTHING = ("ask", "tell", "read", "admin")
RANGES = [(0, 1), (1, 5), (0, 100), (-1, 1), (0.25, 0.5)]
"""Scales of scores that plans are made for."""
NOBODY = "ab_" + "0" * 16 + "_" + "1" * 64


def planned(lowest: float, highest: float) -> dict[str, Any]:
    """What a plan file says to a campaign, as JSON has it."""
    ends = {"lowest": lowest, "highest": highest}
    return {"groups": 2, "horizon": 1000, "policy": {"name": "elimination"}, **ends}


@dataclass(frozen=True)
class Service:
    """A running server and the database behind it."""

    url: str
    dsn: str

    def key(self, *scopes: str, tenant: str | None = None, **limits: float) -> str:
        async def make() -> str:
            pool = await connect(self.dsn)
            try:
                owner = await keys.create_tenant(pool, tenant or uuid4().hex)
                return await keys.make_key(pool, owner, "test", scopes or EVERYTHING, **limits)
            finally:
                await pool.close()

        return asyncio.run(make())

    def differences(self, campaign: str) -> tuple[str, ...]:
        async def look() -> tuple[str, ...]:
            pool = await connect(self.dsn)
            try:
                return (await verify(pool, UUID(campaign))).differences
            finally:
                await pool.close()

        return asyncio.run(look())


@contextmanager
def running(dsn: str, port: int = 0) -> Iterator[Service]:
    """Serve on a port of the loopback, by default a free one, in a thread."""
    with closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        settings = uvicorn.Config(create_app(dsn), ws="none", log_config=None)
        server = uvicorn.Server(settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with httpx2.Client(transport=httpx2.HTTPTransport(retries=10)) as http:
                assert http.get(f"{url}/openapi.json", timeout=30).status_code == 200
            yield Service(url, dsn)
        finally:
            server.should_exit = True
            thread.join()


class Pauses(list[float]):
    """A clock that only notes how long it was to wait."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


class Losing(httpx2.BaseTransport):
    """Loses the answers to the first requests after the server has dealt with them."""

    def __init__(self, answers: int, *, fresh_keys: bool = False) -> None:
        self.inner = httpx2.HTTPTransport()
        self.left = answers
        self.fresh_keys = fresh_keys
        self.keys: list[str | None] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.fresh_keys:
            request.headers["Idempotency-Key"] = uuid4().hex
        self.keys.append(request.headers.get("Idempotency-Key"))
        response = self.inner.handle_request(request)
        if self.left > 0:
            self.left -= 1
            response.read()
            response.close()
            raise httpx2.ReadError("the connection was cut", request=request)
        return response

    def close(self) -> None:
        self.inner.close()


class Answering(httpx2.BaseTransport):
    """Gives prepared answers, one after the other; the last for ever."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def no(status: int, code: str = "unavailable", **headers: str) -> httpx2.Response:
    body = {"title": "No", "status": status, "code": code, "detail": f"said {code}"}
    return httpx2.Response(status, json=body, headers=headers)


def told(counted: int = 1) -> httpx2.Response:
    return httpx2.Response(200, json={"counted": counted, "late": 0, "duplicate": 0})


def a_lease(slots: int = 1) -> Lease:
    expires = datetime(2030, 1, 1, tzinfo=UTC)
    return Lease(
        status="leased",
        number=2,
        round=0,
        arms=("a", "b"),
        runs=((4, slots),),
        expires_at=expires,
        campaign=str(uuid4()),
    )


@contextmanager
def canned(*answers: httpx2.Response | Exception, **settings: Any) -> Iterator[tuple[Client, Any]]:
    transport, pauses = Answering(*answers), Pauses()
    with Client(
        "http://service.test", NOBODY, transport=transport, sleep=pauses, **settings
    ) as made:
        yield made, (transport, pauses)


def new_campaign(client: Client, **settings: Any) -> str:
    given = {"policy": ROUNDS, "horizon": 10_000} | settings
    return client.create_campaign("sources", ["a", "b"], **given, declaration=DECLARED.to_json()).id


def begun(client: Client) -> str:
    """A campaign whose first round is over."""
    campaign = new_campaign(client)
    lease = client.ask(campaign, 2)
    assert isinstance(lease, Lease)
    assert client.tell(lease, [0, 0]) == Told(counted=2, late=0, duplicate=0)
    return campaign
