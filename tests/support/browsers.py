"""A browser to look at pages with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright


@contextmanager
def launched() -> Iterator[Browser]:
    """Launch the Chromium that is installed."""
    found = shutil.which("chromium")
    assert found is not None, "tests of pages need a chromium on the PATH"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
