"""The policies of the machine's campaigns."""

from __future__ import annotations

from affinity_bandits.policies import (
    Elimination,
    ExploreThenCommit,
    HeadStartElimination,
    ListedSchedule,
    PanelElimination,
    PublishedSchedule,
    RoundPolicy,
    SequentialHalving,
    SuccessiveRejects,
)

POLICIES: list[RoundPolicy] = [
    Elimination(PublishedSchedule(-5.0)),
    Elimination(ListedSchedule([(1, 0.4), (3, 0.2), (2, 0.1)]), discard_first=False),
    Elimination(ListedSchedule([(2, 0.0)])),
    ExploreThenCommit(2),
    SequentialHalving(),
    SuccessiveRejects(0.9),
    HeadStartElimination(initial_lead=1, sigma=0.01, failure=0.5, in_flight=7),
    HeadStartElimination(initial_lead=0, sigma=0.05, failure=0.5, in_flight=5),
]
COUNTING: list[RoundPolicy] = [
    HeadStartElimination(initial_lead=0, bounded=True, failure=0.9, in_flight=4),
    HeadStartElimination(initial_lead=1, bounded=True, failure=0.5, in_flight=7),
    HeadStartElimination(initial_lead=0, bounded=True, failure=0.5, in_flight=9),
]
"""Policies that are told how often each score was given; the others are told sums."""
SEATED: list[RoundPolicy] = [
    PanelElimination(bounded=True, failure=0.5),
    PanelElimination(bounded=True, failure=0.9),
]
"""Policies that are told which panel judges a round."""
