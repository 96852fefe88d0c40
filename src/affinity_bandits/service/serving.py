"""Run the service: one process, or several that share a listening socket."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import orjson
import uvicorn
from uvicorn.supervisors import Multiprocess

from affinity_bandits import checks
from affinity_bandits.errors import NotSupported
from affinity_bandits.service.http import create_app
from affinity_bandits.service.http.header_limit import HeaderLimit
from affinity_bandits.service.http.logs import log_config
from affinity_bandits.service.http.metrics import DIRECTORY
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import connect, translate_errors
from affinity_bandits.service.store.migrate import newest_revision, revision_of

WAITING_CONNECTIONS = 2048
STOP_SECONDS = 10
"""How long requests may go on after the service was told to stop."""
SILENT_SECONDS = 60
"""How long a worker may say nothing before it is replaced. It is silent while it starts, which
takes seconds where the machine is busy; uvicorn's own 5 would then replace it for ever."""


def serve(
    dsn: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    pool_size: int = 10,
    quiet: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT; a worker process that dies is replaced.

    The database need not be up, but if it is, its schema has to be the newest.

    Args:
        dsn: where the database is.
        host: the address to listen at.
        port: 0 takes a free one; the log says which.
        workers: processes.
        pool_size: connections to the database of each process.
        quiet: log only what fails by the service's own fault.

    Raises:
        InvalidInput: an argument breaks a rule, or the database cannot be opened.
        NotSupported: the schema is not the newest.
        OSError: the address cannot be listened at.
    """
    checks.integer("port", port, low=0, high=65_535)
    checks.integer("workers", workers, low=1, high=512)
    checks.integer("pool_size", pool_size, low=1, high=10_000)
    asyncio.run(check_schema(dsn))
    config = uvicorn.Config(
        partial(create_app, dsn, pool_size=pool_size),
        factory=True,
        workers=workers,
        loop="uvloop",
        http=HeaderLimit,
        lifespan="on",
        access_log=False,
        server_header=False,
        log_config=log_config(quiet=quiet),
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_worker_healthcheck=SILENT_SECONDS,
        # Where the client is comes from the connection: nothing here believes a header about it.
        proxy_headers=False,
    )
    with ExitStack() as stack:
        listening = stack.enter_context(_listen(host, port))
        if workers > 1:
            stack.enter_context(_shared_metrics())
        _say(listening)
        if workers > 1:
            Multiprocess(config, [listening]).run()
        else:
            uvicorn.Server(config).run([listening])


async def check_schema(dsn: str) -> None:
    """Check that a database has the newest schema, unless it does not answer.

    Raises:
        InvalidInput: it cannot be opened.
        NotSupported: its schema is another.
    """
    try:
        pool = await connect(dsn)
        try:
            async with translate_errors():
                found = await revision_of(pool)
        finally:
            await pool.close()
    except Unavailable:
        return
    needed = newest_revision()
    if found != needed:
        state = "no schema yet" if found is None else f"the schema {found}"
        raise NotSupported(
            f"the database has {state} and this version needs {needed}; "
            "run 'affinity serve migrate' first"
        )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """Create the directory in which processes share their metrics, and remove it at the end."""
    before = os.environ.get(DIRECTORY)
    with tempfile.TemporaryDirectory(prefix="affinity-metrics-") as directory:
        os.environ[DIRECTORY] = directory
        try:
            yield
        finally:
            if before is None:
                del os.environ[DIRECTORY]
            else:
                os.environ[DIRECTORY] = before


def _say(listening: socket.socket) -> None:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    line = {"level": "info", "event": "listening", "url": f"http://{shown}:{port}"}
    sys.stderr.write(orjson.dumps(line).decode() + "\n")
    sys.stderr.flush()
