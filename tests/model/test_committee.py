"""Who joins and who judges: what is no committee is refused, and descriptions come back."""

from __future__ import annotations

import pytest

from affinity_bandits import (
    AffinityBandit,
    InvalidInput,
    NotSupported,
)
from affinity_bandits.theory import lower_bound
from tests.simulation.test_seating import bandit_of


@pytest.mark.parametrize(
    ("parameter", "setting"),
    [
        ("joining.part", {"joining": 1.5}),
        ("joining.when", {"joining": {"when": "later"}}),
        ("joining.leaving", {"joining": {"leaving": -1}}),
        ("joining", {"joining": "some"}),
        ("parameter of joining", {"joining": {"parts": 1}}),
        ("judges.who", {"judges": "nobody"}),
        ("judges.seats", {"judges": "panel"}),
        ("judges.seats", {"judges": {"who": "panel", "seats": 1}}),
        ("judges.seats", {"judges": {"who": "recused", "seats": 3}}),
        ("judges", {"judges": 3}),
        ("memory", {"judges": "recused", "memory": 5}),
    ],
)
def test_a_committee_that_cannot_be_is_refused(parameter: str, setting: dict[str, object]) -> None:
    with pytest.raises((InvalidInput, NotSupported), match=parameter):
        AffinityBandit([0.4, 0.6], **setting)  # type: ignore[arg-type]


def test_descriptions_come_back_and_are_as_before_where_nothing_is_said() -> None:
    bandit = bandit_of("panel")
    assert AffinityBandit.from_json(bandit.to_json()) == bandit
    assert {"joining", "judges"}.isdisjoint(AffinityBandit([0.4, 0.6]).to_json())


def test_what_the_papers_theorems_do_not_cover_is_refused() -> None:
    with pytest.raises(NotSupported, match="joining and judges"):
        lower_bound(AffinityBandit([0.4, 0.6], joining=0.5, noise="gaussian"), 1000)
