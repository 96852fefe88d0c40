"""A server with pages, and a browser to look at them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from packages.service.tests.ui.ui_site import Site, serving, watched
from tests.support.browsers import launched


@pytest.fixture(scope="module")
def site(dsn: str) -> Iterator[Site]:
    with serving(dsn) as address:
        yield Site(address, dsn)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A browser window that must not complain, nor ask anybody but the service."""
    with watched(browser, site) as page:
        yield page
