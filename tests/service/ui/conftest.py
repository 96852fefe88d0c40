"""A server with pages, and a browser to look at them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.service.ui.ui_site import Site, serving, watched


@pytest.fixture(scope="module")
def site(dsn: str) -> Iterator[Site]:
    with serving(dsn) as address:
        yield Site(address, dsn)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found is not None, "the tests of /ui need a chromium on the PATH"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A browser window that must not complain, nor ask anybody but the service."""
    with watched(browser, site) as page:
        yield page
