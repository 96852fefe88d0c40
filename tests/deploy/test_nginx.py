"""The documented proxy does what the service leaves to it; tried with the real nginx."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.store.connection import connect
from tests.support.environments import ROOT
from tests.support.served import PATIENCE, Server, served, until
from tests.support.web_site import CAMPAIGN, new_names

pytestmark = pytest.mark.slow
CONF = ROOT / "deploy" / "nginx" / "affinity.conf"
MAIN = """
{user}
daemon off;
pid {place}/pid;
error_log {place}/error.log;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    include {place}/affinity.conf;
}}
"""
SHORTER = {
    "client_header_timeout 10s": "client_header_timeout 1s",
    "client_body_timeout 20s": "client_body_timeout 1s",
    "limit_conn affinity_clients 100": "limit_conn affinity_clients 8",
}
"""What takes too long, or too many connections, for a test."""
SLOW = 5.0
"""Seconds that a slow client has at most: the proxy gives it one."""


@dataclass
class Proxied:
    """A service behind nginx."""

    server: Server
    port: int
    certificate: Path
    key: str

    def client(self) -> httpx.Client:
        context = ssl.create_default_context(cafile=str(self.certificate))
        headers = {"authorization": f"Bearer {self.key}"}
        url = f"https://localhost:{self.port}"
        return httpx.Client(base_url=url, verify=context, headers=headers, timeout=PATIENCE)

    @contextmanager
    def connected(self, sent: bytes) -> Iterator[ssl.SSLSocket]:
        context = ssl.create_default_context(cafile=str(self.certificate))
        with (
            socket.create_connection(("127.0.0.1", self.port), PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as made,
        ):
            made.sendall(sent)
            yield made

    def lines(self, request: str) -> list[dict[str, object]]:
        """What the service's log has of a request, by its id."""
        said = [json.loads(line) for line in self.server.lines]
        return [one for one in said if one.get("request") == request]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def made_key(dsn: str) -> str:
    pool = await connect(dsn)
    try:
        tenant = await keys.create_tenant(pool, next(new_names))
        return await keys.make_key(pool, tenant, "proxied", SCOPES)
    finally:
        await pool.close()


@pytest.fixture(scope="module")
def proxied(dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    openssl = shutil.which("openssl")
    if nginx is None or openssl is None:
        pytest.skip("nginx or openssl is not installed (Debian: apt-get install nginx openssl)")
    place, port = tmp_path_factory.mktemp("nginx"), free_port()
    made = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost"
    )
    files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "affinity.key"]
    command = [openssl, *made.split(), *files, "-out", "affinity.crt"]
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    with served(dsn) as server:
        until("ready", server.is_ready)
        text = CONF.read_text(encoding="utf-8")
        replaced = {
            "listen 443": f"listen 127.0.0.1:{port}",
            "/etc/nginx/": f"{place}/",
            "127.0.0.1:8000": server.url.removeprefix("http://"),
            "affinity.example.org": "localhost",
        }
        for before, after in (SHORTER | replaced).items():
            assert before in text, before
            text = text.replace(before, after)
        (place / "affinity.conf").write_text(text, encoding="utf-8")
        user = "user root;" if os.geteuid() == 0 else ""
        (place / "nginx.conf").write_text(MAIN.format(place=place, user=user), encoding="utf-8")
        command = [nginx, "-e", f"{place}/error.log", "-p", str(place), "-c", f"{place}/nginx.conf"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            try:
                key = asyncio.run(made_key(dsn))
                found = Proxied(server, port, place / "affinity.crt", key)
                with found.client() as client:
                    until("nginx", lambda: client.get("/openapi.json").status_code == 200)
                yield found
            finally:
                process.terminate()
                process.wait(PATIENCE)


def closes(one: ssl.SSLSocket) -> tuple[float, bytes]:
    """After how many seconds the other side closes, and what it says before that."""
    start, said = time.monotonic(), b""
    try:
        while piece := one.recv(65_536):
            said += piece
    except OSError:
        pass
    return time.monotonic() - start, said


def test_a_campaign_is_made_asked_and_told_through_it(proxied: Proxied) -> None:
    with proxied.client() as client:
        spoofed = {"x-forwarded-for": "192.0.2.1", "x-request-id": "through-nginx"}
        made = client.post("/v1/campaigns", json=CAMPAIGN, headers=spoofed)
        assert made.status_code == 201
        path = f"/v1/campaigns/{made.json()['id']}"
        asked = client.post(f"{path}/ask", json={"count": 2}).json()
        answers = [{"slot": 0, "score": 1}]
        told = client.post(f"{path}/tell", json={"lease": asked["lease"], "answers": answers})
        assert told.json()["counted"] == 1
        form = {"key": proxied.key}
        login = client.post("/ui/login", data=form, headers={"origin": str(client.base_url)})
        assert login.status_code == 303
        assert client.get("/ui").status_code == 200
    until("its line", lambda: len(proxied.lines("through-nginx")) == 1)
    (line,) = proxied.lines("through-nginx")
    assert line["client"] == "127.0.0.1"


def test_lines_are_answered_while_they_come(proxied: Proxied) -> None:
    with proxied.client() as client:
        campaign = client.post("/v1/campaigns", json=CAMPAIGN).json()["id"]
        lease = client.post(f"/v1/campaigns/{campaign}/ask", json={"count": 2}).json()["lease"]
    lines = [
        json.dumps({"lease": lease, "answers": [{"slot": slot, "score": 1}]}).encode() + b"\n"
        for slot in range(2)
    ]
    head = (
        f"POST /v1/campaigns/{campaign}/tells HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {proxied.key}\r\nContent-Length: {sum(map(len, lines))}\r\n\r\n"
    )
    with proxied.connected(head.encode() + lines[0]) as one:
        said = b""
        while b'"line":1' not in said:
            said += one.recv(65_536)
        one.sendall(lines[1])
        assert b'"line":2,"status":200,"counted":1' in said + closes(one)[1]


def test_probes_and_metrics_are_not_there(proxied: Proxied) -> None:
    with proxied.client() as client:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert client.get(path).status_code == 404


def test_a_slow_head_is_cut_off(proxied: Proxied) -> None:
    with proxied.connected(b"GET / HTTP/1.1\r\nX-Request-ID: slow-head\r\nHost: loc") as one:
        seconds, _ = closes(one)
        assert seconds < SLOW
    assert proxied.lines("slow-head") == []


@pytest.mark.parametrize("path", ["/v1/campaigns", "/ui/login", "/v1/campaigns/{}/tells"])
def test_a_slow_body_is_cut_off(proxied: Proxied, path: str) -> None:
    with proxied.client() as client:
        campaign = client.post("/v1/campaigns", json=CAMPAIGN).json()["id"]
    head = (
        f"POST {path.format(campaign)} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {proxied.key}\r\nContent-Length: 1000\r\n\r\n{{"
    )
    with proxied.connected(head.encode()) as one:
        seconds, _ = closes(one)
        assert seconds < SLOW
    # Straight to the service it would not be.
    port = int(proxied.server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), SLOW) as bare:
        bare.sendall(head.encode())
        said = b""
        if path.endswith("/tells"):  # is answered at once, and goes on
            said = bare.recv(65_536)
        with pytest.raises(TimeoutError):
            bare.recv(65_536)
        assert said[9:12] in (b"", b"200")


@pytest.mark.parametrize("line", [b"GET /%s HTTP/1.1", b"GET / HTTP/1.1\r\nX: %s"])
def test_a_large_head_is_refused(proxied: Proxied, line: bytes) -> None:
    large = line % (b"x" * 100_000) + b"\r\nX-Request-ID: large-head\r\nHost: localhost\r\n\r\n"
    with proxied.connected(b"") as one:
        with suppress(OSError):  # it may close before it has read everything
            one.sendall(large)
        assert closes(one)[1].split()[1:2] in ([], [b"400"], [b"414"], [b"431"])
    assert proxied.lines("large-head") == []


def test_a_large_body_is_refused(proxied: Proxied) -> None:
    with proxied.client() as client:
        sent = {"x-request-id": "large-body"}
        refused = client.post("/v1/campaigns", content=b" " * (2**20 + 1), headers=sent)
        assert refused.status_code == 413
    assert proxied.lines("large-body") == []


def test_an_address_has_so_many_connections(proxied: Proxied) -> None:
    request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    slow = b"POST /ui/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(proxied.connected(slow))
        with proxied.connected(request) as one:
            assert one.recv(65_536).split()[1] == b"429"
    with proxied.client() as client:
        until("room again", lambda: client.get("/openapi.json").status_code == 200)
