"""Measure the live service beside a bare endpoint: `python -m checks.bench.service --json`.

The bare engine is a FastAPI endpoint that inserts one row (`checks.bench.bare_insert`), with the
same server, the same two processes, the same load generator and the same 32 connections, in turn
with the service. All three share the machine's cores. `pgbench` runs the same statements without
HTTP.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

import orjson

from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.store.connection import connect
from checks.bench.bare_insert import TABLE
from checks.bench.http_load import Load, burst, numbered, post
from checks.bench.measure import main
from checks.bench.service_setup import PROCESSES, Bench, database, execute, free_port, server

CONNECTIONS = 32
REQUESTS = 6_000
TURNS = 5
BLOCK = 100
BLOCKS = 1_000
MANY = 10_000
"""Campaigns that requests are spread over, besides 100."""
SERIAL = 1_500
"""Asks one after the other in each turn of the comparisons of size and age."""


class Target:
    """The service under load, as ready-made requests."""

    def __init__(self, ports: list[int], key: str, campaigns: list[UUID]) -> None:
        self._ports = ports
        self._headers = {"Authorization": f"Bearer {key}"}
        self._campaigns = campaigns
        self._run = os.urandom(6).hex()
        self._sent = 0

    def ask(self, requests: int, count: int) -> tuple[Load, list[tuple[UUID, dict[str, object]]]]:
        """Send asks for `count` slots each; return the leases too."""
        leases: list[tuple[UUID, dict[str, object]]] = []
        body = orjson.dumps({"count": count})

        def make(number: int) -> bytes:
            campaign = self._campaigns[number % len(self._campaigns)]
            return self._post(f"/v1/campaigns/{campaign}/ask", body)

        def handle(request: bytes, answer: bytes) -> None:
            campaign = request[request.index(b"campaigns/") + 10 :][:36].decode()
            leases.append((UUID(campaign), orjson.loads(answer)))

        load = burst(self._ports, numbered(make, requests), CONNECTIONS, handle)
        return load, leases

    def tell(self, leases: list[tuple[UUID, dict[str, object]]]) -> Load:
        """Answer every slot of these leases, one request per lease."""
        return burst(self._ports, iter([self._tell(*one) for one in leases]), CONNECTIONS)

    def _tell(self, campaign: UUID, lease: dict[str, object]) -> bytes:
        slots = lease["slots"]
        assert isinstance(slots, list)
        content = {
            "lease": lease["lease"],
            "answers": [{"slot": one["slot"], "score": 0.5} for one in slots],
        }
        return self._post(f"/v1/campaigns/{campaign}/tell", orjson.dumps(content))

    def _post(self, path: str, body: bytes) -> bytes:
        self._sent += 1
        key = f"{self._run}-{self._sent}"
        return post(path, body, self._headers | {"Idempotency-Key": key})


def run() -> dict[str, float]:
    """Return every figure."""
    figures: dict[str, float] = {}
    with ExitStack() as stack:
        dsn = stack.enter_context(database("load"))
        bench = Bench(dsn)
        asyncio.run(execute(dsn, TABLE))
        hot = bench.campaign()
        bench.copies(hot, MANY)
        others = [one for one in bench.ids() if one != hot]
        bare_ports = [free_port() for _ in range(PROCESSES)]
        ports = [free_port() for _ in range(PROCESSES)]
        for port in bare_ports:
            uvicorn = (
                f"uvicorn checks.bench.bare_insert:app --port {port}"
                " --no-access-log --log-level error"
            )
            stack.enter_context(server(uvicorn.split(), dsn, port))
        for port in ports:
            serve = f"affinity serve --port {port} --admin-port {free_port()} --quiet"
            stack.enter_context(server(serve.split(), dsn, port))
        figures |= _single(bare_ports, Target(ports, bench.key, [hot]), "")
        figures |= _single(bare_ports, Target(ports, bench.key, others[:100]), ".spread")
        many = Target(ports, bench.key, others)
        figures |= _single(bare_ports, many, ".spread_10000.at_first")
        _single(bare_ports, many, "")  # by now either process has met most of the campaigns
        figures |= _single(bare_ports, many, ".spread_10000")
        for name, spread in (("100", ".spread"), ("10000", ".spread_10000")):
            figures[f"service.spread.ratio.campaigns_{name}"] = figures[
                f"service.single{spread}.ratio"
            ]
        figures |= _blocks(Target(ports, bench.key, [hot]))
        figures |= _pgbench(dsn, bench.tenant, hot)
    figures |= _sizes()
    figures |= _ages()
    return figures


def _single(bare_ports: list[int], target: Target, suffix: str) -> dict[str, float]:
    """Compare asks and tells of one slot with the bare insert, in turn."""
    request = post("/insert", b'{"count": 1}')
    bare, asks, tells = [], [], []
    for _ in range(TURNS):
        bare.append(burst(bare_ports, _repeat(request, REQUESTS), CONNECTIONS))
        asked, leases = target.ask(REQUESTS, 1)
        asks.append(asked)
        bare.append(burst(bare_ports, _repeat(request, REQUESTS), CONNECTIONS))
        tells.append(target.tell(leases))
    _check(bare, asks, tells)
    # Medians of turns: a slow spell of the machine must not decide for either side.
    base = statistics.median(one.per_second for one in bare)
    ask = statistics.median(one.per_second for one in asks)
    tell = statistics.median(one.per_second for one in tells)
    name = f"service.single{suffix}"
    figures = {
        f"{name}.ratio": min(ask, tell) / base,
        f"{name}.ask.ratio": ask / base,
        f"{name}.tell.ratio": tell / base,
        f"{name}.bare_per_s": base,
        f"{name}.ask_per_s": ask,
        f"{name}.tell_per_s": tell,
    }
    if not suffix:
        figures["service.p99_ms"] = 1e3 * max(
            statistics.median(one.quantile(0.99) for one in loads) for loads in (asks, tells)
        )
        figures["service.bare.p99_ms"] = 1e3 * statistics.median(one.quantile(0.99) for one in bare)
    return figures


def _blocks(target: Target) -> dict[str, float]:
    """Measure large leases, answered slot by slot; asking counts too."""
    rates, p99 = [], []
    for _ in range(TURNS):
        asked, leases = target.ask(BLOCKS, BLOCK)
        told = target.tell(leases)
        _check([asked], [told])
        rates.append(BLOCKS * BLOCK / (asked.seconds + told.seconds))
        p99.append(max(asked.quantile(0.99), told.quantile(0.99)))
    return {
        "service.block.answers_per_s": statistics.median(rates),
        "service.block.p99_ms": 1e3 * statistics.median(p99),
    }


def _pgbench(dsn: str, tenant: int, campaign: UUID) -> dict[str, float]:
    """Run the bare insert and a single ask without HTTP, for the database's own limit."""
    ask = (
        f"SELECT * FROM affinity.ask(ARRAY[{tenant}::bigint], ARRAY['{campaign}'::uuid], ARRAY[1],"
        f" ARRAY['{campaign}'::uuid], true, NULL, ARRAY['b'], ARRAY[gen_random_uuid()::text],"
        " ARRAY[1]);"
    )
    statements = {"insert": "INSERT INTO bare (count) VALUES (1) RETURNING id;", "ask": ask}
    figures = {}
    program = shutil.which("pgbench")
    assert program is not None, "pgbench comes with PostgreSQL"
    for name, statement in statements.items():
        for clients in (1, 32):
            with tempfile.TemporaryDirectory() as directory:
                script = Path(directory, "script.sql")
                script.write_text(statement, encoding="utf-8")
                output = subprocess.run(
                    [program, *f"-n -M prepared -T 5 -j 2 -c {clients} -f {script}".split(), dsn],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            line = next(line for line in output.splitlines() if line.startswith("tps"))
            figures[f"service.pgbench.{name}.{clients}.tps"] = float(line.split()[2])
    return figures


def _sizes() -> dict[str, float]:
    """Compare an ask among 10 campaigns with one among 100,000."""
    with database("few") as few, database("many") as many:
        benches = {}
        for name, dsn, count in (("10", few, 10), ("100000", many, 100_000)):
            bench = Bench(dsn)
            bench.copies(bench.campaign(), count - 1)
            benches[name] = (dsn, bench.tenant, bench.ids())
        times = asyncio.run(_serial(benches))
    return {f"service.ask_ms.campaigns_{name}": 1e3 * value for name, value in times.items()} | {
        "service.campaigns.ratio": times["100000"] / times["10"]
    }


def _ages() -> dict[str, float]:
    """Compare asks of campaigns with 10^3 and 10^8 answers, and with 2 10^6 events, behind them."""
    with database("ages") as dsn:
        bench = Bench(dsn)
        benches = {}
        for name, blocks, block in (("1e3", 1, 1_000), ("1e8", 100_000, 1_000)):
            campaign = bench.campaign()
            bench.age(campaign, blocks, block)
            benches[name] = (dsn, bench.tenant, [campaign])
        campaign = bench.campaign()
        bench.age(campaign, 1_000_000, 2)
        benches["2e6_single_events"] = (dsn, bench.tenant, [campaign])
        times = asyncio.run(_serial(benches))
    return {f"service.ask_ms.answers_{name}": 1e3 * value for name, value in times.items()} | {
        "service.age.ratio": times["1e8"] / times["1e3"],
        "service.age.events_ratio": times["2e6_single_events"] / times["1e3"],
    }


async def _serial(benches: dict[str, tuple[str, int, list[UUID]]]) -> dict[str, float]:
    """Return the median time of an ask in each database, taken in turn."""
    chosen = random.Random(0)
    pools = {name: await connect(dsn, largest=1) for name, (dsn, _, _) in benches.items()}
    times: dict[str, list[float]] = {name: [] for name in benches}
    try:
        for _ in range(SERIAL):
            for name, (_, tenant, ids) in benches.items():
                ask = SlotAsk(1, uuid.uuid4().hex, "b")
                core, campaign = Campaigns(pools[name]), chosen.choice(ids)
                start = time.perf_counter()
                await core.ask(tenant, campaign, [ask])
                times[name].append(time.perf_counter() - start)
    finally:
        for pool in pools.values():
            await pool.close()
    return {name: statistics.median(each) for name, each in times.items()}


def _repeat(request: bytes, count: int) -> Iterator[bytes]:
    return numbered(lambda _: request, count)


def _check(*groups: list[Load]) -> None:
    failures = sum(load.failures for group in groups for load in group)
    if failures:
        raise RuntimeError(f"{failures} requests were refused: the figures would mean nothing")


if __name__ == "__main__":
    raise SystemExit(main(run))
