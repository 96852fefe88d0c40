"""However many clients ask and tell at once, a campaign goes as the library's own run does."""

from __future__ import annotations

import asyncio

import pytest

from affinity_bandits.policies import (
    Elimination,
    ExploreThenCommit,
    HeadStartElimination,
    PublishedSchedule,
    RoundPolicy,
    SequentialHalving,
    SuccessiveRejects,
    Uniform,
)

from .crowd import library_run, served_run

POLICIES: list[RoundPolicy] = [
    Elimination(PublishedSchedule(-4.0)),
    Elimination(PublishedSchedule(-4.0), discard_first=False),
    HeadStartElimination(initial_lead=3, sigma=0.1, in_flight=30),
    HeadStartElimination(initial_lead=3, sigma=0.1, failure=0.2, in_flight=30),
    HeadStartElimination(initial_lead=3, bounded=True, failure=0.2, in_flight=30),
    ExploreThenCommit(20),
    SuccessiveRejects(),
    SequentialHalving(),
    Uniform(),
]


SCALES = [(0, 1), (0, 5), (1, 5), (0, 100), (-1, 1)]
"""Lowest and highest score."""


def feedback(number: int, slot: int, arm: int) -> float:
    """Fixed in advance; a multiple of 1/512, which nine decimals hold, so float sums are exact."""
    noise = (7919 * number + 104729 * slot + 31 * (number + 1) * slot * slot) % 129
    return (noise + 120 * arm) / 512


@pytest.mark.slow
@pytest.mark.nightly_but("1 to 5", "-0 to 1]")
@pytest.mark.parametrize(
    "scale",
    [
        pytest.param(
            scale, marks=[pytest.mark.slow] * (scale != (0, 1)), id="{} to {}".format(*scale)
        )
        for scale in SCALES
    ],
)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_crowd_gets_what_the_library_gets(
    dsn: str, policy: RoundPolicy, scale: tuple[int, int]
) -> None:
    expected = library_run(policy, feedback)
    assert len(expected.sizes) > 1 or isinstance(policy, Uniform)  # or there is little to compare
    found = asyncio.run(served_run(dsn, policy, scale, feedback, expected))
    assert found == expected.complete  # to the bit
