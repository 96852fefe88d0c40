"""Decisions from memory against one request each: `python -m checks.bench.stream --json`.

    stream.next_p50_us, stream.next_p99_us  what `next` takes, while slots are leased behind it
    stream.decisions_per_s                  `next` and `tell` in one process, one thread
    stream.counted_per_s                    answers that the server counted, end to end
    stream.bulk_per_s                       answers by the bulk route alone, asked for beforehand
    stream.counted_over_bulk                the ratio of these two, in the same run
    stream.single_per_s                     one request per ask and one per tell

The client, one server process and PostgreSQL share the machine's cores.
"""

from __future__ import annotations

import statistics
import sys
import time
from uuid import UUID

from affinity_bandits_client import Client, Lease
from checks.bench.measure import main
from checks.bench.service_setup import Bench, database, free_port, server

DECISIONS = 200_000
BLOCK = 10_000
SINGLE = 500
TURNS = 3


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    with database("stream") as dsn:
        bench, port = Bench(dsn), free_port()
        arguments = ["affinity", "serve", "--port", str(port), "--admin-port", str(free_port())]
        url = f"http://127.0.0.1:{port}"
        with server(arguments, dsn, port), Client(url, bench.key) as client:
            return _measure(client, bench)


def _measure(client: Client, bench: Bench) -> dict[str, float]:
    streamed, bulk = [], []
    for _ in range(TURNS):
        bulk.append(_bulk(client, bench.campaign()))
        streamed.append(_stream(client, bench.campaign()))
    nexts = sorted(_latencies(client, bench.campaign()))
    counted = statistics.median(one for _, one in streamed)
    return {
        "stream.next_p50_us": nexts[len(nexts) // 2],
        "stream.next_p99_us": nexts[len(nexts) * 99 // 100],
        "stream.decisions_per_s": statistics.median(one for one, _ in streamed),
        "stream.counted_per_s": counted,
        "stream.bulk_per_s": statistics.median(bulk),
        "stream.counted_over_bulk": statistics.median(
            one / other for (_, one), other in zip(streamed, bulk, strict=True)
        ),
        "stream.single_per_s": _single(client, bench.campaign()),
    }


def _stream(client: Client, campaign: UUID) -> tuple[float, float]:
    """Return decisions per second while slots last, and counted answers per second in all."""
    deciding, decided, began = 0.0, 0, time.perf_counter()
    with client.stream(campaign) as stream:
        while decided < DECISIONS:
            stream.wait()
            since = time.perf_counter()
            for _ in range(min(stream.stats().ready, DECISIONS - decided)):
                stream.tell(stream.next(), 0.5)
                decided += 1
            deciding += time.perf_counter() - since
        stream.close(120.0)
    counted = stream.stats().counted
    assert counted == DECISIONS, stream.stats()
    return decided / deciding, counted / (time.perf_counter() - began)


def _bulk(client: Client, campaign: UUID) -> float:
    """Return answers per second of the bulk route, of leases taken beforehand."""
    leases = []
    for _ in range(DECISIONS // BLOCK):
        lease = client.ask(campaign, BLOCK)
        assert isinstance(lease, Lease)
        leases.append(lease)
    began = time.perf_counter()
    lines = client.tell_many((lease, [0.5] * BLOCK) for lease in leases)
    assert sum(line.counted or 0 for line in lines) == DECISIONS
    return DECISIONS / (time.perf_counter() - began)


def _latencies(client: Client, campaign: UUID) -> list[float]:
    """Return what each call of `next` takes in microseconds, at about 20,000 a second."""
    found = []
    with client.stream(campaign, fallback="north") as stream:
        stream.wait()
        for _ in range(DECISIONS):
            began = time.perf_counter_ns()
            decision = stream.next()
            found.append((time.perf_counter_ns() - began) / 1000.0)
            stream.tell(decision, 0.5)
            while time.perf_counter_ns() - began < 50_000:
                pass
        stream.close(120.0)
    return found


def _single(client: Client, campaign: UUID) -> float:
    """Return decisions per second with two requests each."""
    began = time.perf_counter()
    for _ in range(SINGLE):
        lease = client.ask(campaign)
        assert isinstance(lease, Lease)
        client.tell(lease, [0.5])
    return SINGLE / (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main(run))
