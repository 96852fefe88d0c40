"""Run the HTTP server: one process, with an address for requests and one for probes and metrics."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from typing import Any

import orjson
import uvicorn
import uvloop

from affinity_bandits.base import checks
from affinity_bandits.base.errors import CallerError, NotSupported
from affinity_bandits_service import tracing
from affinity_bandits_service.databases import Databases, databases_of
from affinity_bandits_service.http import admin_app, create_app
from affinity_bandits_service.http.impatient import Impatient
from affinity_bandits_service.logs import log_config
from affinity_bandits_service.problems import Unavailable
from affinity_bandits_service.store.connection import STATEMENT_CACHE, connect, translate_errors
from affinity_bandits_service.store.migrate import schema_problem

WAITING_CONNECTIONS = 2048
IDLE_SECONDS = 75
"""How long a client may let a connection wait for a request, or for the next piece of one: longer
than a proxy keeps a connection, or it would send requests into those that are being closed."""
STOP_SECONDS = 10
"""How long requests may go on after the service was told to stop."""
SWITCH_SECONDS = 0.001
"""Longest time slice of a thread. With Python's default of 5 ms the event loop waits that long for
every thread that computes."""


def serve(
    databases: str | Databases,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    admin_host: str = "127.0.0.1",
    admin_port: int = 8001,
    pool_size: int = 10,
    statement_cache: int = STATEMENT_CACHE,
    quiet: bool = False,
    webhooks_private: bool = False,
    keep_requests_days: float | None = None,
    traces: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT.

    A database need not be up, but if it is, this version has to work with its schema.
    Slow clients and connections are limited by the proxy in front, whose `X-Forwarded-*` headers
    uvicorn takes from the addresses in FORWARDED_ALLOW_IPS.

    Args:
        databases: the only database, or several by name, each with tenants of its own.
        host: the address to listen at.
        port: 0 takes a free port, which the log reports.
        admin_host: the address for probes and metrics, which need no API key.
        admin_port: 0 takes a free port.
        pool_size: connections per database.
        statement_cache: prepared statements per database connection; 0 behind a pooler that gives
            each transaction another session.
        quiet: log only failures of the service.
        webhooks_private: allow webhooks to private addresses and over plain HTTP.
        keep_requests_days: days for which idempotency keys outlive a campaign; None for ever.
        traces: export spans with OpenTelemetry.

    Raises:
        MissingExtra: traces are wanted, and OpenTelemetry is not installed.
        InvalidInput: an argument breaks a rule, or the database cannot be opened.
        NotSupported: this version does not work with the database's schema.
        OSError: an address is taken or forbidden.
    """
    checks.integer("port", port, low=0, high=65_535)
    checks.integer("admin_port", admin_port, low=0, high=65_535)
    checks.integer("pool_size", pool_size, low=1, high=10_000)
    checks.integer("statement_cache", statement_cache, low=0, high=10_000)
    if keep_requests_days is not None:
        checks.number("keep_requests_days", keep_requests_days, low=0, high=36_500)
    if traces:  # before anything is begun
        tracing.import_opentelemetry()
    named = databases_of(databases)
    asyncio.run(check_schemas(named, statement_cache))
    app = create_app(
        named,
        pool_size=pool_size,
        statement_cache=statement_cache,
        webhooks_private=webhooks_private,
        keep_requests_days=keep_requests_days,
        traces=traces,
    )
    settings: dict[str, Any] = {
        "http": Impatient,
        "ws": "none",
        "access_log": False,
        "server_header": False,
        "log_config": log_config(quiet=quiet),
        "timeout_keep_alive": IDLE_SECONDS,
    }
    server = uvicorn.Server(
        uvicorn.Config(app, lifespan="on", timeout_graceful_shutdown=STOP_SECONDS, **settings)
    )
    probes = uvicorn.Server(
        uvicorn.Config(
            admin_app(app.state.backends), lifespan="off", timeout_graceful_shutdown=1, **settings
        )
    )
    with _listen(host, port) as public, _listen(admin_host, admin_port) as admin:
        _log("info", "listening", url=_url(public), admin=_url(admin))
        sys.setswitchinterval(SWITCH_SECONDS)
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, lambda *_: None)  # once uvicorn has stopped, it raises them again
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(server, public, probes, admin))


async def _run(
    server: uvicorn.Server, public: socket.socket, probes: uvicorn.Server, admin: socket.socket
) -> None:
    """Serve both; a signal ends the probes, which then raise it for the server."""
    serving = asyncio.create_task(server.serve([public]))
    probing = asyncio.create_task(probes.serve([admin]))
    await serving
    probes.should_exit = True
    await probing


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)


def _url(listening: socket.socket) -> str:
    address, port = listening.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


async def check_schemas(databases: Databases, statement_cache: int) -> None:
    """Check all databases as `check_schema` does; an error names the database if there are more."""
    dsns = [(name, dsn) for name, one in databases.items() for dsn in {one.dsn, one.for_reading}]
    checking = (check_schema(dsn, statement_cache) for _, dsn in dsns)
    found = await asyncio.gather(*checking, return_exceptions=True)
    for (name, _), error in zip(dsns, found, strict=True):
        if isinstance(error, CallerError) and len(databases) > 1:
            raise NotSupported(f"database {name}: {error}") from None
        if error is not None:
            raise error


async def check_schema(dsn: str, statement_cache: int = STATEMENT_CACHE) -> None:
    """Check that this version works with a database's schema, if the database is up.

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


def _log(level: str, event: str, **details: Any) -> None:
    line = {"level": level, "event": event} | details
    sys.stderr.write(orjson.dumps(line).decode() + "\n")
    sys.stderr.flush()
