"""Items are complete."""

from __future__ import annotations

import pytest

from affinity_bandits.paper import PAPER, SCALES, Item


@pytest.mark.parametrize("item", PAPER.items().values(), ids=lambda item: item.identity)
def test_an_item_is_complete(item: Item) -> None:
    assert set(item.settings) == set(SCALES)
    assert item.labels
    assert len(item.notes) > 80
    assert not item.title.endswith(".")
