"""Photograph the pages of the local application: needs Chromium.

The words of a page that needs no computing are kept beside its picture; a test compares them with
today's page.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from urllib.request import urlopen

from affinity_bandits.app.application import Settings, create_local_app
from affinity_bandits.app.plan import EXAMPLE
from tests.support.in_process import serve_here
from tests.support.page_words import keep_words

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

IMAGES = Path(__file__).parents[2] / "docs" / "images"
DATA = Path(__file__).parents[2] / "docs" / "data"
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 760, "height": 540}
PAGES = {
    "start": ("/", "h1"),
    "see": ("/see", "#why p:nth-child(2):last-child"),
    "plan": (f"/plan?{urlencode(EXAMPLE)}", "#verdict"),
}
"""The address of each page, and what is there once it is complete."""
COMPUTED = ("plan",)
PATIENCE = 300_000.0


def read(address: str, path: str) -> str:
    """Return the HTML of a page."""
    with urlopen(address + path) as answer:
        return str(answer.read().decode())


def photograph(address: str) -> None:
    """Take every picture."""
    from playwright.sync_api import sync_playwright  # the test of the words takes none

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=WIDE)
        for name, (path, complete) in PAGES.items():
            page.goto(address + path)
            page.locator(complete).wait_for(timeout=PATIENCE)
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=IMAGES / f"app-{name}.png")
            if name not in COMPUTED:
                keep_words(IMAGES / f"app-{name}.png", read(address, path))
        _audit(page, address)
        page.screenshot(path=IMAGES / "app-audit.png")
        page.set_viewport_size(NARROW)
        page.goto(f"{address}/see/play")
        _play(page)
        page.screenshot(path=IMAGES / "loop.png")
        browser.close()


def _audit(page: Page, address: str) -> None:
    """Audit the files of the guide, up to the report."""
    page.goto(f"{address}/audit")
    page.locator("#log").set_input_files(DATA / "interviews.xlsx")
    page.get_by_text("in another file").click()
    page.locator("#people").set_input_files(DATA / "people.csv")
    page.locator("#declare").wait_for(timeout=PATIENCE)
    for name in ("groups_are", "responsible", "purpose"):
        page.locator(f"#{name}").fill(EXAMPLE[name])
    page.get_by_role("radio", name="no", exact=True).check()
    page.get_by_role("button", name="Audit").click()
    page.locator("#concluded").wait_for(timeout=PATIENCE)
    page.locator("#concluded").evaluate("title => title.closest('article').scrollIntoView()")


def _play(page: Page) -> None:
    """Play the page of the loop: choose whoever scores higher, see it close, try the head start."""
    for _ in range(10):
        seen = [int(score) for score in page.locator(".score strong").all_inner_texts()]
        page.keyboard.press(str(1 + seen.index(max(seen))))
    page.keyboard.press("Space")
    page.get_by_role("button", name="Try a remedy").wait_for()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Head start").click()


if __name__ == "__main__":
    with serve_here(create_local_app(Settings(warm=False))) as address:
        photograph(address)
