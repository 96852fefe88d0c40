"""Kill, crash and pause clients, servers and PostgreSQL while campaigns run."""

from __future__ import annotations

import heapq
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

from checks.soak.service.client import Clients
from checks.soak.service.postgres import Cluster, Pair
from checks.soak.service.rows import Row
from checks.soak.service.servers import Servers

SECONDS_TO_BE_READY = 10.0  # longest wait for a server that is to be killed at work
PATIENCE = 3.0  # all may take so many times as long as planned, on a busy machine


@dataclass(frozen=True)
class Amounts:
    """How many faults there are of each kind, and over how long.

    Attributes:
        clients: at work at once.
        client_kills: SIGKILLs of clients.
        service_kills: SIGKILLs of servers.
        stops: crashes of PostgreSQL.
        pauses: clients that are paused for longer than a lease.
        seconds: over which all this is spread.
        pace: seconds between two requests of a client, on average.
    """

    clients: int
    client_kills: int
    service_kills: int
    stops: int
    pauses: int
    seconds: float
    pace: float


FULL = Amounts(64, 920, 100, 104, 110, seconds=600.0, pace=0.25)
SHORT = Amounts(8, 16, 4, 3, 3, seconds=14.0, pace=0.05)
FAILOVERS = Amounts(32, 60, 40, 20, 10, seconds=150.0, pace=0.1)
CONTROL = Amounts(16, 4, 0, 0, 2, seconds=8.0, pace=0.02)


class Faults:
    """Faults at random moments, each kind in a thread of its own.

    Args:
        amounts: how many of each.
        lease_seconds: how long a lease lasts.
        row: where what was done is counted.
        seed: of the moments.
    """

    def __init__(self, amounts: Amounts, lease_seconds: float, row: Row, seed: int) -> None:
        self._amounts = amounts
        self._lease_seconds = lease_seconds
        self._row = row
        self._seed = seed
        self._over = threading.Event()

    def run(
        self,
        cluster: Cluster | Pair,
        servers: Servers,
        clients: Clients,
        halfway: Callable[[], None],
    ) -> None:
        """Inject all faults; stop if the caller is interrupted."""
        parts = [
            lambda: self._stops(cluster),
            lambda: self._servers(servers),
            lambda: self._clients(clients),
            lambda: self._halfway(halfway),
        ]
        with ThreadPoolExecutor(len(parts)) as pool:
            running = [pool.submit(part) for part in parts]
            try:
                ended, late = wait(running, self._amounts.seconds * PATIENCE + 60, FIRST_EXCEPTION)
                for future in ended:
                    future.result()
                if late:
                    raise RuntimeError("the faults took far longer than planned")
            finally:
                self._over.set()
        done = self._row
        for name in ("client_kills", "service_kills", "stops", "pauses"):
            got, meant = getattr(done, name), getattr(self._amounts, name)
            done.expect(got >= meant, f"only {got} of {meant} {name}")

    def _moments(self, count: int, kind: str) -> Iterator[random.Random]:
        """Yield a random generator at each of so many random moments, then wait for the end."""
        chance = random.Random(f"{self._seed}/{kind}")
        seconds = self._amounts.seconds
        began = time.monotonic()
        for moment in sorted(chance.uniform(0.0, seconds) for _ in range(count)):
            if self._over.wait(max(0.0, began + moment - time.monotonic())):
                return
            yield chance
        self._over.wait(max(0.0, began + seconds - time.monotonic()))

    def _stops(self, cluster: Cluster | Pair) -> None:
        for chance in self._moments(self._amounts.stops, "stops"):
            cluster.crash()
            self._over.wait(chance.choice((0.0, 0.0, chance.uniform(0.0, 0.5))))
            cluster.start()
            self._row.stops += 1

    def _servers(self, servers: Servers) -> None:
        for chance in self._moments(self._amounts.service_kills, "servers"):
            place = chance.randrange(2)
            if chance.random() < 0.7:
                # The clock alone would find a server on a busy machine always at its start.
                until = time.monotonic() + SECONDS_TO_BE_READY
                while not servers.ready(place) and time.monotonic() < until:
                    servers.keep()
                    if self._over.wait(0.1):
                        return
                self._over.wait(chance.uniform(0.0, 1.0))
            killed = False
            while not killed and not self._over.is_set():  # one that ended by itself is no kill
                killed = servers.kill(place)
            self._row.service_kills += killed

    def _clients(self, clients: Clients) -> None:
        amounts, row = self._amounts, self._row
        actions = ["kill"] * amounts.client_kills + ["pause"] * amounts.pauses
        random.Random(self._seed).shuffle(actions)
        asleep: list[tuple[float, int]] = []

        def wake() -> None:
            until, number = heapq.heappop(asleep)
            time.sleep(max(0.0, until - time.monotonic()))
            clients.wake(number)

        for chance in self._moments(len(actions), "clients"):
            while asleep and asleep[0][0] <= time.monotonic():
                wake()
            paused = {number for _, number in asleep}
            awake = [number for number in range(amounts.clients) if number not in paused]
            chance.shuffle(awake)
            if actions.pop() == "kill":
                landed = clients.kill(awake[0])
                row.client_kills += landed
                row.expect(landed, f"client {awake[0]} had ended by itself")
            else:
                paused_one = None
                while paused_one is None and not self._over.is_set():
                    paused_one = clients.pause(awake)
                if paused_one is not None:
                    row.pauses += 1
                    moment = time.monotonic() + chance.uniform(1.1, 2.5) * self._lease_seconds
                    heapq.heappush(asleep, (moment, paused_one))
        while asleep:
            wake()

    def _halfway(self, action: Callable[[], None]) -> None:
        if not self._over.wait(self._amounts.seconds / 2):
            action()
