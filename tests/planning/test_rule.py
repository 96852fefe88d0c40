"""Who should judge, by the rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from affinity_bandits.planning.rule import ways_by_rule
from tests.planning.assumed import UNSURE


@pytest.mark.parametrize(
    ("groups", "changes", "ways"),
    [
        (2, {"outsiders": True}, [("outsiders",)]),
        (2, {"outsiders": False}, []),
        (2, {}, []),
        (3, {"outsiders": True}, [("outsiders",), ("neutral",)]),
        (3, {}, [("neutral",)]),
        (4, {"outsiders": False}, [("neutral",)]),
        (2, {"favors_differ": False}, [("panel",)]),
        (2, {"favors_differ": False, "strictness_differs": False}, [("panel", "committee")]),
        (3, {"strictness_differs": False}, [("neutral",), ("recused",)]),
        (3, {"favors_differ": False}, [("neutral",), ("panel",)]),
        (
            3,
            {"favors_differ": False, "strictness_differs": False},
            [("neutral", "recused", "panel", "committee")],
        ),
        (
            3,
            {"favors_differ": False, "strictness_differs": False, "outsiders": True},
            [("outsiders",), ("neutral", "recused", "panel", "committee")],
        ),
        (3, {"favors_differ": False, "favor_gap": 0.8}, [("neutral",), ("panel",)]),
        (2, {"favors_differ": False, "favor_gap": 0.8}, []),
        (3, {"bonus": None, "strictness_differs": False}, [("neutral",)]),
    ],
    ids=str,
)
def test_the_rule(groups: int, changes: dict[str, Any], ways: list[tuple[str, ...]]) -> None:
    assert ways_by_rule(replace(UNSURE, groups=groups, **changes)) == ways
