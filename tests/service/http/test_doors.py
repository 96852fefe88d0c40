"""The edge of the service: slow bodies, many connections, proxies, a stop under load."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlencode

import httpx
import pytest

from affinity_bandits.service.core import keys
from affinity_bandits.service.http import auth
from affinity_bandits.service.store.connection import connect
from affinity_bandits.service.ui import pages
from affinity_bandits.wire.base import SCOPES
from tests.support.databases import CACHE
from tests.support.served import PATIENCE, Server, served, until
from tests.support.web_site import Site, new_names, on_site, opened


async def _made(dsn: str) -> str:
    pool = await connect(dsn, statement_cache=CACHE)
    try:
        tenant = await keys.create_tenant(pool, next(new_names))
        return await keys.make_key(pool, tenant, "edge", SCOPES)
    finally:
        await pool.close()


@contextmanager
def connected(server: Server, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    port = int(server.url.rpartition(":")[2])
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            one.sendall(sent)
            made.append(one)
        yield made


def ended(one: socket.socket) -> bytes:
    """What came until the other side closed."""
    found = b""
    try:
        while piece := one.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def is_ready(server: Server) -> bool:
    return httpx.get(f"{server.url}/readyz").status_code == 200


@pytest.mark.parametrize("place", ["/ask", "", "/tells", "/ui/login"])
def test_a_slow_body_is_refused(dsn: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "BODY_SECONDS", 0.1)
    monkeypatch.setattr(pages, "FORM_SECONDS", 0.1)

    async def work(at: Site) -> None:
        key = await at.key()
        async with at.client(key) as client:
            campaign = f"/v1/campaigns/{await opened(client)}"
        path = place if place.startswith("/ui") else "/v1/campaigns" if not place else campaign
        path += place if path == campaign else ""
        sent, statuses, said = False, [], b""

        async def receive() -> dict[str, object]:
            nonlocal sent
            if sent:
                await asyncio.sleep(PATIENCE)
            sent = True
            return {"type": "http.request", "body": b"{", "more_body": True}

        async def send(message: dict[str, bytes]) -> None:
            nonlocal said
            statuses.append(message.get("status", 0))
            said += message.get("body", b"")

        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode()}
        scope |= {"query_string": b"", "root_path": "", "scheme": "http"}
        scope["headers"] = [(b"authorization", f"Bearer {key}".encode())]
        await asyncio.wait_for(at.app(scope, receive, send), PATIENCE)
        if place == "/tells":  # its reply had begun
            assert (statuses, said) == ([200], b"")
        else:
            assert statuses[0] == (400 if place == "/ui/login" else 408)
            assert b"within" in said or b"too slowly" in said

    on_site(dsn, work, quiet=True)


@pytest.mark.slow
def test_there_is_room_for_so_many_connections(dsn: str) -> None:
    with served(dsn, "--connections", "10") as server:
        until("ready", lambda: is_ready(server))
        with connected(server, 9, b""):
            assert is_ready(server)
        with connected(server, 10, b""):
            until("full", lambda: httpx.get(f"{server.url}/healthz").status_code == 503)
        until("room again", lambda: is_ready(server))


@pytest.mark.slow
@pytest.mark.parametrize("trusted", [True, False])
def test_the_scheme_is_what_a_trusted_proxy_says(dsn: str, trusted: bool) -> None:
    form = urlencode({"key": asyncio.run(_made(dsn))})
    with served(dsn, *(("--trusted-proxies", "127.0.0.0/8") if trusted else ())) as server:
        until("ready", lambda: is_ready(server))
        headers = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"}
        answer = httpx.post(f"{server.url}/ui/login", content=form, headers=headers)
        assert answer.status_code == 303
        assert ("; Secure" in answer.headers["set-cookie"]) == trusted


@pytest.mark.slow
def test_workers_end_with_a_killed_parent_and_the_port_is_free(dsn: str) -> None:
    with served(dsn, "--workers", "2") as server:
        until("two workers", lambda: len(server.workers()) == 2)
        until("ready", lambda: is_ready(server))
        port = server.url.rpartition(":")[2]
        workers = server.workers()
        os.kill(server.process.pid, signal.SIGKILL)
        until("no workers", lambda: not server.workers() & workers)
    with served(dsn, "--workers", "2", "--port", port) as again:
        until("serving again", lambda: is_ready(again))


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_stop_finishes_what_is_under_way_and_takes_nothing_new(dsn: str, workers: str) -> None:
    key = asyncio.run(_made(dsn))
    with served(dsn, "--workers", workers) as server:
        until("workers", lambda: len(server.workers()) == int(workers))
        until("ready", lambda: is_ready(server))
        headers = {"authorization": f"Bearer {key}"}

        async def opening() -> tuple[str, int]:
            async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
                campaign = await opened(client)
                asked = await client.post(f"/v1/campaigns/{campaign}/ask", json={"count": 2})
                return campaign, int(asked.json()["lease"])

        campaign, lease = asyncio.run(opening())
        lines = [
            json.dumps({"lease": lease, "answers": [{"slot": slot, "score": 1}]}) + "\n"
            for slot in range(2)
        ]
        head = (
            f"POST /v1/campaigns/{campaign}/tells HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {key}\r\nContent-Length: {sum(map(len, lines))}\r\n\r\n"
        )
        with (
            connected(server, 1, (head + lines[0]).encode()) as (telling,),
            connected(server, 1, b"") as (idle,),
        ):
            found = b""
            while b'"line":1' not in found:
                found += telling.recv(65_536)
            server.process.send_signal(signal.SIGTERM)
            until("closed to others", lambda: _refused(server))
            assert ended(idle) == b""
            telling.sendall(lines[1].encode())
            found += ended(telling)
            assert found[9:12] == b"200"
            assert b'"line":2,"status":200,"counted":1' in found
        assert server.wait() in (0, -signal.SIGTERM)  # one process alone ends by the signal


def _refused(server: Server) -> bool:
    try:
        with connected(server, 1, b""):
            return False
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
