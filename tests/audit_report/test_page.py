"""The page of an audit: whole, without network, and readable on a telephone, too."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from affinity_bandits.audit_report import write_page
from affinity_bandits.audit_report.page import page
from tests.audit_report.examples import example
from tests.support.browsers import launched

OUTSIDE = ("src", "href", "xlink:href")
NEVER_SAID = ("no bias", "unbiased", "racis", "sexis", "discriminat", "guilty", "proves that")


class Outside(HTMLParser):
    """Collects what a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            value or ""
            for name, value in attrs
            if name in OUTSIDE and not (value or "").startswith("#")
        ]


@pytest.mark.slow
def test_names_are_escaped_and_nothing_is_fetched() -> None:
    text = page(example())
    assert "<b>" not in text
    assert "agencies &lt;b&gt;" in text
    reader = Outside()
    reader.feed(text)
    assert not reader.found
    assert "@import" not in text


@pytest.mark.slow
@pytest.mark.parametrize("word", ["shown", "indicated", "not seen", "cannot tell"])
def test_nothing_is_claimed_that_the_verdict_does_not_carry(word: str) -> None:
    text = page(replace(example(), word=word)).lower()  # type: ignore[arg-type]
    assert not [claim for claim in NEVER_SAID if claim in text]
    assert "cannot be told from this bias" in text
    assert "nothing here is about persons" in text


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(tmp_path: Path, width: int) -> None:
    place = tmp_path / "report.html"
    write_page(example(), str(place))
    with launched() as browser:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        sheet = context.new_page()
        errors: list[str] = []
        sheet.on("console", lambda message: errors.append(message.text))
        sheet.goto(place.as_uri())
        assert sheet.evaluate("document.documentElement.scrollWidth") <= width
        assert sheet.locator("svg").count() == 4
        assert all(box.bounding_box()["height"] > 60 for box in sheet.locator("svg").all())  # type: ignore[index]
        assert not errors
