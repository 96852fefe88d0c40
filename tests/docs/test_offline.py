"""The built documentation in a real browser, offline: it asks nobody, and formulas are drawn."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browsers import launched
from tests.support.environments import ROOT

# One worker: a browser and the built pages are enough once. Slow: `make quick` has no Chromium.
pytestmark = pytest.mark.slow

BUILT = "CHECKED_HTML"
"""The variable that names the built pages, if they are built already."""
LEFT = re.compile(r"\\[(\[]|\$\$|\\[A-Za-z]{2,}|\\_")
"""What a formula looks like that nobody has drawn."""
TEXT = """() => {
  const copy = document.querySelector("article, .body, body").cloneNode(true);
  for (const code of copy.querySelectorAll("pre, code, script, style")) code.remove();
  return copy.textContent;
}"""
SIZES = """() => [...document.querySelectorAll("math")].map(formula => {
  const box = formula.getBoundingClientRect();
  return [box.width, box.height];
})"""
FRACTIONS = """() => [...document.querySelectorAll("mfrac")].map(fraction => {
  const [above, below] = [...fraction.children].map(part => part.getBoundingClientRect());
  return below.top - above.bottom;
})"""
RAISED = """() => [...document.querySelectorAll("msup, msub")].map(pair => {
  const [base, script] = [...pair.children].map(part => part.getBoundingClientRect());
  const middle = box => (box.top + box.bottom) / 2;
  return (pair.tagName === "msup" ? 1 : -1) * (middle(base) - middle(script));
})"""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if BUILT in os.environ:
        return Path(os.environ[BUILT])
    return built(ROOT / "docs", tmp_path_factory.mktemp("html"))


def built(source: Path, place: Path, *settings: str) -> Path:
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", *settings, source, place]
    subprocess.run(command, check=True, timeout=300)
    return place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


class Opened:
    """A page opened from disk, offline, and whom it asked for what."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self.asked: list[str] = []
        self._context = browser.new_context(offline=True)
        self.page: Page = self._context.new_page()
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri(), wait_until="load")

    def elsewhere(self) -> list[str]:
        return [url for url in self.asked if not url.startswith(("file:", "data:"))]

    def undrawn(self) -> list[str]:
        return LEFT.findall(self.page.evaluate(TEXT))

    def close(self) -> None:
        self._context.close()


def formulas(path: Path) -> int:
    """How many formulas a page has, counted in its source without blocks and code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return len(re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", text, flags=re.DOTALL))


def test_no_page_asks_anybody_and_every_formula_is_drawn(browser: Browser, html: Path) -> None:
    seen = 0
    for path in sorted((ROOT / "docs").glob("*.md")):
        opened = Opened(browser, html / f"{path.stem}.html")
        try:
            assert opened.elsewhere() == [], path.stem
            assert opened.undrawn() == [], path.stem
            sizes = opened.page.evaluate(SIZES)
            assert len(sizes) == formulas(path), path.stem
            assert all(width > 3 and height > 3 for width, height in sizes), path.stem
            assert all(apart >= 0 for apart in opened.page.evaluate(FRACTIONS)), path.stem
            assert all(raised > 0 for raised in opened.page.evaluate(RAISED)), path.stem
            seen += len(sizes)
        finally:
            opened.close()
    assert seen > 100


def test_nothing_built_names_a_file_elsewhere(html: Path) -> None:
    loads = re.compile(
        r"<(?:script|link|img|iframe|source|object)\b[^>]*?(?:src|href|data)=[\"']?(?:https?:)?//"
        r"|@import[^;]*//|url\([\"']?(?:https?:)?//"
    )
    for path in (*html.rglob("*.html"), *html.rglob("*.css")):
        assert loads.search(path.read_text(encoding="utf-8")) is None, path.name


def test_a_page_whose_formulas_need_a_script_from_elsewhere_is_seen(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "conf.py").write_text(
        'extensions = ["myst_parser"]\nmyst_enable_extensions = ["dollarmath"]\n', encoding="utf-8"
    )
    (tmp_path / "index.md").write_text("# One\n\nA mean $\\mu_i$.\n", encoding="utf-8")
    opened = Opened(browser, built(tmp_path, tmp_path / "html") / "index.html")
    try:
        assert opened.elsewhere() != []
        assert opened.undrawn() != []
    finally:
        opened.close()
