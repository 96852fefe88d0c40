"""Run the HTTP server: one process, or several under a parent that replaces those that die."""

from __future__ import annotations

import asyncio
import ipaddress
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import orjson
import uvicorn

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.service import tracing
from affinity_bandits.service.http import create_app
from affinity_bandits.service.logs import log_config
from affinity_bandits.service.metrics import DIRECTORY
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import STATEMENT_CACHE, connect, translate_errors
from affinity_bandits.service.store.migrate import schema_problem

MOST_CONNECTIONS = 900
"""Default per process: with the database's connections they fit the usual 1,024 open files."""
WAITING_CONNECTIONS = 2048
IDLE_SECONDS = 10
"""How long a connection may be idle between requests."""
STOP_SECONDS = 10
"""How long requests may go on after the service was told to stop."""
LOOK_SECONDS = 0.5
"""Interval at which the parent looks for workers that died."""
SWITCH_SECONDS = 0.001
"""Longest time slice of a thread. With Python's default of 5 ms the event loop waits that long for
every thread that computes."""


def serve(
    dsn: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    pool_size: int = 10,
    statement_cache: int = STATEMENT_CACHE,
    quiet: bool = False,
    webhooks_private: bool = False,
    keep_requests_days: float | None = None,
    connections: int = MOST_CONNECTIONS,
    trusted_proxies: Sequence[str] = (),
    secure_cookies: bool = False,
    traces: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT; a worker process that dies is replaced.

    The database need not be up, but if it is, this version has to work with its schema.

    Args:
        dsn: the database.
        host: the address to listen at.
        port: 0 takes a free port, which the log reports.
        workers: processes.
        pool_size: database connections per process.
        statement_cache: prepared statements per database connection; 0 behind a pooler that gives
            each transaction another session.
        quiet: log only failures of the service.
        webhooks_private: allow webhooks to private addresses and over plain HTTP.
        keep_requests_days: days for which idempotency keys outlive a campaign; None for ever.
        connections: client connections per process.
        trusted_proxies: addresses or networks whose `X-Forwarded-*` headers are trusted.
        secure_cookies: mark session cookies as `Secure` also over HTTP.
        traces: export spans with OpenTelemetry.

    Raises:
        MissingExtra: traces are wanted, and OpenTelemetry is not installed.
        InvalidInput: an argument breaks a rule, or the database cannot be opened.
        NotSupported: this version does not work with the database's schema.
        OSError: the address cannot be listened at.
    """
    checks.integer("port", port, low=0, high=65_535)
    checks.integer("workers", workers, low=1, high=512)
    checks.integer("pool_size", pool_size, low=1, high=10_000)
    checks.integer("statement_cache", statement_cache, low=0, high=10_000)
    if keep_requests_days is not None:
        checks.number("keep_requests_days", keep_requests_days, low=0, high=36_500)
    checks.integer("connections", connections, low=1, high=1_000_000)
    settings = {
        "loop": "uvloop",
        "http": "httptools",
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "server_header": False,
        "log_config": log_config(quiet=quiet),
        "limit_concurrency": connections + 1,  # uvicorn refuses the one that reaches the limit
        "timeout_keep_alive": IDLE_SECONDS,
        "timeout_graceful_shutdown": STOP_SECONDS,
        "forwarded_allow_ips": check_proxies(trusted_proxies),
    }
    if traces:  # before the processes start that would all fail
        tracing.needed()
    asyncio.run(check_schema(dsn, statement_cache))
    make_app = partial(
        create_app,
        dsn,
        pool_size=pool_size,
        statement_cache=statement_cache,
        webhooks_private=webhooks_private,
        keep_requests_days=keep_requests_days,
        secure_cookies=secure_cookies,
        traces=traces,
    )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    backlog = WAITING_CONNECTIONS
    with socket.create_server((host, port), family=family, backlog=backlog) as listening:
        address, bound = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        _log("info", "listening", url=f"http://{shown}:{bound}")
        if workers == 1:
            _run(make_app, settings, listening)
        else:
            with _shared_metrics():
                _supervise(workers, make_app, settings, listening)


def check_proxies(trusted: Sequence[str]) -> list[str]:
    """Return addresses and networks as uvicorn reads them, which ignores those it cannot read.

    >>> check_proxies(["10.0.0.7", "10.1.2.3/8"])
    ['10.0.0.7', '10.0.0.0/8']
    """
    try:
        found = [ipaddress.ip_network(one, strict=False) for one in trusted]
    except ValueError:
        rule = "addresses or networks such as 10.0.0.7 or 10.0.0.0/8"
        raise InvalidInput("trusted_proxies", rule, list(trusted)) from None
    return [str(one[0] if one.num_addresses == 1 else one) for one in found]


def _run(make_app: Callable[[], Any], settings: dict[str, Any], listening: socket.socket) -> None:
    sys.setswitchinterval(SWITCH_SECONDS)
    uvicorn.Server(uvicorn.Config(make_app, factory=True, **settings)).run([listening])


def _work(*arguments: Any) -> None:
    """Serve in a worker process, which ends with its parent."""
    threading.Thread(target=_follow_parent, daemon=True).start()
    with suppress(KeyboardInterrupt):
        _run(*arguments)


def _follow_parent() -> None:
    """Stop this process when its parent has died, so that it does not keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _supervise(workers: int, *arguments: Any) -> None:
    """Run worker processes and replace those that die, until SIGTERM or SIGINT."""
    stop = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: stop.set())
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_work, args=arguments) for _ in range(workers)]
    for process in processes:
        process.start()
    while not stop.wait(LOOK_SECONDS):
        for place, process in enumerate(processes):
            if process.exitcode is not None:
                _log("error", "worker died", process=process.pid, exitcode=process.exitcode)
                processes[place] = context.Process(target=_work, args=arguments)
                processes[place].start()
    # Open here, the socket would still take connections that nobody answers.
    arguments[-1].close()
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(2 * STOP_SECONDS)
        process.kill()


async def check_schema(dsn: str, statement_cache: int = STATEMENT_CACHE) -> None:
    """Check that this version works with a database's schema, unless it does not answer.

    Raises:
        InvalidInput: it cannot be opened.
        NotSupported: its schema is too old or too new, or a pooler's sessions lack settings.
    """
    try:
        pool = await connect(dsn, largest=1, statement_cache=statement_cache)
        try:
            async with translate_errors():
                problem = await schema_problem(pool)
        finally:
            await pool.close()
    except Unavailable:
        return
    if problem is not None:
        raise NotSupported(problem)


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """Create the directory in which processes share their metrics, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="affinity-metrics-") as directory:
        os.environ[DIRECTORY] = directory
        try:
            yield
        finally:
            del os.environ[DIRECTORY]


def _log(level: str, event: str, **details: Any) -> None:
    line = {"level": level, "event": event} | details
    sys.stderr.write(orjson.dumps(line).decode() + "\n")
    sys.stderr.flush()
