"""The application on a port of its own, and a browser to look at its pages."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect

from affinity_bandits.app.application import Settings, create_local_app
from tests.support.browsers import launched, watched

PATIENCE = 120_000.0  # milliseconds: a busy machine is only slow
expect.set_options(timeout=PATIENCE)


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve from a thread; give the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_local_app(Settings(largest_body=2**20, warm=False))


@pytest.fixture(scope="module")
def address(app: FastAPI) -> Iterator[str]:
    with serving(app) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A browser window that must not complain, nor ask anybody but the application."""
    with watched(browser, address) as page:
        page.set_default_timeout(PATIENCE)
        yield page
