"""Run the service: one process, or several that share a listening socket."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import orjson
import uvicorn
from uvicorn.supervisors import Multiprocess, multiprocess

from affinity_bandits import checks
from affinity_bandits.errors import NotSupported
from affinity_bandits.service import tracing
from affinity_bandits.service.http import create_app
from affinity_bandits.service.http.connections import MOST_CONNECTIONS, Connection, Doorkeeper
from affinity_bandits.service.http.logs import log_config
from affinity_bandits.service.http.metrics import DIRECTORY
from affinity_bandits.service.http.proxies import Proxies
from affinity_bandits.service.parent import follow
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import connect, translate_errors
from affinity_bandits.service.store.migrate import newest_revision, revision_of

WAITING_CONNECTIONS = 2048
STOP_SECONDS = 10
"""How long requests may go on after the service was told to stop."""
SWITCH_SECONDS = 0.001
"""After how long a thread lets others run: Python's own 5 ms are what the event loop would wait for
each thread that works on something large, whenever it has anything to do."""
SILENT_SECONDS = 60
"""How long a worker may say nothing before it is replaced. It is silent while it starts, which
takes seconds where the machine is busy; uvicorn's own 5 would then replace it for ever."""
LISTEN_SECONDS = 0.1
"""How long a worker's answer is waited for at each look, of which there are two a second."""


def serve(
    dsn: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    pool_size: int = 10,
    quiet: bool = False,
    webhooks_private: bool = False,
    keep_requests_days: float | None = None,
    connections: int = MOST_CONNECTIONS,
    trusted_proxies: Sequence[str] = (),
    secure_cookies: bool = False,
    traces: bool = False,
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
        webhooks_private: whether webhooks may lead to private addresses, and by plain HTTP.
        keep_requests_days: days for which idempotency keys outlive a campaign; None for ever.
        connections: of clients to each process at most; half of them from one address.
        trusted_proxies: addresses or networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are
            believed.
        secure_cookies: whether browsers are always told to send the session by HTTPS alone; else
            they are where they came by HTTPS.
        traces: whether spans are made for OpenTelemetry.

    Raises:
        MissingExtra: spans are wanted, and OpenTelemetry is not installed.
        InvalidInput: an argument breaks a rule, or the database cannot be opened.
        NotSupported: the schema is not the newest.
        OSError: the address cannot be listened at.
    """
    checks.integer("port", port, low=0, high=65_535)
    checks.integer("workers", workers, low=1, high=512)
    checks.integer("pool_size", pool_size, low=1, high=10_000)
    if keep_requests_days is not None:
        checks.number("keep_requests_days", keep_requests_days, low=0, high=36_500)
    checks.integer("connections", connections, low=1, high=1_000_000)
    doorkeeper = Doorkeeper(connections, Proxies(trusted_proxies))
    if traces:  # said here, and not by each process that dies of it
        tracing.needed()
    asyncio.run(check_schema(dsn))
    config = _Config(
        partial(
            create_app,
            dsn,
            pool_size=pool_size,
            webhooks_private=webhooks_private,
            keep_requests_days=keep_requests_days,
            trusted_proxies=tuple(trusted_proxies),
            secure_cookies=secure_cookies,
            traces=traces,
        ),
        doorkeeper,
        factory=True,
        workers=workers,
        loop="uvloop",
        http=Connection,
        ws="none",
        lifespan="on",
        access_log=False,
        server_header=False,
        log_config=log_config(quiet=quiet),
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_worker_healthcheck=SILENT_SECONDS,
        # The application has a stricter one of its own.
        proxy_headers=False,
    )
    with ExitStack() as stack:
        listening = stack.enter_context(_listen(host, port))
        if workers > 1:
            stack.enter_context(_shared_metrics())
        _say(listening)
        if workers > 1:
            _Supervisor(config, [listening]).run()
        else:
            uvicorn.Server(config).run([listening])


class _Config(uvicorn.Config):
    """Uvicorn's configuration, which is all of ours that it hands on to a worker process.

    Args:
        app: makes the application.
        doorkeeper: knows the connections of the process.
        settings: uvicorn's.
    """

    def __init__(self, app: Any, doorkeeper: Doorkeeper, **settings: Any) -> None:
        # Looked at once a second; without a pause, whenever it is looked at.
        super().__init__(app, callback_notify=doorkeeper.look, timeout_notify=0, **settings)
        self.doorkeeper = doorkeeper
        self._parent = os.getpid()

    def load(self) -> None:
        """Prepare to serve; the first thing that a worker process does."""
        sys.setswitchinterval(SWITCH_SECONDS)
        if os.getpid() != self._parent:
            follow(self._parent, STOP_SECONDS)
        super().load()


class _Worker(multiprocess.Process):
    """Uvicorn's worker process, as its parent sees it: asked for a sign of life, not waited for.

    Uvicorn waits for an answer for as long as a worker may be silent. Of one that dies before it
    answers, it would learn only then, and of a signal, too.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._heard = time.monotonic()

    def is_alive(self, timeout: float = SILENT_SECONDS) -> bool:
        """Return whether it runs and has not been silent for so many seconds."""
        if super().is_alive(LISTEN_SECONDS):
            self._heard = time.monotonic()
            while self.parent_conn.poll():  # answers to what it was asked while it was silent
                self.parent_conn.recv()
        return self.process.is_alive() and time.monotonic() - self._heard < timeout


class _Supervisor(Multiprocess):
    """Uvicorn's parent of worker processes, which stops listening as soon as they do."""

    def run(self) -> None:
        """Start workers, and replace those that die, until told to stop."""
        # Uvicorn makes its workers by this name, and has no setting for it.
        multiprocess.Process = _Worker  # type: ignore[assignment, misc]
        super().run()

    def terminate_all(self) -> None:
        """Tell the workers to stop."""
        # Open here, it would still take connections, and nobody would answer them.
        for one in self.sockets:
            one.close()
        super().terminate_all()


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
