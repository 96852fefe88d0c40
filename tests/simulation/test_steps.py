"""The compiled loop of single pulls ends where a policy draws or writes as it must not."""

from __future__ import annotations

import pytest

from affinity_bandits.base.errors import NotSupported
from tests.policies.test_kernel_rules import (
    WAYS,
    Draws,
    Outside,
    SaysSo,
)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_draw_that_begins_late_ends_the_run(way: str) -> None:
    """After 500 pulls no check beforehand sees it; a run that draws nothing goes to its end."""
    with pytest.raises(NotSupported, match="say randomized"):
        WAYS[way](Draws(500))
    WAYS[way](Draws(600))
    WAYS[way](SaysSo(500))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_an_index_that_leaves_its_array_late_ends_the_run(way: str) -> None:
    with pytest.raises(NotSupported, match=r"'outside.*' reads or writes outside of an array"):
        WAYS[way](Outside(500))
    WAYS[way](Outside(600))
