"""Every figure in a marked place of the documentation is one that a benchmark wrote to a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.bench.tables import DOCS, LAYOUTS, PLACE, measured, rewritten

PAGES = [
    path for path in sorted(DOCS.rglob("*.md")) if PLACE.search(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_has_what_was_measured(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert rewritten(text) == text, "run python -m checks.bench.tables"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_other_figures_would_be_seen_in_every_place(path: Path) -> None:
    def other(files: str) -> dict[str, float]:
        return {name: 10 * value for name, value in measured(files).items()}

    for place in PLACE.finditer(path.read_text(encoding="utf-8")):
        assert rewritten(place[0], other) != place[0], place[2]


def test_every_layout_has_one_place() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert sorted(place[2] for place in PLACE.finditer(text)) == sorted(LAYOUTS)
