"""Scales: which have two ends, and what has no part in the guess of one."""

from __future__ import annotations

import pytest

from affinity_bandits.audit import score_log
from affinity_bandits.audit.scale import score_range
from affinity_bandits.base.errors import InvalidInput
from tests.audit.logs import draw_columns
from tests.audit.test_score_cells import table


def test_a_scale_has_two_ends() -> None:
    with pytest.raises(InvalidInput, match=r"the worst and the best score, such as \(1, 5\)"):
        score_log(**draw_columns(4), scale=(5, 5))
    with pytest.raises(InvalidInput, match="between 15 and 20"):
        score_log(**draw_columns(4), scale=(20, 15))


def test_a_word_has_no_part_in_the_guess_of_the_scale() -> None:
    assert score_range(table("Yes", 3, 4, 2), "score") == (2.0, 4.0)
