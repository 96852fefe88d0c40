"""The interval of an audit is exactly the hull of the intervals of all its tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from affinity_bandits.audit import audit_scores, conclude
from tests.audit.logs import draw

TESTS = ("bets", "permutation", "evened bets", "evened permutation")
INNER = (-0.01, 0.02)
LOW, HIGH = -0.04, 0.07


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lowest", "highest"), [*permutations(TESTS, 2), *((one, one) for one in TESTS)]
)
def test_each_end_is_that_of_the_test_whose_interval_reaches_furthest(
    lowest: str, highest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every test reaches furthest in turn, at either end; what they find is put in their place."""
    found = {
        name: (LOW if name == lowest else INNER[0], HIGH if name == highest else INNER[1])
        for name in TESTS
    }

    def instead(name: str, change: Callable[[Any], Any]) -> None:
        whole = getattr(conclude, name)
        monkeypatch.setattr(conclude, name, lambda *given, **named: change(whole(*given, **named)))

    instead("favor_interval", lambda _: found["bets"])
    instead("permute_judges", lambda test: replace(test, interval=found["permutation"]))
    instead(
        "repeat_evened",
        lambda evened: replace(
            evened,
            interval=found["evened bets"],
            test=replace(evened.test, interval=found["evened permutation"]),
        ),
    )
    audit = audit_scores(draw(120), draws=2)
    assert audit.favor is not None
    assert (audit.favor.low, audit.favor.high) == (20.0 * LOW, 20.0 * HIGH)
