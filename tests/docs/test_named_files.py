"""Pages name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import EVERY_PAGE
from tests.support.environments import ROOT

THEIR_OWN = "my_policy.py"  # a file that CONTRIBUTING tells its reader to write


def missing(text: str) -> list[str]:
    named = re.findall(r"\btests/[\w/]*(?:\.\w+)?", text)
    return [name for name in named if THEIR_OWN not in name and not (ROOT / name).exists()]


@pytest.mark.parametrize(
    "page", sorted({*ROOT.glob("*.md"), *EVERY_PAGE}), ids=lambda page: page.stem
)
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == []


def test_a_missing_file_is_found() -> None:
    assert missing("see `tests/test_twins.py` and `tests/docs`") == ["tests/test_twins.py"]
