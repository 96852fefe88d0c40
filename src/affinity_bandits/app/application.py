"""The application: settings, pages and the parts that pages share."""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from affinity_bandits.app import audit, audit_steps, plan, see
from affinity_bandits.app.guard import Guard
from affinity_bandits.app.rendering import STATIC, STYLE, show_mistake, show_page, show_problem
from affinity_bandits.base.errors import CallerError
from affinity_bandits.base.looks import ICON
from affinity_bandits.base.workers import BoundedWorkers

log = logging.getLogger(__name__)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Settings:
    """The settings of the application.

    Attributes:
        hosts: host names that it may be reached by.
        largest_body: bytes of an uploaded file with its form.
        most_plans: plans that are made at once; others wait.
        most_audits: files that are read or audited at once; others wait.
        warm: whether to load the compiled loops at the start.
    """

    hosts: tuple[str, ...] = LOOPBACK
    largest_body: int = 50 * 2**20
    most_plans: int = 1
    most_audits: int = 2
    warm: bool = True


def create_local_app(settings: Settings | None = None) -> FastAPI:
    """Return the application as ASGI servers take it."""
    settings = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.plans = plan.Plans(settings.most_plans)
        app.state.largest_body = settings.largest_body
        app.state.audits = BoundedWorkers(settings.most_audits)
        if settings.warm:
            threading.Thread(target=warm_up, daemon=True).start()
            warm = threading.Thread(
                target=app.state.audits.run, args=(audit_steps.load_libraries,), daemon=True
            )
            warm.start()
        yield

    app = FastAPI(
        title="Affinity", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.add_middleware(Guard, hosts=settings.hosts, largest_body=settings.largest_body)

    async def show_start(request: Request) -> Response:
        return show_page(request, "start.html")

    async def show_responsible_use(request: Request) -> Response:
        return show_page(request, "responsible_use.html")

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, CallerError)
        return show_mistake(request, error)

    async def miss(request: Request, _: Exception) -> Response:
        return show_problem(request, 404, "There is no such page", "Begin at the start page.")

    async def fail(request: Request, error: Exception) -> Response:
        log.error("%s failed", request.url.path, exc_info=error)
        words = "This is a fault of the application. The window it was started in says more."
        return show_problem(request, 500, "This did not work", words)

    async def send_icon() -> Response:
        return FileResponse(str(ICON), media_type="image/svg+xml")

    async def send_style() -> Response:
        return Response(STYLE, media_type="text/css")

    app.add_api_route("/", show_start)
    app.add_api_route("/static/icon.svg", send_icon)
    app.add_api_route("/static/style.css", send_style)
    app.add_api_route("/responsible-use", show_responsible_use)
    for page in (see, plan, audit):
        app.include_router(page.router)
    app.mount("/static", StaticFiles(directory=str(STATIC)))
    app.add_exception_handler(CallerError, refuse)
    app.add_exception_handler(404, miss)
    app.add_exception_handler(405, miss)
    app.add_exception_handler(Exception, fail)
    return app


def warm_up() -> None:
    """Load the compiled loops before the first change or plan waits for them."""
    first, *others = see.ORDINARY
    see.warm_up([first])
    plan.warm_up()
    see.warm_up(others)


def serve_locally(app: FastAPI, listening: socket.socket) -> NoReturn:
    """Serve until SIGTERM or SIGINT, then end the process with everything that it computes."""
    # Faults are logged by `fail`; uvicorn would also log that it cancels the plan of a reader.
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listening])
    for process in multiprocessing.active_children():
        process.kill()
    os._exit(0)  # threads that compile cannot be asked to stop, and would complain
