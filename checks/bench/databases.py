"""Tenants on one and on two PostgreSQL servers, and removing events.

    python -m checks.bench.databases

    databases.one.answers_per_s, .two.       two tenants with their blocks, in turn on one server
                                             and on two, behind the same two service processes
    databases.ratio                          the second over the first
    databases.one.client_us, .service_us, .postgres_us, and of two
                                             CPU time per answer, by the kind of process
    databases.one.cores_busy, .two.          cores that these got together, of `databases.cores`
    databases.remove.delete_s, .drop_s       to remove 10^6 events as `archive` does, and by
                                             dropping a table with the same rows
    databases.remove.delete_wal_mb, .drop_wal_mb
                                             the log that either writes, which replicas have to read

All processes share the machine's cores: if all are busy, a second database server cannot add
anything, and the CPU time per answer says how many cores a load needs.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits_service.store.connection import connect, sql
from affinity_bandits_service.store.migrate import migrate
from affinity_bandits_service.trail.archive import REMOVED_AT_ONCE
from checks.bench.measure import main, processor_seconds
from checks.bench.service import Target
from checks.bench.service_setup import PROCESSES, Bench, free_port, server
from checks.soak.service.postgres import Cluster
from checks.soak.service.postgres import free_port as fixed_port

CAMPAIGNS = 8
"""Campaigns per tenant: enough that requests do not wait for the row of one campaign."""
BLOCK, BLOCKS, TURNS = 100, 400, 6
EVENTS = 1_000_000


class Tenants(Target):
    """Load from several tenants: each campaign is asked and told with its own key."""

    def __init__(self, ports: list[int], keys: dict[UUID, str]) -> None:
        super().__init__(ports, "", list(keys))
        self._keys = {str(campaign): key for campaign, key in keys.items()}

    def _post(self, path: str, body: bytes) -> bytes:
        self._headers = {"Authorization": f"Bearer {self._keys[path.split('/')[3]]}"}
        return super()._post(path, body)


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    with clusters() as (first, second):
        return _answers(first, second) | asyncio.run(_removals(first.dsn))


@contextmanager
def clusters() -> Iterator[tuple[Cluster, Cluster]]:
    """Run two PostgreSQL servers with their own defaults, migrated."""
    scratch = Path(tempfile.mkdtemp(prefix="bench-", dir="/tmp"))
    scratch.chmod(0o711)  # the server's account has to pass through
    chance = random.Random()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        made = [Cluster(scratch / name, fixed_port(chance), {}) for name in ("one", "two")]
        for one in made:
            stack.callback(one.stop)
            one.start()
            migrate(one.dsn)
        yield made[0], made[1]


def _answers(first: Cluster, second: Cluster) -> dict[str, float]:
    here, too, there = Bench(first.dsn, "a"), Bench(first.dsn, "b"), Bench(second.dsn, "b")
    ports = [free_port() for _ in range(PROCESSES)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "databases.toml"
        file.write_text(f'[one]\ndsn = "{first.dsn}"\n[two]\ndsn = "{second.dsn}"\n')
        services = []
        for port in ports:
            serve = f"affinity serve --port {port} --admin-port {free_port()} --quiet"
            arguments = [*serve.split(), "--databases", str(file)]
            services.append(stack.enter_context(server(arguments, first.dsn, port)))
        roots = {"service": services, "postgres": [first.pid, second.pid]}
        loads = {
            name: Tenants(ports, {b.campaign(): b.key for b in pair for _ in range(CAMPAIGNS)})
            for name, pair in (("one", (here, too)), ("two", (here, there)))
        }
        for load in loads.values():
            _turn(load, roots)  # both processes meet their keys and campaigns
        turns: dict[str, list[dict[str, float]]] = {name: [] for name in loads}
        for _ in range(TURNS):
            for name, load in loads.items():
                turns[name].append(_turn(load, roots))
    figures = {
        f"databases.{name}.{figure}": statistics.median(one[figure] for one in each)
        for name, each in turns.items()
        for figure in each[0]
    }
    pairs = zip(turns["one"], turns["two"], strict=True)
    ratios = [b["answers_per_s"] / a["answers_per_s"] for a, b in pairs]
    return figures | {
        "databases.ratio": statistics.median(ratios),
        "databases.cores": float(len(os.sched_getaffinity(0))),
    }


def _turn(load: Tenants, roots: dict[str, list[int]]) -> dict[str, float]:
    """Ask for blocks and answer them; return answers per second, and CPU time by kind."""
    before = {name: processor_seconds(*pids) for name, pids in roots.items()}
    client, began = time.process_time(), time.perf_counter()
    asked, leases = load.ask(BLOCKS, BLOCK)
    told = load.tell(leases)
    seconds = time.perf_counter() - began
    spent = {name: processor_seconds(*pids) - before[name] for name, pids in roots.items()}
    spent["client"] = time.process_time() - client
    if asked.failures or told.failures:
        raise RuntimeError("requests were refused: the figures would mean nothing")
    answers = len(leases) * BLOCK
    return {f"{name}_us": 1e6 * cpu / answers for name, cpu in spent.items()} | {
        "answers_per_s": answers / seconds,
        "cores_busy": sum(spent.values()) / seconds,
    }


async def _removals(dsn: str) -> dict[str, float]:
    """Remove as many events row by row, and with the table that has them."""
    bench = await asyncio.to_thread(Bench, dsn, "removing")
    campaign = await asyncio.to_thread(bench.campaign)
    await asyncio.to_thread(bench.age, campaign, EVENTS // 2, 2)
    pool = await connect(dsn, largest=1)
    try:
        copy = "CREATE TABLE public.copied (LIKE affinity.events INCLUDING ALL)"
        await pool.execute(copy)
        fill = "INSERT INTO public.copied SELECT * FROM affinity.events WHERE campaign = $1"
        await pool.execute(fill, campaign, timeout=600)
        await pool.execute("CHECKPOINT")

        async def delete() -> None:
            await pool.execute(sql.begin_removal, campaign, "bench", {})
            while await pool.fetchval(sql.remove_rows, campaign, REMOVED_AT_ONCE):
                pass

        async def drop() -> None:
            await pool.execute("DROP TABLE public.copied")

        deleted, dropped = await _timed(pool, delete), await _timed(pool, drop)
    finally:
        await pool.close()
    return {
        "databases.remove.delete_s": deleted[0],
        "databases.remove.delete_wal_mb": deleted[1],
        "databases.remove.drop_s": dropped[0],
        "databases.remove.drop_wal_mb": dropped[1],
    }


async def _timed(pool: asyncpg.Pool[Any], work: Any) -> tuple[float, float]:
    """Return the seconds that some work takes, and the megabytes of log that it writes."""
    begun, start = await pool.fetchval("SELECT pg_current_wal_lsn()::text"), time.perf_counter()
    await work()
    seconds = time.perf_counter() - start
    query = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1::text::pg_lsn)"
    return seconds, float(await pool.fetchval(query, begun)) / 1e6


if __name__ == "__main__":
    raise SystemExit(main(run))
