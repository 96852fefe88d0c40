"""Run a scenario: a cluster, servers, clients and faults; then finish in quiet, and check."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from affinity_bandits_client import Client as Owner
from affinity_bandits_client.messages.base import LARGEST_LEASE, SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.problems import Unavailable
from affinity_bandits_service.store import roles
from affinity_bandits_service.store.connection import GONE, connect
from affinity_bandits_service.store.migrate import migrate
from checks.soak.service.cases import Case
from checks.soak.service.checker import check
from checks.soak.service.client import Client, Clients, Setup
from checks.soak.service.faults import Amounts, Faults
from checks.soak.service.postgres import Cluster, Pair, free_port
from checks.soak.service.rows import Row
from checks.soak.service.servers import Servers, environment
from checks.soak.service.upgrade import release_2
from tests.support.poolers import pgbouncer

LEASE_SECONDS = 2.0


@dataclass(frozen=True)
class Scenario:
    """The settings of one run.

    Attributes:
        name: of the column.
        amounts: of faults.
        cases: the campaigns.
        patience: seconds that finishing the campaigns may take once nobody disturbs it.
        settings: of PostgreSQL, where they are not the defaults.
        damage: statements that take a guard out of the schema.
        standby: whether PostgreSQL has a standby that takes its place after each stop.
        pooled: whether PgBouncer stands between, in transaction mode.
        upgraded: whether the schema is migrated halfway, and former processes go on and start.
    """

    name: str
    amounts: Amounts
    cases: Sequence[Case]
    patience: float = 180.0
    settings: Mapping[str, str] = field(default_factory=dict)
    damage: Sequence[str] = ()
    standby: bool = False
    pooled: bool = False
    upgraded: bool = False


def run(scenario: Scenario, seed: int, *, keep: bool = False) -> Row:
    """Run a scenario in a directory of its own, which is removed unless something is wrong."""
    began = time.perf_counter()
    row = Row(scenario.name, clients=scenario.amounts.clients)
    # Not a test's directory: the server's account has to pass through, and sockets need a short
    # name.
    scratch = Path(tempfile.mkdtemp(prefix="soak-", dir="/tmp"))
    scratch.chmod(0o711)
    finished = False
    try:
        _run(scenario, seed, scratch, row)
        finished = True
    finally:
        if keep and not (finished and row.verdict.good and not row.violations):
            row.note = f"kept {scratch}"
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    row.seconds = round(time.perf_counter() - began, 1)
    return row


def _run(scenario: Scenario, seed: int, scratch: Path, row: Row) -> None:
    chance = random.Random(f"{seed}/{scenario.name}/{time.time()}")
    with contextlib.ExitStack() as stack:
        place, port = scratch / "postgres", free_port(chance)
        cluster: Cluster | Pair
        if scenario.standby:
            cluster = Pair(place, (port, free_port(chance)), scenario.settings)
        else:
            cluster = Cluster(place, port, scenario.settings)
        stack.callback(cluster.stop)
        cluster.start()
        migrate(cluster.dsn)
        api_key = asyncio.run(_prepared(cluster.dsn, scenario.damage))
        ports, admin_ports = ([free_port(chance), free_port(chance)] for _ in range(2))
        variables = environment(cluster.dsn)
        if scenario.pooled:
            roles.carry_out(cluster.dsn, roles.setup(roles.OWNER, roles.SERVICE, "postgres"))
            roles.carry_out(cluster.dsn, roles.grants(roles.SERVICE))
            through = stack.enter_context(pgbouncer(cluster.dsn, roles.SERVICE, sessions=10))
            variables |= {"AFFINITY_DSN": through, "AFFINITY_STATEMENT_CACHE": "0"}
        servers = Servers(scratch, ports, admin_ports, variables)
        stack.callback(servers.close)
        servers.wait()
        with Owner(f"http://127.0.0.1:{ports[0]}", api_key) as owner:
            campaigns = [
                (
                    owner.create_campaign(**case.description(LEASE_SECONDS)).id,
                    case,
                )
                for case in scenario.cases
            ]
        setup = Setup(ports, api_key, campaigns, scenario.amounts.pace, seed, LEASE_SECONDS)
        setup.save(scratch / "setup.json")
        clients = Clients(scratch, scenario.amounts.clients)
        stack.callback(clients.close)
        faults = Faults(scenario.amounts, LEASE_SECONDS, row, seed)

        def halfway() -> None:
            if scenario.upgraded:
                _upgrade(cluster.dsn)
                row.note = "migrated to version 2 halfway"
            _stop_some(setup)

        faults.run(cluster, servers, clients, halfway)
        servers.wait()
        codes = clients.finish()
        row.expect(not codes, f"clients ended with {codes}: {clients.errors.read_text()[-1000:]}")
        finished = _finished(setup, scratch, scenario.patience)
        row.expect(finished, f"not finished in {scenario.patience:.0f} quiet seconds")
        servers.keep()
        row.service_ends = servers.ended
        journals = sorted(scratch.glob("*.journal"))
        row.verdict = asyncio.run(check(cluster.dsn, setup, journals))


async def _prepared(dsn: str, damage: Sequence[str]) -> str:
    """Make an API key, and take the guards out that are to be missing."""
    pool = await connect(dsn)
    try:
        tenant = await keys.create_tenant(pool, "soak")
        for statement in damage:
            await _take_out(pool, statement)
        return await keys.make_key(pool, tenant, "soak", SCOPES, requests_per_second=1e6)
    finally:
        await pool.close()


async def _take_out(pool: asyncpg.Pool[Any], statement: str) -> None:
    """Carry out a statement, or an edit of a function: "FUNCTION: before -> after"."""
    function, edit, change = statement.partition(": ")
    if not edit:
        await pool.execute(statement)
        return
    before, _, after = change.partition(" -> ")
    text = await pool.fetchval("SELECT pg_get_functiondef($1::regproc)", f"affinity.{function}")
    if before not in text:
        raise RuntimeError(f"affinity.{function} has no {before!r} that could be taken out")
    await pool.execute(text.replace(before, after))


def _upgrade(dsn: str) -> None:
    """Migrate to a version that this process alone has, again if PostgreSQL crashes meanwhile."""
    with release_2():
        for _ in range(20):
            try:
                return migrate(dsn)
            except (Unavailable, *GONE):
                time.sleep(0.5)
    raise RuntimeError("PostgreSQL was away whenever it was to be migrated")


def _stop_some(setup: Setup) -> None:
    """Stop the campaigns that are to be stopped, repeating each request until it is answered."""
    with Owner(f"http://127.0.0.1:{setup.ports[0]}", setup.api_key, attempts=100) as owner:
        for id_, case in setup.campaigns:
            if case.stopped:
                owner.stop(id_)


def _finished(setup: Setup, scratch: Path, patience: float) -> bool:
    """Finish every campaign without disturbance; return whether that worked."""
    until = time.monotonic() + patience
    client = Client(setup, scratch / "last.journal", random.Random(0))
    open_ = set(range(len(setup.campaigns)))
    try:
        while open_ and time.monotonic() < until:
            waits = []
            for campaign in sorted(open_):
                lease = client.post("ask", campaign, uuid.uuid4().hex, {"count": LARGEST_LEASE})
                if lease is None:
                    continue
                if lease["status"] == "wait":
                    waits.append(lease["retry_after"])
                elif lease["status"] != "leased":
                    open_.discard(campaign)
                else:
                    body = {"lease": lease["lease"], "answers": client.answers(campaign, lease)}
                    client.post("tell", campaign, uuid.uuid4().hex, body)
                    if len(lease["arms"]) == 1 and client.status(campaign) == "decided":
                        open_.discard(campaign)
            if open_ and len(waits) == len(open_):
                time.sleep(min(LEASE_SECONDS, max(0.05, *waits)))
    finally:
        client.close()
    return not open_
