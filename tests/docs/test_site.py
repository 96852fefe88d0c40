"""The built documentation in a real browser, offline.

Every page is opened once and checked in two windows: wide in light colors, narrow in dark ones. The
test lists the faults of all pages at once.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from pkgutil import resolve_name
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser

import affinity_bandits
from tests.support.browsers import AXE, CONTRAST, SIZES, launched
from tests.support.environments import ROOT

# One worker: a browser and the built pages are enough once. Slow: `make quick` has no Chromium.
pytestmark = pytest.mark.slow

BUILT = "CHECKED_HTML"
"""The variable that names the built pages, if they are built already."""
PATIENCE = 300_000.0
"""Milliseconds after which something hangs: a machine that is busy elsewhere is only slow."""
TALLEST = 30_000
"""Pixels of a page on a desk: nobody reads more in one go, and axe takes minutes for it."""
LEGIBLE = 4.5
FRAMES = ("index.html", "start/first-steps.html", "search.html")
"""Pages on which what the theme puts around and into every page is looked at closely."""
OF_FRAMES = {"rules": {"color-contrast": {"enabled": False}}}
"""Contrast is measured by `CONTRAST`: axe takes five times as long with it as without."""
OF_PAGES = {"rules": {**OF_FRAMES["rules"], "link-in-text-block": {"enabled": False}}}
"""How links look is up to the theme, and takes as long as all the rest."""
WHERE_NARROW = {"runOnly": ["scrollable-region-focusable"]}
"""What changes with the width of a window."""
VIOLATIONS = """async options => {
  // Entries of the reference are generated alike: the first of each room stands for all.
  const context = {exclude: [["math"], ["dl.py ~ dl.py"]]};
  const found = await axe.run(context, {resultTypes: ["violations"], ...options});
  return found.violations.flatMap(
    one => one.nodes.map(node => one.id + ": " + node.target.join(" "))
  );
}"""
SETTLED = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
}"""
EXTENT = """() => {
  const page = document.documentElement;
  return [page.scrollWidth - innerWidth, page.scrollHeight];
}"""
LINKS = """() => [...new Set([...document.querySelectorAll("a[href]")].map(link => link.href))]"""
IDS = """() => [...document.querySelectorAll("[id]")].map(element => element.id)"""
NOT_LOADED = """() => [...document.images].filter(
  i => i.checkVisibility() && !i.naturalWidth  // of a light and a dark picture one is shown
).map(i => i.src)"""
LEFT = re.compile(r"\\[(\[]|\$\$|\\[A-Za-z]{2,}|\\_")
"""What a formula looks like that nobody has drawn."""
TEXT = """() => {
  const copy = document.querySelector("article, .body, body").cloneNode(true);
  for (const code of copy.querySelectorAll("pre, code, script, style")) code.remove();
  return copy.textContent;
}"""
FORMULAS = """() => [...document.querySelectorAll("math")].map(formula => {
  const box = formula.getBoundingClientRect();
  return [box.width, box.height];
})"""
SEARCHED_ALL = """() => {
  const title = document.querySelector("#search-results h2");
  return title !== null && title.textContent === "Search Results";
}"""
FOUND = """() => [...document.querySelectorAll("#search-results ul.search > li > a")].map(
  link => link.href
)"""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if BUILT in os.environ:
        return Path(os.environ[BUILT])
    place = tmp_path_factory.mktemp("html")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ROOT / "docs", place]
    subprocess.run(command, check=True, timeout=300, env={**os.environ, "NOTEBOOKS": "off"})
    return place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


class Visit:
    """Opens page after page of a folder, from disk, and notes faults."""

    def __init__(self, browser: Browser, html: Path) -> None:
        self._html = html
        self._context = browser.new_context(offline=True, reduced_motion="reduce")
        self._context.set_default_timeout(PATIENCE)
        self.page = self._context.new_page()
        self._asked: list[str] = []
        self.page.on("request", lambda request: self._asked.append(request.url))
        self._ids: dict[Path, set[str]] = {}
        self._links: dict[Path, list[str]] = {}
        self.wrong: list[str] = []
        self.formulas = 0

    def look_at(self, name: str) -> None:
        """Open a page and look at it in both windows."""
        path = self._html / name
        self._resize("wide", "light")
        self._asked.clear()
        self.page.goto(path.as_uri(), wait_until="load")
        self.page.evaluate(AXE)
        self._ids[path] = set(self.page.evaluate(IDS))
        self._links[path] = self.page.evaluate(LINKS)
        elsewhere = [url for url in self._asked if not url.startswith(("file:", "data:"))]
        self._note(name, "asks elsewhere", elsewhere)
        self._note(name, "a picture is not there", self.page.evaluate(NOT_LOADED))
        self._note(name, "a formula is not drawn", LEFT.findall(self.page.evaluate(TEXT)))
        self._look_at_formulas(name)
        self._look(name, "wide", OF_FRAMES if name in FRAMES else OF_PAGES)
        self._resize("narrow", "dark")
        self._look(name, "narrow", OF_FRAMES if name in FRAMES else WHERE_NARROW)

    def follow_links(self) -> None:
        """Compare every link to a page or a place with what was opened."""
        for path, links in self._links.items():
            for link in links:
                parts = urlsplit(link)
                if parts.scheme != "file":
                    continue
                to, place = Path(unquote(parts.path)), unquote(parts.fragment)
                there = to.exists() and (not place or place in self._ids.get(to, {place}))
                self._note(path.name, "leads nowhere", [] if there else [link])

    def search(self, words: str) -> list[str]:
        """Return the pages that a search finds, best first."""
        address = (self._html / "search.html").as_uri()
        self.page.goto(f"{address}?q={words.replace(' ', '+')}", wait_until="load")
        self.page.wait_for_function(SEARCHED_ALL)
        found = [Path(unquote(urlsplit(link).path)) for link in self.page.evaluate(FOUND)]
        return list(dict.fromkeys(str(path.relative_to(self._html)) for path in found))

    def close(self) -> None:
        self._context.close()

    def _resize(self, size: str, scheme: str) -> None:
        width, height = SIZES[size]
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        self.page.evaluate(SETTLED)

    def _look(self, name: str, size: str, options: dict[str, object]) -> None:
        beyond, height = self.page.evaluate(EXTENT)
        self._note(name, f"{size}: is wider than the window by", [beyond] if beyond > 0 else [])
        tall = [height] if size == "wide" and height > TALLEST else []
        self._note(name, f"{size}: is too tall", tall)
        faint = [one for one in self.page.evaluate(CONTRAST) if one[0] < LEGIBLE]
        self._note(name, f"{size}: can hardly be read", faint)
        self._note(name, f"{size}: axe", self.page.evaluate(VIOLATIONS, options))

    def _look_at_formulas(self, name: str) -> None:
        sizes = self.page.evaluate(FORMULAS)
        self.formulas += len(sizes)
        source = (ROOT / "docs" / name).with_suffix(".md")
        if source.exists() and len(sizes) != formulas(source):
            self._note(name, "has another number of formulas than its source", [len(sizes)])
        self._note(name, "a formula has no size", [one for one in sizes if min(one) <= 3])

    def _note(self, name: str, what: str, found: list[object]) -> None:
        self.wrong += [f"{name}: {what}: {one}" for one in found]


def formulas(path: Path) -> int:
    """How many formulas a page has, counted in its source without blocks and code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return len(re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", text, flags=re.DOTALL))


@pytest.mark.long
def test_every_page_can_be_read_by_everybody(browser: Browser, html: Path) -> None:
    visit = Visit(browser, html)
    for path in sorted(html.rglob("*.html")):
        visit.look_at(str(path.relative_to(html)))
    visit.follow_links()
    visit.close()
    assert visit.wrong == []
    assert not [path for path in html.rglob("*.html") if "\b" in path.read_text("utf-8")]
    assert visit.formulas > 100


SMALLEST = 12
"""Pixels of a letter; those of formulas follow the rules of formulas."""
SMALL = """smallest => [...document.querySelectorAll("body *")].filter(one =>
  !one.closest("math") && one.checkVisibility()
  && [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())
  && parseFloat(getComputedStyle(one).fontSize) < smallest
).map(one => `${one.tagName} ${one.className}`)"""


def test_no_letter_is_small(browser: Browser, html: Path) -> None:
    """In every part that the theme makes small: tables of contents, code in them, captions."""
    for width, height in SIZES.values():
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(PATIENCE)
        for name in (*FRAMES, "study/judges.html", "reference/api/model.html"):
            page.goto((html / name).as_uri())
            assert page.evaluate(SMALL, SMALLEST) == [], (name, width)
            assert len(page.evaluate(SMALL, 17)) > 20  # the paragraphs at least
        page.close()


SEARCHED = {
    "install": "start/install.html",
    "plan": "plan/planning.html",
    "audit": "audit/auditing.html",
    "run": "run/live.html",
    "policy": "study/policies.html",
    "plot": "start/gallery.html",
    "excel": "plan/spreadsheet.html",
    "llm": "audit/auditing.html",
    "own policy": "study/own-policy.html",
    "upgrade": "run/operations.html",
    "gymnasium": "study/others.html",
}
"""What newcomers look for, and a page that has to be among the first three found."""


def test_a_search_finds_what_newcomers_look_for(browser: Browser, html: Path) -> None:
    visit = Visit(browser, html)
    found = {words: visit.search(words)[:3] for words in SEARCHED}
    visit.close()
    assert {words: found[words] for words in SEARCHED if SEARCHED[words] not in found[words]} == {}


ROOMS = ("audit", "experiments", "paper", "planning", "plots", "policies", "simulation", "theory")
ENTRY = re.compile(
    r"^(affinity_bandits[.\w]*) py:(?:class|exception|function|module) ", re.MULTILINE
)


def documented(html: Path) -> set[int]:
    """Return the identity of every module, class and function that the reference documents."""
    content = (html / "objects.inv").read_bytes().split(b"\n", 4)[4]  # after four lines of comments
    return {id(resolve_name(name)) for name in ENTRY.findall(zlib.decompress(content).decode())}


def test_every_public_name_is_in_the_reference(html: Path) -> None:
    there = documented(html)
    modules = [affinity_bandits, *(import_module(f"affinity_bandits.{room}") for room in ROOMS)]
    missing = [
        f"{module.__name__}.{name}"
        for module in modules
        for name in module.__all__
        if (callable(one := getattr(module, name)) or ismodule(one)) and id(one) not in there
    ]
    assert missing == []


PLANTED = """<!doctype html>
<html lang="en"><head><title>Planted</title>
<script src="https://formulas.invalid/draw.js"></script></head>
<body><main><h1>Planted</h1>
<p>A mean \\(\\mu_i\\) that waits for the script.</p>
<p style="color: #999; background: #fff">Grey on white.</p>
<p><a href="nowhere.html">No such page</a>, <a href="#nowhere">no such place</a>.</p>
<img src="nowhere.png">
<table><tr><th></th><th>value</th></tr><tr><td>one</td><td>1</td></tr></table>
<pre style="overflow: auto; width: 300px">{wide}</pre>
<div style="width: 2000px; height: 31000px"></div>
</main></body></html>
"""
SAID_OF_IT = (
    "asks elsewhere: https://formulas.invalid/draw.js",
    "a picture is not there",
    "a formula is not drawn",
    "wide: is wider than the window by: ",
    "narrow: is wider than the window by: ",
    "wide: is too tall",
    "wide: can hardly be read",
    "wide: axe: image-alt",
    "wide: axe: empty-table-header",
    "narrow: axe: scrollable-region-focusable",
    "leads nowhere: file:",
)


def test_every_planted_error_is_seen(browser: Browser, tmp_path: Path) -> None:
    text = PLANTED.replace("{wide}", "wide " * 200)
    (tmp_path / "planted.html").write_text(text, encoding="utf-8")
    visit = Visit(browser, tmp_path)
    visit.look_at("planted.html")
    visit.follow_links()
    visit.close()
    for said in SAID_OF_IT:
        assert any(said in one for one in visit.wrong), said
    assert len([one for one in visit.wrong if "leads nowhere" in one]) == 2
