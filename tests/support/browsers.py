"""A browser to look at pages with, and what is asked of all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
VIOLATIONS = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.flatMap(
    one => one.nodes.map(node => one.id + ": " + node.target.join(" "))
  );
}"""
SIZES = {"wide": (1280, 800), "narrow": (390, 844)}
CONTRAST = """() => {
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const seen = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!own || element.tagName === "title") continue;  // a picture's name is not drawn
    const style = getComputedStyle(element);
    const front = light(parse(element.namespaceURI.endsWith("svg") ? style.fill : style.color));
    const back = light(behind(element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    seen.push([ratio, element.tagName + ": " + element.textContent.trim().slice(0, 40)]);
  }
  return seen.sort((a, b) => a[0] - b[0]);
}"""
"""Every text with the ratio of its contrast, the lowest first; AA asks for 4.5."""


@contextmanager
def launched() -> Iterator[Browser]:
    """Launch the Chromium that is installed."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def watched(browser: Browser, prefix: str, **settings: Any) -> Iterator[Page]:
    """Open a window that must not complain, nor ask for anything that does not begin so."""
    context = browser.new_context(**settings)
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "request",
        lambda request: None if request.url.startswith(prefix) else complaints.append(request.url),
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    yield page
    context.close()
    assert complaints == []


def violations(page: Page) -> list[str]:
    """Return what axe-core finds wrong with a page."""
    page.evaluate(AXE)
    return page.evaluate(VIOLATIONS)  # type: ignore[no-any-return]
