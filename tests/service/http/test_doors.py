"""The edge of the service against clients that are slow, many, or do not read."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest
import uvicorn
from fastapi.routing import iter_route_contexts

from affinity_bandits.service.core import keys
from affinity_bandits.service.http import connections as doors
from affinity_bandits.service.http import create_app
from affinity_bandits.service.http.connections import Connection, Doorkeeper
from affinity_bandits.service.http.proxies import Proxies
from affinity_bandits.service.serving import _Config
from affinity_bandits.service.store.connection import connect
from affinity_bandits.wire.limits import SCOPES
from tests.support.served import PATIENCE, served, until
from tests.support.web_site import new_names, opened

FAST = 0.05
"""What time limits are multiplied by here: a body then has a second, a head half of one."""
Sockets = list[socket.socket]


async def _at_door(dsn: str, keeper: Doorkeeper, work: Callable[[int], Awaitable[None]]) -> None:
    """Serve in this process, on a real port, with a doorkeeper of one's own."""
    settings = {"http": Connection, "loop": "uvloop", "ws": "none", "log_config": None}
    config = _Config(create_app(dsn, pool_size=2), keeper, lifespan="on", **settings)
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve([listening]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        await work(listening.getsockname()[1])
    finally:
        server.should_exit = True
        await task


def at_door(dsn: str, keeper: Doorkeeper, work: Callable[[int], None]) -> None:
    asyncio.run(_at_door(dsn, keeper, lambda port: asyncio.to_thread(work, port)))


@contextmanager
def many(port: int, count: int, sent: bytes) -> Iterator[Sockets]:
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            one.sendall(sent)
            made.append(one)
        yield made


def cut_off(one: socket.socket, sent: bytes) -> bool:
    """Go on sending; return whether the other side closed at last."""
    end = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            one.sendall(sent)
            time.sleep(0.01)
    except ConnectionError:
        return True
    return False


def ended(one: socket.socket) -> bytes:
    """What came until the other side closed."""
    found = b""
    try:
        while piece := one.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


SLOW = [
    (b"", b""),
    (b"\r\n", b""),
    (b"GET /hea", b"408"),
    (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", b"408"),
    (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"200"),
    # Refused before the body is read, which never comes.
    (b"POST /v1/campaigns HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n", b"401"),
    # Waited for: the form of a login needs no key.
    (b"POST /ui/login HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nkey=", b"408"),
    (b"POST /ui/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nk", b"408"),
]


@pytest.mark.slow
def test_clients_that_send_nothing_or_half_of_something_are_not_waited_for(dsn: str) -> None:
    def work(port: int) -> None:
        with ExitStack() as stack:
            waiting = [(stack.enter_context(many(port, 5, sent)), word) for sent, word in SLOW]
            for sockets, word in waiting:
                for one in sockets:
                    answer = ended(one)
                    assert answer[9:12] == word, answer
        # A client that trickles is cut off as well, since the clock is not set back by a byte.
        with many(port, 1, SLOW[-2][0]) as (one,):
            begun = time.monotonic()
            assert cut_off(one, b"k")
            assert time.monotonic() - begun < 15

    at_door(dsn, Doorkeeper(patience=FAST), work)


@pytest.mark.slow
def test_without_the_doorkeeper_they_are_waited_for(dsn: str) -> None:
    """The negative control: with patience without end, the same clients stay."""

    def work(port: int) -> None:
        with ExitStack() as stack:
            for sent, _ in SLOW[:4] + SLOW[6:]:
                for one in stack.enter_context(many(port, 2, sent)):
                    one.settimeout(1.5)
                    with pytest.raises(TimeoutError):
                        one.recv(1)

    at_door(dsn, Doorkeeper(patience=1e9), work)


def slow_key(dsn: str) -> str:
    async def made() -> str:
        pool = await connect(dsn)
        try:
            tenant = await keys.create_tenant(pool, next(new_names))
            return await keys.make_key(pool, tenant, "slow", SCOPES)
        finally:
            await pool.close()

    return asyncio.run(made())


def trickled(port: int, key: str, path: str, body: list[bytes]) -> bytes:
    """Send the parts of a body, ten a second; return the status."""
    head = (
        f"POST /v1/campaigns{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Authorization: Bearer {key}\r\nContent-Length: {sum(map(len, body))}\r\n\r\n"
    )
    with many(port, 1, head.encode()) as (one,):
        try:
            for part in body:
                one.sendall(part)
                time.sleep(0.1)
        except ConnectionError:
            pass
        return ended(one)[9:12]


@pytest.mark.slow
def test_a_body_that_keeps_coming_has_the_time_that_its_size_needs(dsn: str) -> None:
    key = slow_key(dsn)

    def work(port: int) -> None:
        # Three times the time that a small body has, at one and a half times the slowest rate.
        piece = b" " * int(doors.HELD_RATE * 1.5 / FAST / 10)
        assert trickled(port, key, "", [piece] * 30 + [b"{}"]) == b"422"

    at_door(dsn, Doorkeeper(patience=FAST), work)


@pytest.mark.slow
def test_only_lines_may_come_slowly_and_only_whole_ones(dsn: str) -> None:
    """What is kept in memory until it is all there is not kept for a slow client."""
    key = slow_key(dsn)
    spec = {"name": "c", "arms": ["a", "b"], "policy": {"name": "uniform"}, "horizon": 10}

    def work(port: int) -> None:
        made = httpx.post(
            f"http://127.0.0.1:{port}/v1/campaigns",
            json=spec,
            headers={"Authorization": f"Bearer {key}"},
        )
        lines = f"/{made.json()['id']}/tells"
        # Three times the time that a small body has, at four times the slowest rate of lines.
        piece = b" " * int(doors.BODY_RATE * 4 / FAST / 10)
        line = piece[:-1] + b"\n"
        assert trickled(port, key, lines, [line] * 30) == b"200"
        assert trickled(port, key, "", [piece] * 30 + [b"{}"]) == b"408"
        # Lines that pay for time with their bytes, and then one that does not end: cut off, in
        # the midst of a reply that has begun.
        with many(port, 1, b"") as (one,):
            one.sendall(
                f"POST /v1/campaigns{lines} HTTP/1.1\r\nHost: x\r\n"
                f"Authorization: Bearer {key}\r\nContent-Length: 900000\r\n\r\n".encode()
                + line * 100
                + b"{"
            )
            begun = time.monotonic()
            assert b"HTTP/1.1 200" in ended(one)
            assert time.monotonic() - begun < 15  # without it, 40 s

    at_door(dsn, Doorkeeper(patience=FAST), work)


def test_no_other_path_ends_as_that_of_lines(dsn: str) -> None:
    paths = {
        route.path or ""
        for route in iter_route_contexts(create_app(dsn).routes)
        if "POST" in (route.methods or ())
    }
    ends = [one for one in paths if one.endswith((doors.LINES, "}"))]
    assert ends == ["/v1/campaigns/{campaign}/tells"]


@pytest.mark.slow
def test_who_reads_nothing_is_cut_off(dsn: str) -> None:
    def work(port: int) -> None:
        with many(port, 1, b"") as (one,):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
            assert cut_off(one, request)  # and never reads

    at_door(dsn, Doorkeeper(patience=FAST), work)


def test_there_is_room_for_so_many_and_half_of_them_from_one_address(dsn: str) -> None:
    def work(port: int) -> None:
        def answer() -> bytes:
            request = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            with many(port, 1, request) as (one,):
                return ended(one)[9:12]

        with many(port, 9, b""):
            assert answer() == b"200"
        with many(port, 10, b""):
            until("full", lambda: answer() in (b"503", b""))
        until("room again", lambda: answer() == b"200")

    at_door(dsn, Doorkeeper(20), work)
    at_door(dsn, Doorkeeper(10, Proxies(["127.0.0.0/8"])), work)


def test_requests_sent_ahead_are_few(dsn: str) -> None:
    def work(port: int) -> None:
        request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        with many(port, 1, request * 10) as (one,):
            one.settimeout(PATIENCE)
            found = b""
            while found.count(b'"up"') < 10:
                found += one.recv(65_536)
        with many(port, 1, request * 1000) as (one,):
            assert ended(one).count(b'"up"') < 100

    at_door(dsn, Doorkeeper(), work)


@pytest.mark.slow
def test_workers_end_with_a_killed_parent_and_the_port_is_free(dsn: str) -> None:
    with served(dsn, "--workers", "2") as server:
        until("two workers", lambda: len(server.workers()) == 2)
        until("ready", lambda: httpx.get(f"{server.url}/readyz").status_code == 200)
        port = int(server.url.rpartition(":")[2])
        workers = server.workers()
        os.kill(server.process.pid, signal.SIGKILL)
        until("no workers", lambda: not server.workers() & workers)
    with served(dsn, "--workers", "2", "--port", str(port)) as again:
        until("serving again", lambda: httpx.get(f"{again.url}/readyz").status_code == 200)
        assert again.url.endswith(f":{port}")


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_stop_finishes_what_is_under_way_and_takes_nothing_new(dsn: str, workers: str) -> None:
    async def prepared() -> str:
        pool = await connect(dsn)
        try:
            tenant = await keys.create_tenant(pool, next(new_names))
            return await keys.make_key(pool, tenant, "stop", SCOPES)
        finally:
            await pool.close()

    key = asyncio.run(prepared())
    with served(dsn, "--workers", workers) as server:
        until("workers", lambda: len(server.workers()) == int(workers))
        until("ready", lambda: httpx.get(f"{server.url}/readyz").status_code == 200)
        port = int(server.url.rpartition(":")[2])
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
            many(port, 1, (head + lines[0]).encode()) as (telling,),
            many(port, 1, b"GET /readyz HTTP/1.1\r\nHost: x\r\n") as (looking,),
            many(port, 1, b"") as (idle,),
        ):
            found = b""
            while b'"line":1' not in found:
                found += telling.recv(65_536)
            server.process.send_signal(signal.SIGTERM)
            until("closed to others", lambda: _refused(port))
            assert ended(idle) == b""
            looking.sendall(b"\r\n")
            told = ended(looking)
            assert told[9:12] == b"503", told
            assert b"about to stop" in told
            telling.sendall(lines[1].encode())
            found += ended(telling)
            assert found[9:12] == b"200"
            assert b'"line":2,"status":200,"counted":1' in found
        assert server.wait() in (0, -signal.SIGTERM)  # one process alone ends by the signal


def _refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        pass
    return False
