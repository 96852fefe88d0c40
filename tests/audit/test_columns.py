"""Names of columns: what they say of roles, and of which end of a scale is the best."""

from __future__ import annotations

import pytest

from affinity_bandits.audit.columns import choose_columns, may_count_down
from affinity_bandits.base.errors import InvalidInput


@pytest.mark.parametrize(
    "name",
    ["Note", "Gesamtnote", "Noten (1-6)", "final grade", "Rank", "place", "Platzierung", "Rang",
     "Abschlussnote", "Classement", "overall_rank", "Position", "Zensur"],
)  # fmt: skip
def test_columns_whose_best_score_is_often_1(name: str) -> None:
    assert may_count_down(name)


@pytest.mark.parametrize("name", ["score", "Stars (1-5)", "points", "marks", "Bewertung", "rating"])
def test_columns_whose_best_score_is_the_highest(name: str) -> None:
    assert not may_count_down(name)


def test_columns_are_chosen_by_name() -> None:
    names = ["Candidate", "Source", "Interviewer", "Interviewer score", "Score", "Interview date"]
    chosen, unclear = choose_columns(names, {"session": "interviewer"})
    assert chosen["score"] == "Score"
    assert chosen["session"] == "Interviewer"
    assert "judge" not in chosen
    assert not unclear
    with pytest.raises(InvalidInput, match="one of the columns Candidate, Source"):
        choose_columns(names, {"group": "Team"})
