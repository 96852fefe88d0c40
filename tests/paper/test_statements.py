"""Pages and docstrings give the paper's numbers; one table knows the labels of its source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import affinity_bandits
from affinity_bandits.paper import PAPER, Item
from affinity_bandits.paper.statements import NUMBERS, with_number
from tests.support.environments import ROOT

LABEL = re.compile(r"\b(?:thm|lem|cor|def|assump|alg|rem|eq|fig|sec|subsec):[A-Za-z]\w+")
MAP = ROOT / "docs" / "development" / "paper-map.md"
ABOUT_LABELS = {"docs/development/errata.md": 2}
"""Pages that speak of labels themselves, and how often."""
PACKAGE = Path(affinity_bandits.__file__).parent


def test_the_paper_map_has_the_numbers_of_its_labels() -> None:
    rows = [line.split(" | ") for line in MAP.read_text(encoding="utf-8").splitlines()]
    labeled = [row for row in rows if len(row) == 5 and LABEL.search(row[-1])]
    assert len(labeled) > 30
    for row in labeled:
        for label in LABEL.findall(row[-1]):
            assert NUMBERS[label] in row[0]
    assert {one for row in labeled for one in LABEL.findall(row[-1])} <= set(NUMBERS)


@pytest.mark.parametrize("item", PAPER.items().values(), ids=lambda item: item.identity)
def test_an_item_covers_statements_that_have_numbers(item: Item) -> None:
    for label in item.labels:
        assert with_number(label) == f"{NUMBERS[label]} ({label})"


def test_readers_meet_numbers_and_not_labels() -> None:
    found = {
        str(path.relative_to(ROOT)): len(LABEL.findall(path.read_text(encoding="utf-8")))
        for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
        if path != MAP
    }
    assert {name: number for name, number in found.items() if number} == ABOUT_LABELS
    # In code a label is the name of an item's statement, a string, and never part of a sentence.
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert LABEL.findall(re.sub(f'"{LABEL.pattern}"', "", text.replace("(thm:", "("))) == []
