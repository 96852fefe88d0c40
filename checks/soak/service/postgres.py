"""A PostgreSQL cluster for one run, which can be crashed at will."""

from __future__ import annotations

import asyncio
import getpass
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import asyncpg

SERVER_ACCOUNT = "postgres"
PATIENCE = 60.0  # longest that the server may take to start or stop
PORTS = range(20_000, 32_000)
"""Below what Linux gives to outgoing connections, so that a restarted server finds its own."""


def programs() -> Path | None:
    """Return the directory of the server's programs, if there is one."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda path: [int(part) for part in path.parent.name.split(".") if part.isdigit()],
    )
    if shutil.which("pg_config"):
        said = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True)
        found.append(Path(said.stdout.strip()))
    return next((path for path in reversed(found) if (path / "initdb").exists()), None)


def free_port(chance: random.Random) -> int:
    """Return a port that nobody listens on."""
    for port in chance.sample(PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port among a hundred")


class Cluster:
    """A cluster with the server's own defaults: fsync and synchronous_commit are on.

    Args:
        directory: where to; must not exist, and others must be able to enter its parent.
        port: where it listens, on the loopback.
        settings: what differs from the defaults.
        following: the cluster that it is a standby of, instead of a new one.
    """

    def __init__(
        self,
        directory: Path,
        port: int,
        settings: Mapping[str, str],
        following: Cluster | None = None,
    ) -> None:
        bin_ = programs()
        if bin_ is None:
            raise RuntimeError("initdb is neither where pg_config says nor in /usr/lib/postgresql")
        self._bin = bin_
        self._directory = directory
        directory.mkdir(mode=0o700)
        if os.geteuid() == 0:  # the server refuses to be root's
            shutil.chown(directory, SERVER_ACCOUNT, SERVER_ACCOUNT)
        user = getpass.getuser()
        if following is None:
            self._run(
                "initdb", f"--username={user}", "--auth=trust", "--encoding=UTF8", "--no-sync"
            )
        else:
            source = f"--dbname={following.dsn}"
            self._run("pg_basebackup", source, "--write-recovery-conf", "--checkpoint=fast")
        ours = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": str(directory),
            **settings,
        }
        with (directory / "data" / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in ours.items())
        self.dsn: str = f"postgresql://{user}@127.0.0.1:{port}/postgres"

    @property
    def pid(self) -> int:
        """The process that all others of a running server are children of."""
        return int((self._directory / "data" / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        """Start the server and wait until it answers, recovery included."""
        log = str(self._directory / "log")
        self._run("pg_ctl", "start", "--wait", f"--timeout={PATIENCE:.0f}", f"--log={log}")

    def copy(self, directory: Path, port: int) -> Cluster:
        """Make a standby of this one, which must be running."""
        return Cluster(directory, port, {}, following=self)

    def promote(self) -> None:
        """Let a standby be a primary from now on."""
        self._run("pg_ctl", "promote", "--wait", f"--timeout={PATIENCE:.0f}")

    def remove(self) -> None:
        """Delete what a stopped server has on disk."""
        shutil.rmtree(self._directory)

    def crash(self) -> None:
        """Stop the server at once, without writing out what is only in memory."""
        self._run("pg_ctl", "stop", "--mode=immediate", "--wait", f"--timeout={PATIENCE:.0f}")

    def stop(self) -> None:
        """Stop the server for good, if it runs."""
        if (self._directory / "data" / "postmaster.pid").exists():
            self.crash()

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), f"--pgdata={self._directory / 'data'}", *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", SERVER_ACCOUNT, "--", *command]
        # To a file: the server inherits the output, and a pipe would never end.
        said = self._directory / f"{program}.out"
        with said.open("wb") as output:
            done = subprocess.run(
                command,
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=2 * PATIENCE,
                start_new_session=True,  # so that Ctrl-C is ours alone to handle
            )
        if done.returncode != 0:
            text = said.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{program} {' '.join(arguments)} failed: {text}")


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
