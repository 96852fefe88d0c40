"""What a hostile tenant does to an honest one beside it: `python -m bench.neighbour --json`.

The honest tenant asks and tells one at a time, over 32 connections, as fast as it is answered.
First it is alone, then the hostile one, with a key of the usual rate, does everything at once that
is expensive: bodies of very many lines, duplicates and nonsense, large bodies that are no message,
bodies that never end, campaigns with the longest schedule and the most groups that it can make, and
keys that are none. The two take turns, and the ratio is that of the slowest hundredth.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.service.core.keys import create_tenant, make_key
from affinity_bandits.wire.limits import SCOPES
from bench.http_load import Load, burst, post
from bench.measure import main
from bench.service import Target
from bench.service_setup import WORKERS, Bench, database, free_port, server

REQUESTS = 1_500
TURNS = 4
STARTING_SECONDS = 4.0
"""In which the hostile tenant starts, and uses up what its key has saved."""
SLOW = 100
"""Connections that send a body slowly."""
LINES = 20_000
ROUNDS = 40_000


class Hostile:
    """A tenant that does whatever is expensive, in a process of its own, while it is entered.

    That process is told to give way to all others: what is measured is what it asks of the service,
    not what it takes of the machine that the load generator is on.
    """

    def __init__(self, port: int, key: str, campaign: UUID, lease: int) -> None:
        self._port = port
        self._key = key
        self._path = f"/v1/campaigns/{campaign}"
        self._lease = lease
        self._process: SpawnProcess | None = None

    def __enter__(self) -> Hostile:
        self._process = get_context("spawn").Process(target=self._begin)
        self._process.start()
        time.sleep(STARTING_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.join()
        self._process = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_process": None}

    def _begin(self) -> None:
        os.nice(19)
        asyncio.run(self._run())

    async def _run(self) -> None:
        again = json.dumps({"lease": self._lease, "answers": [{"slot": 0, "score": 1}]})
        large = b'{"lease":1,"answers":[' + b'{"a":1,"b":2},' * 30_000 + b"{}]}"
        tasks = [
            self._often(self._send, "/tells", (again + "\n").encode() * LINES),
            self._often(self._send, "/tells", b"1\n" * LINES * 10),
            self._often(self._send, "/tells", b"\n" * LINES * 10),
            self._often(self._send, "/tell", large),
            self._often(self._create, ["a", "b"], ROUNDS),
            self._often(self._create, [f"group {number}" for number in range(1000)], 1),
            *(self._often(self._guess) for _ in range(4)),
            *(self._often(self._trickle) for _ in range(SLOW)),
        ]
        await asyncio.gather(*tasks)

    async def _often(self, work: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await work(*arguments)
            await asyncio.sleep(0.01)

    async def _send(self, path: str, body: bytes) -> None:
        async with self._opened() as (reader, writer):
            writer.write(self._request(self._path + path, body))
            while await reader.read(65_536):
                pass

    async def _create(self, arms: list[str], rounds: int) -> None:
        schedule = {"name": "listed", "rounds": [[1, 0.0]] * rounds}
        policy = {"name": "elimination", "schedule": schedule}
        body = {"name": "many", "arms": arms, "policy": policy, "horizon": 10**6}
        async with self._opened() as (reader, writer):
            writer.write(self._request("/v1/campaigns", json.dumps(body).encode()))
            while await reader.read(65_536):
                pass

    async def _guess(self) -> None:
        async with self._opened() as (reader, writer):
            key = f"ab_{os.urandom(8).hex()}_{os.urandom(32).hex()}"
            writer.write(self._request(f"{self._path}/ask", b"{}", key))
            await reader.read()

    async def _trickle(self) -> None:
        async with self._opened() as (_, writer):
            writer.write(self._request(f"{self._path}/tells", b" " * 1000)[:-1000])
            for _ in range(100):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.5)

    @contextlib.asynccontextmanager
    async def _opened(self) -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    def _request(self, path: str, body: bytes, key: str | None = None) -> bytes:
        bearer = {"Authorization": f"Bearer {key or self._key}", "Connection": "close"}
        return post(path, body, bearer)


def honest(target: Target) -> Iterator[Load]:
    """Ask and tell one at a time; yield what came of the asks, then of the tells."""
    asked, leases = target.ask(REQUESTS, 1)
    yield asked
    yield target.tell(leases)


def run() -> dict[str, float]:
    """Return every figure: the honest tenant alone, and beside the hostile one."""
    with database("neighbour") as dsn:
        bench, port = Bench(dsn), free_port()
        arguments = ["affinity", "serve", "--port", str(port), "--workers", str(WORKERS), "--quiet"]
        key, campaign = asyncio.run(_hostile_key(bench))
        with server(arguments, dsn, port):
            target = Target(port, bench.key, [bench.campaign()])
            hostile = Hostile(port, key, campaign, _lease(port, key, campaign))
            loads: dict[bool, list[Load]] = {False: [], True: []}
            list(honest(target))
            for _ in range(TURNS):
                loads[False] += honest(target)
                with hostile:
                    loads[True] += honest(target)
    slowest = {
        beside: statistics.median(load.quantile(0.99) for load in found)
        for beside, found in loads.items()
    }
    rates = {
        beside: statistics.median(load.per_second for load in found)
        for beside, found in loads.items()
    }
    return {
        "service.noisy_neighbour.p99_ratio": slowest[True] / slowest[False],
        "service.noisy_neighbour.alone_p99_ms": slowest[False] * 1000,
        "service.noisy_neighbour.beside_p99_ms": slowest[True] * 1000,
        "service.noisy_neighbour.rate_ratio": rates[True] / rates[False],
        "service.noisy_neighbour.failures": sum(load.failures for load in loads[True]),
    }


def _lease(port: int, key: str, campaign: UUID) -> int:
    found: list[bytes] = []
    request = post(f"/v1/campaigns/{campaign}/ask", b"{}", {"Authorization": f"Bearer {key}"})
    burst(port, iter([request]), 1, lambda _, body: found.append(body))
    return int(json.loads(found[0])["lease"])


async def _hostile_key(bench: Bench) -> tuple[str, UUID]:
    async def work(pool: asyncpg.Pool[Any]) -> tuple[str, UUID]:
        tenant = await create_tenant(pool, "hostile")
        key = await make_key(pool, tenant, "hostile", SCOPES)
        bench.tenant, own = tenant, bench.tenant
        try:
            return key, await bench._campaign(pool)
        finally:
            bench.tenant = own

    made: tuple[str, UUID] = await bench._with(work)
    return made


if __name__ == "__main__":
    main(run)
