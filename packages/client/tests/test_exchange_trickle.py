"""A try ends in time, however slowly its reply comes."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from uuid import uuid4

import pytest

from affinity_bandits_client import AsyncClient, Client, NoReply
from tests.support.clients import NOBODY
from tests.support.node import typescript_client

BODY = b'{"items":[],"next":null}'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
REPLY = HEAD % len(BODY) + BODY


@contextmanager
def trickling(at_once: int, pause: float = 0.1) -> Iterator[str]:
    """A server whose replies come byte by byte, after some bytes at once; its address."""
    over = threading.Event()

    def reply(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while connection.recv(65536):
                connection.sendall(REPLY[:at_once])
                for byte in REPLY[at_once:]:
                    if over.wait(pause):
                        return
                    connection.sendall(bytes([byte]))

    def accept(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=reply, args=(connection,), daemon=True).start()

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)


# The head and the body take about 9 s in all, the body alone 2.4 s, and each read .1 s.
PARTS = [0, len(REPLY) - len(BODY)]


@pytest.mark.parametrize("at_once", PARTS)
def test_a_reply_that_trickles_is_given_up_in_time(at_once: int) -> None:
    with trickling(at_once) as url, Client(url, NOBODY, timeout=0.5, attempts=1) as client:
        began = time.monotonic()
        with pytest.raises(NoReply, match=r"no whole reply within 0\.5 s"):
            list(client.campaigns())
        assert 0.5 <= time.monotonic() - began < 1.5


@pytest.mark.parametrize("at_once", PARTS)
def test_the_asynchronous_client_gives_it_up_too(at_once: int) -> None:
    async def work(url: str) -> float:
        async with AsyncClient(url, NOBODY, timeout=0.5, attempts=1) as client:
            began = time.monotonic()
            with pytest.raises(NoReply, match=r"no whole reply within 0\.5 s"):
                _ = [one async for one in client.campaigns()]
            return time.monotonic() - began

    with trickling(at_once) as url:
        assert 0.5 <= asyncio.run(work(url)) < 1.5


def test_a_reply_that_trickles_in_time_is_read() -> None:
    # The control: it is the time that ends a try.
    with (
        trickling(len(REPLY) - 3) as url,
        Client(url, NOBODY, timeout=5.0, attempts=1) as client,
    ):
        began = time.monotonic()
        assert list(client.campaigns()) == []
        assert time.monotonic() - began >= 0.3


def test_requests_can_be_sent_while_the_interpreter_ends() -> None:
    # Python 3.12 and later start no thread then.
    with trickling(len(REPLY)) as url:
        script = (
            "import atexit, sys, threading\nfrom affinity_bandits_client import Client\n"
            "def no_more(thread): raise RuntimeError('at interpreter shutdown')\n"
            "def last():\n"
            "    threading.Thread.start = no_more\n"
            "    print(list(client.campaigns()))\n"
            "client = Client(*sys.argv[1:])\natexit.register(last)\n"
        )
        words = [sys.executable, "-c", script, url, NOBODY]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_stream_says_in_time_that_replies_trickle_and_closes() -> None:
    with trickling(0) as url, Client(url, NOBODY, timeout=0.5, attempts=1) as client:
        began = time.monotonic()
        stream = client.stream(str(uuid4()), fallback="a")
        while stream.problem is None:
            assert time.monotonic() - began < 3.0
            time.sleep(0.01)
        assert "no whole reply within 0.5 s" in stream.problem
        began = time.monotonic()
        stream.close(1.0)
        assert time.monotonic() - began < 2.5


NODE = """
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
const { connect } = await import(pathToFileURL(process.argv[1]));
const [url, key, campaign] = process.argv.slice(2);
const inTime = (began) => assert.ok(performance.now() - began < 1_500);
for (const timeout of [0, NaN, "soon", 1e9])
  assert.throws(() => connect(url, key, { timeout }), /timeout must be/);
const service = connect(url, key, { timeout: 0.5 });
let began = performance.now();
await assert.rejects(service.GET("/v1/campaigns"), { name: "TimeoutError" });
inTime(began);
began = performance.now();
const stream = service.stream(campaign, { fallback: "a", warn: () => {} });
while (stream.problem === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
inTime(began);
assert.match(stream.problem, /timeout/);
await stream.close(1);
// The control: a reply that trickles in time is read.
const patient = connect(url, key, { timeout: 60 });
began = performance.now();
const { data } = await patient.GET("/v1/campaigns");
assert.deepEqual(data.items, []);
assert.ok(performance.now() - began >= 2_000);
"""


@pytest.mark.slow
def test_the_typescript_client_gives_it_up_too() -> None:
    index = typescript_client() / "dist" / "index.js"
    words = ["node", "--input-type=module", "--eval", NODE, str(index)]
    with trickling(len(REPLY) - len(BODY)) as url:
        done = subprocess.run(
            [*words, url, NOBODY, str(uuid4())],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
