"""The adversary that lifts arms does what a literal replay does."""

from __future__ import annotations

import numpy as np

from affinity_bandits.paper.adversaries import ADVERSARIES, StabilitySettings, cases, run_stability


def test_lifted_arms_match_a_literal_replay() -> None:
    """One arm after the other, by definition and without a kernel."""
    settings = StabilitySettings((8,), (2,), betas=((1.25, 1.5),), largest_initial=(1,), stretch=20)
    data = run_stability(settings, None)  # type: ignore[arg-type]
    first = next(case for case in cases(settings) if case.key[-1] == 0)
    members = first.initial + np.bincount(first.prefix, minlength=8)
    expected = []
    for arm in np.flatnonzero(members / members.sum() <= 1.25 / 8):
        before = members[arm]
        while members[arm] / members.sum() <= 1.5 / 8:
            members[arm] += 1
        expected.append(members[arm] - before)
    mine = (np.array(data["start"]) == first.key[-2]) & (data["adversary"] == 0) & (data["j"] > 0)
    found = data["pulls"][mine].tolist()
    assert len(ADVERSARIES) == 5
    assert found == expected[: len(found)]
    assert len(found) >= 4
