"""Worlds of judges: scores have the laws that the world says; what cannot be is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits import (
    InvalidInput,
    JudgeWorld,
)
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.model.judges import score_given
from tests.simulation.test_among_judges import PLAIN


def mean_score(world: JudgeWorld, group: int, rater: int, clock: int = 0, place: int = 0) -> float:
    """Return the mean in points of 4,000 scores by one judge; the standard error is below .1."""
    rng = np.random.default_rng(11)
    judges, score = world.draw(rng), compile_kernel(score_given, inlined=False)
    found = [score(judges, group, rater, 0, clock, place, rng) for _ in range(4_000)]
    return float(world.lowest + (world.highest - world.lowest) * np.mean(found))


@pytest.mark.parametrize(
    ("changes", "group", "rater", "expected"),
    [
        ({}, 0, 1, 50.0),
        ({"favors": (5.0, 0.0, 0.0)}, 0, 0, 55.0),
        ({"favors": (5.0, 0.0, 0.0)}, 0, 1, 50.0),
        ({"favors": (5.0, 0.0, 0.0)}, 0, 3, 50.0),
        ({"strictness": (-7.0, 0.0, 0.0)}, 1, 0, 43.0),
        ({"strictness": (-7.0, 0.0, 0.0)}, 1, 3, 50.0),
        ({"quality": (70.0, 50.0, 50.0), "slopes": (1.5, 1.0, 0.5)}, 0, 0, 80.0),
        ({"quality": (70.0, 50.0, 50.0), "slopes": (1.5, 1.0, 0.5)}, 0, 2, 60.0),
        ({"tiring": 3.0}, 0, 1, 44.0),
    ],
)
def test_scores_have_the_mean_that_the_world_says(
    changes: dict[str, object], group: int, rater: int, expected: float
) -> None:
    """4,000 scores of deviation 5: six standard errors are .47. The third place tires twice."""
    found = mean_score(replace(PLAIN, **changes), group, rater, place=2)  # type: ignore[arg-type]
    assert found == pytest.approx(expected, abs=0.47)


def test_what_differs_by_chance_has_the_deviation_that_the_world_says() -> None:
    """300 draws: a standard deviation is off by less than 6/sqrt(600), a quarter."""
    world = replace(
        PLAIN, group_strictness=2.0, judge_strictness=1.0, tastes=3.0, drift=4.0, judges=40
    )
    drawn = [world.draw(np.random.default_rng(seed)) for seed in range(300)]
    assert np.std([one.strictness[0].mean() for one in drawn]) == pytest.approx(2.0, rel=0.25)
    assert np.mean([one.strictness[0].std() for one in drawn]) == pytest.approx(1.0, rel=0.05)
    assert np.std([one.tastes[3, 1] for one in drawn]) == pytest.approx(3.0, rel=0.25)
    assert np.std([one.drift[2] for one in drawn]) == pytest.approx(4.0, rel=0.25)
    assert {one.tastes[1, 1] for one in drawn} == {0.0}


def test_drift_swings_once_in_a_period() -> None:
    world = replace(PLAIN, drift=5.0, period=400.0)
    swing = world.draw(np.random.default_rng(11)).drift[1]
    for clock, part in ((0, 0.0), (100, 1.0), (300, -1.0)):
        assert mean_score(world, 0, 1, clock) == pytest.approx(50.0 + part * swing, abs=0.47)


@pytest.mark.parametrize("unit", [1.0, 0.5, 5.0])
def test_scores_are_rounded_to_the_scale(unit: float) -> None:
    world = JudgeWorld(quality=(4.0, 4.0), lowest=1.0, highest=6.0, unit=unit, spread=3.0)
    rng = np.random.default_rng(0)
    judges = world.draw(rng)
    found = {1.0 + 5.0 * score_given(judges, 0, 1, 0, 0, 0, rng) for _ in range(2_000)}
    expected = np.arange(1.0, 6.0 + unit / 2.0, unit)
    assert sorted(found) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"quality": (1.0,)}, "quality"),
        ({"favors": (1.0,)}, "favors"),
        ({"judges": (1, 2)}, "judges"),
        ({"judges": 0}, "judges"),
        ({"error": -1.0}, "error"),
        ({"unit": 0.0}, "unit"),
        ({"highest": 0.0}, "highest"),
        ({"joining": 2.0}, "joining"),
    ],
)
def test_a_world_that_cannot_be_is_refused(changes: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        replace(PLAIN, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quality": ("a", "b")}, r"quality\[0\] must be a number"),
        ({"quality": 3}, "quality must be a list of numbers"),
        ({"quality": (1, math.nan)}, r"quality\[1\] must be a number"),
        ({"judges": 0}, "judges must be a whole number from 1"),
        ({"judges": (1, 2)}, "judges must be one number, or a number for each of the 3 groups"),
        ({"outsiders": 0}, "outsiders must be a whole number from 1"),
        ({"favors": (1, 2)}, "favors must be empty or a number for each of the 3 groups"),
        ({"slopes": (-1, 1, 1)}, r"slopes\[0\] must be a number"),
        ({"own_part": (2, 0, 0)}, r"own_part\[0\] must be a number in \[0, 1\]"),
        ({"tiring": "x"}, "tiring must be a number"),
        ({"by_lot": "no"}, "by_lot must be true or false"),
        ({"highest": 1}, "highest must be a number"),
    ],
    ids=str,
)
def test_a_world_of_judges_that_is_none_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        JudgeWorld(**({"quality": (3, 3, 3)} | changes))


def test_lists_are_taken_as_tuples() -> None:
    assert JudgeWorld(quality=[3, 3], judges=[2, 4]) == JudgeWorld(quality=(3, 3), judges=(2, 4))
