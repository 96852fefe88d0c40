"""Who leads a campaign, and by how much: an interval that holds whenever somebody looks."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from affinity_bandits.policies import HeadStartElimination
from affinity_bandits_service.core.spec import CampaignRecord, RoundRecord
from affinity_bandits_service.ui.view import (
    Lead,
    decisions_of,
    evidence_of,
    lead_half_width,
    lead_of,
    view_of,
)

from .played_campaigns import LISTED, played, say


def found(campaign: CampaignRecord, rounds: list[RoundRecord]) -> Lead | None:
    evidence = evidence_of(campaign)
    return lead_of(campaign, decisions_of(campaign, rounds, evidence), evidence)


def test_the_lead_is_over_the_closest_group_that_is_left() -> None:
    campaign, rounds = played(LISTED, "ABC", [0.9, 0.85, 0.1], rounds=3)
    lead = found(campaign, rounds)
    assert lead is not None
    # The warm-up does not compare; rounds of 32 and 64 do.
    assert (lead.leader, lead.rival, lead.answers, lead.gap) == ("A", "B", 96, "0.05")
    assert (lead.behind, lead.unclear, lead.odds, lead.needed) == (False, True, "", "")
    assert view_of(campaign, rounds).means == {"A": "0.90", "B": "0.85", "C": "0.10"}
    text = say("answers", campaign, lead, None, None, "review")
    assert "from 96 reviews of each. It may still be none" in text


def test_what_is_recommended_leads_by_points_of_the_scale() -> None:
    policy = HeadStartElimination(initial_lead=0, bounded=True, failure=0.05)
    campaign, rounds = played(policy, "AB", [2.0, 4.0], scale=(1.0, 5.0))
    assert campaign.recommended == "B"
    lead = found(campaign, rounds)
    assert lead is not None
    assert (lead.leader, lead.rival, lead.gap) == ("B", "A", "2.00")
    text = " ".join(say("answers", campaign, lead, "B", None, "answer").split())
    assert f"{lead.odds} against A; a group is dropped at 20 to 1" in text
    assert text.endswith("How much longer?It is over")


def test_nothing_is_said_before_a_comparison_or_of_a_part_of_the_rounds() -> None:
    fresh, none = played(LISTED, "ABC", [0.5] * 3, rounds=1)  # the warm-up
    assert found(fresh, none) is None
    assert "Nobody yet" in say("answers", fresh, None, None, None, "answer")
    campaign, rounds = played(LISTED, "ABC", [0.5] * 3, rounds=3)
    assert found(campaign, rounds[1:]) is None


@pytest.mark.slow
def test_the_interval_holds_at_all_times_for_all_pairs() -> None:
    """Three groups that score 0 or 1 alike, looked at after each of 1,000 turns, 4,000 times.

    At most 5% of campaigns may ever show an interval without 0; about 3.7% do, so that more than
    5% of 4,000 do with probability below 1e-4. Of a procedure that fails in 6%, at most 5% do with
    probability below 0.5%. Hoeffding's interval for one moment is the negative control.
    """
    campaign, _ = played(LISTED, "ABC", [0.5] * 3, rounds=0, horizon=3_000)
    turns = np.arange(1, 1_001)
    wide = np.array([lead_half_width(campaign, int(turn), 0.5) for turn in turns])
    fixed = np.sqrt(np.log(2.0 / 0.05) / turns)  # of a difference, at one moment
    random = np.random.default_rng(4)
    missed = missed_by_fixed = 0
    for _ in range(4_000):
        means = np.cumsum(random.integers(0, 2, size=(3, 1_000)), axis=1) / turns
        gaps = [abs(means[i] - means[j]) for i, j in combinations(range(3), 2)]
        missed += any((gap > wide).any() for gap in gaps)
        missed_by_fixed += any((gap > fixed).any() for gap in gaps)
    assert missed <= 200
    assert missed_by_fixed > 1_000


@pytest.mark.slow
def test_the_interval_of_differences_within_raters_holds_at_all_times() -> None:
    """Raters give 0 to one group and 1 to the other, by lot; looked at after each of 1,000 blocks.

    At most 5% of 4,000 campaigns may ever show an interval without 0. About 2.7% do, so that more
    than 5% do with probability below 1e-9; of a procedure that fails in 6%, at most 5% do with
    probability below 0.5%. The negative control takes the two scores of a rater for independent.
    """
    campaign, _ = played(LISTED, "AB", [0.5] * 2, rounds=0, horizon=2_000)
    blocks = np.arange(1, 1_001)
    wide, narrow = (
        np.array([lead_half_width(campaign, int(number), each) for number in blocks])
        for each in (1.0, 0.5)
    )
    differences = 2 * np.random.default_rng(5).integers(0, 2, size=(4_000, 1_000)) - 1
    gaps = np.abs(np.cumsum(differences, axis=1)) / blocks
    missed = (gaps > wide).any(axis=1).sum()
    missed_by_narrow = (gaps > narrow).any(axis=1).sum()
    assert missed <= 200
    assert missed_by_narrow > 400
