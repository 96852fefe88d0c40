"""The counting lemmas hold on every path; a bound that grows twice as fast does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits.paper.stability import ADVERSARIES, ITEM, Settings, cases, claims, run

SMALL = replace(ITEM.settings["quick"], prefixes=(1,), arms=(8, 16))
LAB = None
"""No cell is run."""


@pytest.mark.slow
def test_claims_hold() -> None:
    assert all(claim.holds for claim in claims(run(SMALL, LAB)))


def test_a_bound_that_grows_twice_as_fast_fails() -> None:
    """The planted wrong lemma: exp(2 beta' j / K)."""
    pigeonhole, lemma, recursion = claims(run(replace(SMALL, growth=2.0), LAB))
    assert not lemma.holds
    assert pigeonhole.holds
    assert recursion.holds


def test_counts_match_a_literal_replay() -> None:
    """One arm after the other, by definition and without a kernel."""
    settings = Settings((8,), (2,), betas=((1.25, 1.5),), largest_initial=(1,), stretch=20)
    data = run(settings, LAB)
    first = next(case for case in cases(settings) if case.key[-1] == 0)
    members = first.initial + np.bincount(first.prefix, minlength=8)
    small = [i for i in range(8) if members[i] / members.sum() <= 1.25 / 8]
    expected = []
    for arm in small:
        pulled = 0
        while members[arm] / members.sum() <= 1.5 / 8:
            members[arm] += 1
            pulled += 1
        expected.append(pulled)
    mine = [
        pulls
        for start, adversary, j, pulls in zip(
            data["start"], data["adversary"], data["j"], data["pulls"], strict=True
        )
        if start == first.key[-2] and adversary == 0 and j > 0
    ]
    assert len(ADVERSARIES) == 5
    assert mine == expected[: len(mine)]
    assert len(mine) >= 4
