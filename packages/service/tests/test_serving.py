"""A server that is stopped finishes what is under way and takes nothing new."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.store.connection import connect
from tests.support.databases import CACHE
from tests.support.served import PATIENCE, Server, served, until
from tests.support.web_site import new_names, opened


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


@pytest.mark.slow
def test_a_stop_finishes_what_is_under_way_and_takes_nothing_new(dsn: str) -> None:
    key = asyncio.run(_made(dsn))
    with served(dsn) as server:
        until("ready", server.is_ready)
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
        assert server.wait() == 0
    for line in server.lines:
        assert json.loads(line)["level"] in {"info", "warning", "error"}


def _refused(server: Server) -> bool:
    try:
        with connected(server, 1, b""):
            return False
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
