"""PgBouncer in transaction mode: each transaction of a client may get another session."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

SETTINGS = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
logfile = {folder}/log
"""


@contextmanager
def pgbouncer(dsn: str, user: str, *, sessions: int = 3) -> Iterator[str]:
    """Run a pooler with a few sessions of a role; give the DSN of the same database through it."""
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not Path(program).exists():
        pytest.skip("pgbouncer is not installed (Debian: apt-get install pgbouncer)")
    where = urlsplit(dsn)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # it refuses to run as root, and does so as nobody
        file = Path(folder) / "pgbouncer.ini"
        file.write_text(
            SETTINGS.format(
                host=where.hostname or "127.0.0.1",
                port=where.port or 5432,
                user=user,
                listen=listen,
                sessions=sessions,
                folder=folder,
            )
        )
        as_nobody = ["-u", "nobody"] if os.geteuid() == 0 else []
        running = subprocess.Popen([program, "-q", *as_nobody, str(file)])
        try:
            _wait_for(listen, running)
            yield where._replace(netloc=f"any@127.0.0.1:{listen}").geturl()
        finally:
            running.terminate()
            running.wait(10)


def _wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        assert running.poll() is None, "pgbouncer ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("pgbouncer does not listen")
