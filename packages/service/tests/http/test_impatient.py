"""Connections whose clients send nothing, or no more, are closed in the time that is stated.

Real sockets on a real server; its 75 seconds are a short time here.
"""

from __future__ import annotations

import asyncio
import select
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.serving import IDLE_SECONDS
from affinity_bandits_service.store.connection import connect
from tests.support.databases import CACHE
from tests.support.environments import ROOT
from tests.support.served import PATIENCE, Server, served, until
from tests.support.web_site import new_names, opened

LIMIT = 2.0
SLACK = 8.0
"""Seconds that a busy machine may add."""
SHORT = f"from affinity_bandits_service import serving; serving.IDLE_SECONDS = {LIMIT}"
WITHOUT = f"{SHORT}; serving.Impatient = 'httptools'"
HEAD = "Host: x\r\nAuthorization: Bearer {}\r\n"


class Wire:
    """A connection, and after how many seconds the other side closed it."""

    def __init__(self, server: Server, sent: str) -> None:
        port = int(server.url.rpartition(":")[2])
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.received = b""
        self.ended: float | None = None
        self._begun = time.monotonic()
        self.send(sent)

    def send(self, text: str) -> None:
        try:
            self.socket.sendall(text.encode())
        except OSError:
            self._end()

    def look(self, seconds: float = 0.0) -> None:
        """Read what has come; wait so long for more."""
        while self.ended is None and select.select([self.socket], [], [], seconds)[0]:
            try:
                data = self.socket.recv(65_536)
            except OSError:
                data = b""
            self.received += data
            if not data:
                self._end()

    def _end(self) -> None:
        if self.ended is None:
            self.ended = time.monotonic() - self._begun


@dataclass(frozen=True)
class Client:
    """Two keys, the second for two requests a second, and the path of a campaign."""

    key: str
    slow_key: str
    path: str


@contextmanager
def service(dsn: str, first: str) -> Iterator[tuple[Server, Client]]:
    async def prepare() -> tuple[str, str]:
        pool = await connect(dsn, statement_cache=CACHE)
        try:
            tenant = await keys.create_tenant(pool, next(new_names))
            slow = await keys.make_key(pool, tenant, "slow", SCOPES, requests_per_second=2.0)
            return await keys.make_key(pool, tenant, "idle", SCOPES), slow
        finally:
            await pool.close()

    async def campaign(url: str, key: str) -> str:
        headers = {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=url, headers=headers) as client:
            return await opened(client)

    key, slow_key = asyncio.run(prepare())
    with served(dsn, "--quiet", first=first) as server:
        until("ready", server.is_ready)
        path = f"/v1/campaigns/{asyncio.run(campaign(server.url, key))}"
        yield server, Client(key, slow_key, path)


def half_requests(client: Client) -> Mapping[str, str]:
    """What may be sent before nothing more comes."""
    head = HEAD.format(client.key)
    post, tells = (
        f"POST {path} HTTP/1.1\r\n" for path in ("/v1/campaigns", f"{client.path}/tells")
    )
    return {
        "nothing": "",
        "half a line": "GET /v1/c",
        "half a head": "GET /v1/campaigns HTTP/1.1\r\nHost: x\r\n",
        "a request": "GET /x HTTP/1.1\r\nHost: x\r\n\r\n",
        "a head": f"{post}{head}Content-Length: 100\r\n\r\n",
        "a head without a key": f"{post}Host: x\r\nContent-Length: 100\r\n\r\n",
        "half a body": f'{post}{head}Content-Length: 100\r\n\r\n{{"name":',
        "a chunk": f"{tells}{head}Transfer-Encoding: chunked\r\n\r\n3\r\n{{}}\n\r\n",
    }


def seconds_until_closed(
    server: Server, client: Client, patience: float
) -> dict[str, float | None]:
    """Return after how long each half request is given up."""
    wires = {what: Wire(server, sent) for what, sent in half_requests(client).items()}
    wires["a byte at a time"] = trickle = Wire(server, "GET /v1/campaigns HTTP/1.1\r\nX: ")
    end = time.monotonic() + patience
    while time.monotonic() < end and any(one.ended is None for one in wires.values()):
        trickle.send("y")
        time.sleep(0.1)
        for one in wires.values():
            one.look()
    for one in wires.values():
        one.socket.close()
    assert wires["a request"].received.startswith(b"HTTP/1.1 404 ")
    assert wires["a head without a key"].received.startswith(b"HTTP/1.1 401 ")
    assert b'"line":1,"status":422' in wires["a chunk"].received
    return {what: one.ended for what, one in wires.items()}


@pytest.mark.slow
def test_a_client_that_lets_the_service_wait_is_cut_off(dsn: str) -> None:
    with service(dsn, SHORT) as (server, client):
        found = seconds_until_closed(server, client, LIMIT + SLACK)
    assert [what for what, seconds in found.items() if seconds is None] == []
    assert [what for what, seconds in found.items() if seconds < 0.9 * LIMIT] == []  # type: ignore[operator]


@pytest.mark.slow
def test_uvicorn_alone_would_wait_for_ever(dsn: str) -> None:
    """The control: by itself it closes connections after a response."""
    with service(dsn, WITHOUT) as (server, client):
        found = seconds_until_closed(server, client, LIMIT + SLACK)
    closed = {what for what, seconds in found.items() if seconds is not None}
    assert closed == {"a request", "a head without a key"}


@pytest.mark.slow
def test_slow_bodies_and_long_work_are_not_cut_off(dsn: str) -> None:
    with service(dsn, SHORT) as (server, client):
        body, lines = '{"name": "n"}', "{}\n" * 12
        head = HEAD.format(client.key) + f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        slow = Wire(server, f"POST /v1/campaigns HTTP/1.1\r\n{head}")
        # Refused, twelve times: two of them in a second, as the key may.
        head = HEAD.format(client.slow_key)
        head += f"Connection: close\r\nContent-Length: {len(lines)}\r\n\r\n"
        working = Wire(server, f"POST {client.path}/tells HTTP/1.1\r\n{head}{lines}")
        for piece in body:
            time.sleep(0.25 * LIMIT)  # more than three times the limit in all
            slow.send(piece)
        for one in (slow, working):
            while one.ended is None:
                one.look(PATIENCE)
            assert one.ended > 2 * LIMIT
            one.socket.close()
        assert slow.received.startswith(b"HTTP/1.1 422 ")
        assert working.received.count(b'"status":422') == 12


def test_the_reference_says_how_long_it_is() -> None:
    page = (ROOT / "docs" / "reference" / "live-reference.md").read_text(encoding="utf-8")
    assert f"| {IDLE_SECONDS} seconds |" in page
