"""The application on a port of its own, and a browser to look at its pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect

from affinity_bandits.app.application import Settings, create_local_app
from tests.support.browsers import launched, watched
from tests.support.in_process import serve_here

PATIENCE = 120_000.0  # milliseconds: a busy machine is only slow
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_local_app(Settings(largest_body=2**20, warm=False))


@pytest.fixture(scope="module")
def address(app: FastAPI) -> Iterator[str]:
    with serve_here(app) as address:
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
