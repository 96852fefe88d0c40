"""Figures of the service in the documentation are those of the file that the benchmark writes."""

from __future__ import annotations

import pytest
from bench.service_tables import DOCS, PAGES, measured, rewritten

MEASURED = measured()


@pytest.mark.parametrize("page", PAGES)
def test_the_page_has_what_was_measured(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert rewritten(page, text, MEASURED) == text, "run python -m bench.service_tables"


@pytest.mark.parametrize("page", PAGES)
def test_other_figures_would_be_seen(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert rewritten(page, text, {name: 10 * one for name, one in MEASURED.items()}) != text
