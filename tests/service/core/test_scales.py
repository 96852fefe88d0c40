"""Scores on any scale: a policy is given the same bits, and keeps its word, whatever the range."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.policies import (
    Elimination,
    HandicapElimination,
    ListedSchedule,
    PublishedSchedule,
    RoundPolicy,
)
from affinity_bandits.policies.contracts import add_score
from affinity_bandits.service.core.closing import advance
from affinity_bandits.service.core.scores import (
    LARGEST_SCORE,
    UNITS_PER_ONE,
    Nodes,
    Scale,
    from_units,
    nodes_of,
)
from affinity_bandits.service.core.spec import open_round

SCALES = [(0, 1), (0, 5), (1, 5), (0, 100), (-1, 1)]
"""Lowest and highest score."""
POLICIES: list[RoundPolicy] = [
    Elimination(PublishedSchedule(-3.0)),
    Elimination(ListedSchedule([(32, 0.5), (64, 0.2), (128, 0.05)])),
    HandicapElimination(head_start=5, bounded=True, failure=0.05, levels=5),
    HandicapElimination(head_start=5, bounded=True, failure=0.05, levels=17),
    HandicapElimination(head_start=5, sigma=0.2, failure=0.05),
]
SUMMED = [policy for policy in POLICIES if not policy.nodes]
COUNTING = [policy for policy in POLICIES if policy.nodes]
ARMS = 4
HORIZON = 20_000


def scale_of(lowest: int, highest: int) -> Scale:
    return Scale(lowest * UNITS_PER_ONE, highest * UNITS_PER_ONE)


# The same bits.


@pytest.mark.slow
@given(
    st.integers(-LARGEST_SCORE * UNITS_PER_ONE, LARGEST_SCORE * UNITS_PER_ONE),
    st.integers(1000, LARGEST_SCORE * UNITS_PER_ONE),
    st.integers(1, 10**12),
    st.fractions(0, 1),
)
def test_a_sum_is_mapped_exactly_and_rounded_once(
    lowest: int, width: int, answers: int, part: Fraction
) -> None:
    scale = Scale(lowest, lowest + width)
    total = answers * lowest + round(part * answers * width)
    exact = Fraction(total - answers * lowest, width)
    assert scale.to_policy(total, answers) == float(exact)
    assert 0.0 <= scale.to_policy(total, answers) <= answers


def mapped_score(number: int, slot: int, arm: int) -> Fraction:
    """A multiple of 1/512, so that every scale of the test holds it to nine decimals."""
    noise = (7919 * number + 104729 * slot + 31 * (number + 1) * slot * slot) % 257
    return Fraction(noise + 60 * arm, 512)


def stepped(policy: RoundPolicy, scale: Scale) -> list[Any]:
    """What the service's own end of a round makes of the same mapped scores on a scale."""
    width = scale.width
    state = policy.start(ARMS, HORIZON)
    saved, current = policy.save(state, ARMS, HORIZON), open_round(policy, state, HORIZON, 0)
    found, before, nodes = [], 0, nodes_of(policy, scale)
    while current.whole:
        sums, tallies = [0] * len(current.arms), nodes.none(len(current.arms))
        for slot in range(current.size):
            place = slot % len(current.arms)
            score = mapped_score(len(found), slot, current.arms[place])
            units = int(scale.lowest + score * width)
            sums[place] += units
            nodes.add(tallies[place], units)
        made = advance(policy, nodes, saved, current, sums, tallies, before)
        found.append((current, made.saved, made.dropped))
        if made.next is None:
            break
        before += current.size
        saved, current = made.saved, made.next
    return found


def in_the_library(policy: RoundPolicy) -> list[Any]:
    """What the policy makes of the mapped scores themselves, with no service in between."""
    state = policy.start(ARMS, HORIZON)
    found, pulls = [], 0
    while True:
        current = open_round(policy, state, HORIZON, pulls)
        if not current.whole:
            return found
        each = max(1, len(policy.nodes))
        seen = np.zeros(len(current.arms) * each)
        for slot in range(current.size):
            place = slot % len(current.arms)
            score = float(mapped_score(len(found), slot, current.arms[place]))
            # Multiples of 1/32 at most, so that these sums of floats are exact.
            if policy.nodes:
                add_score(np.array(policy.nodes), score, seen, place * each)
            else:
                seen[place] += score
        before = [arm for arm in range(ARMS) if policy.candidate(state, arm)]
        state = policy.absorbed(state, seen)
        dropped = tuple(arm for arm in before if not policy.candidate(state, arm))
        found.append((current, policy.save(state, ARMS, HORIZON), dropped))
        pulls += current.size


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_same_mapped_scores_are_the_same_run_on_every_scale(policy: RoundPolicy) -> None:
    expected = in_the_library(policy)
    assert sum(len(dropped) for _, _, dropped in expected) >= 1  # or there is little to compare
    for ends in SCALES:
        assert stepped(policy, scale_of(*ends)) == expected


@pytest.mark.parametrize("policy", SUMMED, ids=str)
def test_sums_that_are_not_mapped_are_another_run(
    policy: RoundPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = in_the_library(policy)
    monkeypatch.setattr(Scale, "to_policy", lambda self, total, answers: from_units(total))
    assert stepped(policy, scale_of(0, 1)) == expected
    for ends in SCALES[1:]:
        assert stepped(policy, scale_of(*ends)) != expected


@pytest.mark.parametrize("policy", COUNTING, ids=str)
def test_counts_that_are_off_by_one_unit_are_another_run(
    policy: RoundPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, honest = in_the_library(policy), Nodes.add

    def off_by_one(self: Nodes, tallies: list[int], units: int, answers: int = 1) -> None:
        honest(self, tallies, units, answers)
        tallies[0] += 1

    monkeypatch.setattr(Nodes, "add", off_by_one)
    for ends in SCALES:
        assert stepped(policy, scale_of(*ends)) != expected
