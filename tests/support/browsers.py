"""A browser to look at pages with, and what is asked of all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

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
    assert found is not None, "tests of pages need a chromium on the PATH"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
