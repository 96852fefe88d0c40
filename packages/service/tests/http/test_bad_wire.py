"""`affinity serve` on the wire: bodies without an end, heads that are none, what the log says."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.http import create_app
from affinity_bandits_service.store.connection import connect
from tests.support.databases import CACHE
from tests.support.served import PATIENCE, Server, served, until
from tests.support.web_site import PROBLEM, calls, new_names, opened, refused

pytestmark = pytest.mark.slow
MEGABYTE = 2**20
SEKRET = "sekret-of-the-database"
EVIL = '\\r\\n{"level":"info","event":"forged"}'
"""As it stands in a JSON string or a URL: no byte of it ends a line."""


@dataclass
class Service:
    """A service in a process of its own, keys of it for large and small bodies, a campaign."""

    server: Server
    key: str
    small_key: str
    campaign: str

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.server.url)
        return str(parts.hostname), int(parts.port or 0)

    @property
    def path(self) -> str:
        return f"/v1/campaigns/{self.campaign}"

    @property
    def bearer(self) -> bytes:
        return b"Authorization: Bearer " + self.key.encode()

    def forget_peak(self) -> int:
        """Begin to look for the largest memory the process has, in bytes, with what it has now."""
        Path(f"/proc/{self.server.process.pid}/clear_refs").write_text("5")
        return self.peak()

    def peak(self) -> int:
        """Return the largest resident memory the process had since, in bytes."""
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) * 1024

    def send(self, *head: bytes, body: Iterable[bytes] = ()) -> tuple[bytes, int]:
        """Send lines and a body as they are; return what comes back, and how much was sent."""
        sent = 0
        with socket.create_connection(self.address, timeout=PATIENCE) as wire:
            wire.sendall(b"\r\n".join([*head, b"Host: x", b"Connection: close", b"", b""]))
            answer = b""
            for piece in body:
                try:
                    wire.sendall(piece)
                except OSError:  # it has answered and does not read on
                    break
                sent += len(piece)
            while piece := _received(wire):
                answer += piece
        return answer, sent


def _received(wire: socket.socket) -> bytes:
    try:
        return wire.recv(65_536)
    except ConnectionResetError:
        return b""


@pytest.fixture(scope="module")
def service(dsn: str) -> Iterator[Service]:
    async def prepare() -> tuple[str, str]:
        pool = await connect(dsn, statement_cache=CACHE)
        try:
            tenant = await keys.create_tenant(pool, next(new_names))
            return (
                await keys.make_key(pool, tenant, "wire", SCOPES),
                await keys.make_key(pool, tenant, "small", SCOPES, largest_body=2**15),
            )
        finally:
            await pool.close()

    key, small_key = asyncio.run(prepare())
    with served(dsn) as server:
        until("ready", server.is_ready)

        async def opening() -> str:
            headers = {"authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
                return await opened(client)

        yield Service(server, key, small_key, asyncio.run(opening()))
    for line in server.lines:
        assert isinstance(json.loads(line), dict), line


def _problem(answer: bytes) -> dict[str, object]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert f"content-type: {PROBLEM}".encode() in head, answer[:500]
    found: dict[str, object] = json.loads(body)
    return found


@pytest.mark.parametrize("path", ["/ask", "/tell", "/stop", ""])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_hundred_megabytes_are_refused_and_not_kept(
    service: Service, path: str, chunked: bool
) -> None:
    size = 100 * MEGABYTE
    piece = b" " * MEGABYTE
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % size
    body = (b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece for _ in range(100))
    where = f"{service.path}{path}" if path else "/v1/campaigns"
    before = service.forget_peak()
    answer, _ = service.send(f"POST {where} HTTP/1.1".encode(), service.bearer, length, body=body)
    assert service.peak() - before < 24 * MEGABYTE
    if path == "/stop" and chunked:  # a body that nobody reads has no size until it ends
        assert answer.startswith(b"HTTP/1.1 200 ")
        return
    problem = _problem(answer)
    assert (problem["status"], problem["code"]) == (413, "too_large")
    assert "1,048,576 bytes" in str(problem["detail"])


def test_no_line_of_the_log_is_of_a_clients_making(service: Service) -> None:
    marks = ("forged", "\x1b", "ab_", service.key.rpartition("_")[2])
    with httpx.Client(base_url=service.server.url) as client:
        for evil in (EVIL, "a\x1b[2Jb\r\nc", '","level":"forged"', service.key):
            value = re.sub("[\\x1b\r\n]", "", evil).encode()  # they cannot stand in a header
            sent = [
                (b"authorization", f"Bearer {service.key}".encode()),
                (b"user-agent", value),
                (b"x-forwarded-for", value),
                (b"idempotency-key", value),
            ]
            quoted = quote(evil, safe="")
            for path in (quoted, f"v1/campaigns/{quoted}", f"v1/campaigns?cursor={quoted}"):
                assert client.get(f"/{path}", headers=sent).status_code in {404, 422}
            body = json.dumps({evil: evil})
            for where in ("/v1/campaigns", f"{service.path}/ask", f"{service.path}/tell"):
                assert client.post(where, content=body, headers=sent).status_code == 422
            client.post(f"{service.path}/tells", content=body, headers=sent)
        metrics = service.server.probe("/metrics").text
        seen = client.get("/nowhere").headers["x-request-id"]
    until("the last line", lambda: any(seen in line for line in service.server.lines))
    for text in (*service.server.lines, metrics):
        assert not any(mark in text for mark in marks), text
    for line in service.server.lines:
        assert isinstance(json.loads(line), dict), line


def test_without_a_database_neither_its_password_nor_a_key_is_told() -> None:
    dsn = f"postgresql://u:{SEKRET}@127.0.0.1:1/x"
    key = f"ab_{'0' * 16}_{'5ec2e7' * 10}5ec2"
    texts = [repr(create_app(dsn)), repr(vars(create_app(dsn).state))]
    with served(dsn) as server:
        until("up", lambda: server.probe("/healthz").status_code == 200)
        with httpx.Client(base_url=server.url) as client:
            client.headers["authorization"] = f"Bearer {key}"
            for method, template, _ in calls():
                answer = client.request(
                    method, template.format(campaign=key, key=key, webhook=key), content=key
                )
                refused(answer, 503, "unavailable")
                texts.append(answer.text)
            texts += [client.get(f"/ui/{key}").text, server.probe("/metrics").text]
            texts.append(server.probe().text)
        until("its log", lambda: any('"status":503' in line for line in server.lines))
    for text in (*texts, *server.lines):
        assert SEKRET not in text
        assert "5ec2e7" not in text
    for line in server.lines:
        assert isinstance(json.loads(line), dict), line


def test_what_other_libraries_log_is_a_line_of_json_without_their_words() -> None:
    code = (
        "import logging.config; from affinity_bandits_service.logs import log_config;"
        "logging.config.dictConfig(log_config(quiet=True));"
        "logging.getLogger('asyncio').error('Task failed\\nfuture: %r', ValueError('words'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    (line,) = done.stderr.splitlines()
    assert json.loads(line)["event"] == "Task failed"
