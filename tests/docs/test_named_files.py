"""Pages name tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import EVERY_PAGE
from tests.support.environments import ROOT

PAGES = sorted({*ROOT.glob("*.md"), *EVERY_PAGE})
THEIR_OWN = "my_policy.py"  # what CONTRIBUTING tells its reader to write


def missing(text: str) -> list[str]:
    named = re.findall(r"\btests/[\w/]*(?:\.\w+)?", text)
    return [name for name in named if THEIR_OWN not in name and not (ROOT / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == []


def test_one_that_does_not_is_found() -> None:
    assert missing("see `tests/test_twins.py` and `tests/docs`") == ["tests/test_twins.py"]


def test_the_map_of_the_paper_names_many() -> None:
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    assert len(re.findall(r"\btests/\w", text)) > 40
