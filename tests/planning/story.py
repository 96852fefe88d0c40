"""The assumptions behind the story in docs/plan/stories/hiring.md."""

from __future__ import annotations

from affinity_bandits.planning import Assumptions

MEANT = Assumptions(
    groups=3,
    horizon=2_000,
    smallest_difference=0.3,
    committee=[30, 10, 10],
    bonus=0.2,
    joining=0.1,
    spread=1.0,
    lowest=1.0,
    highest=5.0,
    pace=2000 / (365.25 / 7.0),
    names=["referrals", "agencies", "open call"],
)
