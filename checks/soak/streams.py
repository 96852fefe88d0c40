"""The soak test of streams: python -m checks.soak.streams [--short] [--control] [--seed N].

Streams with journals share a campaign in processes of their own. These are killed, and so are the
server and PostgreSQL. In the end every answer that `tell` took must have counted exactly once, and
the campaign's state must follow from its trail. `--control` leaves the journals out: answers that
were not sent yet are lost with their process, and the check must find them missing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from affinity_bandits.base.declaration import EXAMPLES
from affinity_bandits_client import Client
from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.store.migrate import migrate
from affinity_bandits_service.trail.verify import verify
from checks.soak.service.postgres import Cluster, free_port
from checks.soak.service.servers import Servers, environment

STREAMS = 20
PACE = 0.002  # seconds between two decisions of a stream
QUIET = 120.0  # seconds that the last answers may take once nothing is disturbed
STREAM = """
import os, signal, sys, time
from affinity_bandits_client import Client
url, key, campaign, journal, record = sys.argv[1:]
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(True))
told = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
with Client(url, key, attempts=2, timeout=5.0) as client:
    stream = client.stream(campaign, fallback="north", journal=journal or None)
    while not over:
        decision = stream.next()
        if not decision.is_fallback:
            stream.tell(decision, (decision.slot % 3) / 2)
            os.write(told, b"%d %d\\n" % (decision.lease, decision.slot))
        time.sleep({pace})
    stream.close({quiet})
    assert not stream.stats().waiting and not stream.stats().dropped, stream.stats()
"""


class Found(NamedTuple):
    """Counts of the answers at the end.

    Attributes:
        told: answers that `tell` took.
        counted: answers in the campaign's sums.
        lost: answers that were taken and did not count.
        twice: slots that counted twice.
        differences: between the campaign's state and its trail.
    """

    told: int
    counted: int
    lost: int
    twice: int
    differences: int


def run(*, kills: int, stops: int, journals: bool, seed: int) -> Found:
    """Run streams, disturb them, and look."""
    chance = random.Random(seed)
    scratch = Path(tempfile.mkdtemp(prefix="soak-", dir="/tmp"))
    scratch.chmod(0o711)  # the server's account has to pass through
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        cluster = Cluster(scratch / "postgres", free_port(chance), {})
        stack.callback(cluster.stop)
        cluster.start()
        migrate(cluster.dsn)
        key = asyncio.run(_key(cluster.dsn))
        port = free_port(chance)
        servers = Servers(scratch, [port], [free_port(chance)], environment(cluster.dsn))
        stack.callback(servers.close)
        servers.wait()
        url = f"http://127.0.0.1:{port}"
        with Client(url, key) as client:
            arms = ["north", "south"]
            campaign = client.create_campaign(
                "s", arms, {"name": "uniform"}, horizon=10**9, declaration=EXAMPLES
            ).id
        script = STREAM.replace("{pace}", str(PACE)).replace("{quiet}", str(QUIET))

        def record(number: int) -> int:
            path = scratch / f"told-{number}"
            return path.stat().st_size if path.exists() else 0

        def start(number: int) -> subprocess.Popen[bytes]:
            journal = str(scratch / f"journal-{number}") if journals else ""
            files = [journal, str(scratch / f"told-{number}")]
            command = [sys.executable, "-c", script, url, key, campaign, *files]
            return subprocess.Popen(command, env=environment(cluster.dsn))

        streams = [start(number) for number in range(STREAMS)]
        sizes = [0] * STREAMS
        stack.callback(_kill, streams)
        faults = ["kill"] * kills + ["server"] * (stops // 2) + ["database"] * (stops - stops // 2)
        chance.shuffle(faults)
        for fault in faults:
            time.sleep(chance.uniform(0.1, 0.5))
            if fault == "kill":
                number = chance.randrange(STREAMS)
                until = time.monotonic() + QUIET  # it is killed while it has something to lose
                while record(number) <= sizes[number] and time.monotonic() < until:
                    time.sleep(0.05)
                sizes[number] = record(number)
                streams[number].kill()
                streams[number].wait()
                streams[number] = start(number)
            elif fault == "server":
                servers.kill(0)
            else:
                cluster.crash()
                time.sleep(chance.uniform(0.0, 1.0))
                cluster.start()
            servers.keep()
        servers.wait()
        time.sleep(2.0)
        for one in streams:
            one.send_signal(signal.SIGTERM)
        codes = [one.wait(2 * QUIET) for one in streams]
        if any(code not in (0, -signal.SIGTERM) for code in codes):
            raise RuntimeError(f"streams ended with {codes}")
        told = {
            tuple(map(int, line.split()))
            for path in scratch.glob("told-*")
            for line in path.read_text().splitlines()
        }
        return asyncio.run(_look(cluster.dsn, UUID(campaign), told))


def _kill(processes: list[subprocess.Popen[bytes]]) -> None:
    for one in processes:
        one.kill()


async def _key(dsn: str) -> str:
    pool = await connect(dsn)
    try:
        tenant = await keys.create_tenant(pool, "soak")
        return await keys.make_key(pool, tenant, "soak", SCOPES, requests_per_second=1e6)
    finally:
        await pool.close()


async def _look(dsn: str, campaign: UUID, told: set[tuple[int, ...]]) -> Found:
    pool = await connect(dsn)
    try:
        rows = await pool.fetch(
            "SELECT lease, told, counted, late + duplicate AS other FROM affinity.events"
            " WHERE campaign = $1 AND kind = 'tell' ORDER BY number",
            campaign,
        )
        # Leases last an hour, so a slot has one lease; a tell counts whole or repeats one.
        counted = Counter(
            (row["lease"], slot) for row in rows if not row["other"] for slot in row["told"]
        )
        answered = await pool.fetchval(
            "SELECT answered FROM affinity.heads WHERE campaign = $1", campaign
        )
        differences = len((await verify(pool, campaign)).differences)
    finally:
        await pool.close()
    twice = sum(number > 1 for number in counted.values())
    return Found(len(told), answered, len(told - counted.keys()), twice, differences)


def main() -> int:
    """Run the soak test; return 1 if an answer was lost or counted twice."""
    parser = argparse.ArgumentParser(prog="python -m checks.soak.streams", description=__doc__)
    parser.add_argument("--short", action="store_true", help="few faults")
    parser.add_argument("--control", action="store_true", help="without journals")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    kills, stops = (20, 2) if given.short else (200, 20)
    found = run(kills=kills, stops=stops, journals=not given.control, seed=given.seed)
    print(json.dumps(found._asdict()))
    sound = not found.twice and not found.differences and bool(found.lost) == given.control
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
