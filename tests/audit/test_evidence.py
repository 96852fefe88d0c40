"""Bets on double differences: fair under the null hypothesis, and intervals that cover."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits.audit.differences import Differences, find_differences
from affinity_bandits.audit.evidence import (
    RATIO,
    STAKES,
    THRESHOLD,
    bet,
    favor_interval,
    log_evidence,
    stretch_differences,
)
from affinity_bandits.audit.log import score_log
from affinity_bandits.kernels.kernel import FloatArray
from tests.audit.logs import draw

LENGTH = 9  # the clip works from the eighth difference on


def all_paths(
    values: tuple[float, ...], chances: tuple[float, ...], stakes: FloatArray, clip: float
) -> tuple[FloatArray, FloatArray]:
    """Return the probability and the log wealth of every sequence of differences."""
    ones = np.full(LENGTH, 0.3)
    sequences = np.array(list(itertools.product(range(len(values)), repeat=LENGTH)))
    drawn = np.array(values)[sequences]
    wealth = np.array([bet(t, ones, ones, stakes=stakes, clip=clip) for t in drawn])
    return np.array(chances)[sequences].prod(axis=1), wealth


@pytest.mark.parametrize("stakes", [STAKES, *(np.array([stake]) for stake in (0.08, 1.2, -0.5))])
def test_wealth_is_fair_for_every_stake(stakes: FloatArray) -> None:
    """Exact: the mean over all 3^9 sequences with their probabilities."""
    chance, wealth = all_paths((-0.3, 0.0, 0.3), (0.3, 0.4, 0.3), stakes, 1.0)
    assert chance @ np.exp(wealth) == pytest.approx(1.0, abs=1e-9)  # at every length
    assert chance @ (wealth.max(axis=1) >= THRESHOLD) <= 0.05


def test_without_clip_wealth_is_fair_for_skewed_errors_too() -> None:
    chance, wealth = all_paths((-0.3, 0.1), (0.25, 0.75), STAKES, math.inf)
    assert chance @ np.exp(wealth) == pytest.approx(1.0, abs=1e-9)
    unfair = all_paths((-0.3, 0.1), (0.2, 0.8), STAKES, math.inf)
    assert (unfair[0] @ np.exp(unfair[1]))[-1] > 1.0  # differences of mean 0.02


def test_two_candidates_and_two_judges_by_enumeration() -> None:
    """Every outcome of four scores, each 1 point below or above quality plus strictness."""
    quality, strictness, favor = (4.0, 6.0), (0.5, -1.0), 0.5
    total = 0.0
    for signs in itertools.product((-1.0, 1.0), repeat=4):
        rows = list(itertools.product(range(2), range(2)))
        scores = [
            quality[c] + strictness[j] + favor * (c == j) + sign
            for (c, j), sign in zip(rows, signs, strict=True)
        ]
        log = score_log(
            [c for c, _ in rows],
            ["AB"[c] for c, _ in rows],
            scores,
            scale=(0.0, 10.0),
            judge=[j for _, j in rows],
            judge_group=["AB"[j] for _, j in rows],
            session=[c for c, _ in rows],
        )
        (one,) = find_differences(log)
        assert one.information.tolist() == [1.0]
        total += float(one.t[0]) / 16.0
    assert total == pytest.approx(favor / 10.0)


def test_wealth_counts_at_the_ends_of_sessions_only() -> None:
    ones = np.ones(60)
    t = np.concatenate([np.full(40, 0.5), np.full(20, -0.9)])
    zeros = np.zeros(60, dtype=np.int64)
    one = Differences(t / 2.0, -t / 2.0, ones, ones, zeros, zeros, ones)
    assert log_evidence([one]) < bet(t, ones, ones).max()
    separate = replace(one, session=np.arange(60))
    assert log_evidence([separate]) == pytest.approx(bet(t, ones, ones).max())


def test_uneven_strictness_is_no_evidence_up_to_the_ratio() -> None:
    """Strictness counts 1.4 times as much with one group: every difference is above 0."""
    generator = np.random.default_rng(0)
    x, z = 0.14 + generator.normal(0.0, 0.1, (2, 300)) - np.array([[0.0], [0.04]])
    ones, kind = np.ones(300), np.zeros(300, dtype=np.int64)
    one = Differences(x, z, ones, 2.0 * ones, kind, np.arange(300), ones)
    assert log_evidence([one]) > THRESHOLD
    assert log_evidence([one], ratio=RATIO) < THRESHOLD
    assert (stretch_differences(x, z, kind, 1.0) == x - z).all()
    plain, wide = favor_interval([one]), favor_interval([one], ratio=RATIO)
    assert plain[0] > 0.0
    assert wide[0] < 0.0 < plain[1] < wide[1]


def test_a_favor_that_changes_has_no_interval() -> None:
    t = np.repeat([0.3, -0.1], 200) + np.random.default_rng(0).normal(0.0, 0.05, 400)
    ones, kind = np.ones(400), np.zeros(400, dtype=np.int64)
    one = Differences(t / 2.0, -t / 2.0, ones, ones, kind, np.arange(400), ones)
    low, high = favor_interval([one])
    assert low == high == pytest.approx(t.mean())


@pytest.mark.slow
@pytest.mark.parametrize("favor", [0.0, 1.0])
def test_intervals_contain_the_favor(favor: float) -> None:
    """At most 5% of intervals miss; of 40, more than 8 have probability 0.0001."""
    missed = 0
    for seed in range(40):
        low, high = favor_interval(find_differences(draw(seed=seed, day=1, favor=favor)))
        assert high - low < 0.2
        missed += not low <= favor / 20.0 <= high
    assert missed <= 8
