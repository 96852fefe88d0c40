"""Two PostgreSQL clusters of which one follows the other, for failovers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import asyncpg

from soak.service.postgres import PATIENCE, Cluster

CUT_OFF = 0.4
"""Seconds for which the standby hears nothing before the primary crashes. What is acknowledged in
that time without having reached the standby is lost."""
IN_STEP = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"


class Pair:
    """A primary and its standby by streaming replication; a crash ends with the other as primary.

    It takes the place of a `Cluster`. The primary waits for its standby before a commit is
    acknowledged, unless the settings say otherwise.

    Args:
        directory: where to; must not exist, and others must be able to enter its parent.
        ports: where the two listen, on the loopback.
        settings: what differs from the defaults.
    """

    def __init__(
        self, directory: Path, ports: tuple[int, int], settings: Mapping[str, str]
    ) -> None:
        directory.mkdir(mode=0o711)
        ours = {"synchronous_standby_names": "*", **settings}
        self._directory = directory
        self._primary = Cluster(directory / "0", ports[0], ours)
        self._standby: Cluster | None = None
        self._ports = ports
        self._made = 1
        user, _, place = self._primary.dsn.partition("@127.0.0.1:")
        _, _, database = place.partition("/")
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        self.dsn = f"{user}@{hosts}/{database}?target_session_attrs=read-write"

    def start(self) -> None:
        """Start the primary, or let the standby take its place; then make a new standby of it."""
        if self._standby is None:
            self._primary.start()
        else:
            self._standby.promote()
            self._primary.remove()
            self._primary, self._standby = self._standby, None
            self._ports = self._ports[::-1]
        standby = self._primary.copy(self._directory / str(self._made), self._ports[1])
        self._made += 1
        standby.start()
        self._standby = standby
        asyncio.run(self._in_step())

    def crash(self) -> None:
        """Cut the standby off, then stop the primary at once."""
        if self._standby is not None:
            asyncio.run(_cut_off(self._standby.dsn))
            time.sleep(CUT_OFF)
        self._primary.crash()

    def stop(self) -> None:
        """Stop both for good, if they run."""
        self._primary.stop()
        if self._standby is not None:
            self._standby.stop()

    async def _in_step(self) -> None:
        until = time.monotonic() + PATIENCE
        primary = await asyncpg.connect(self._primary.dsn)
        try:
            while not await primary.fetchval(IN_STEP):
                if time.monotonic() > until:
                    raise RuntimeError("the standby never followed")
                await asyncio.sleep(0.05)
        finally:
            await primary.close()


async def _cut_off(dsn: str) -> None:
    standby = await asyncpg.connect(dsn)
    try:
        await standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
        await standby.execute("SELECT pg_reload_conf()")
    finally:
        await standby.close()
