"""Worlds of judges, and what neutral blocks and other policies do in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from bench.judge_worlds import KNOWN, stars
from bench.judges_as_they_are import LEADERBOARD, families, leaderboard

from affinity_bandits import (
    InvalidInput,
    JudgeWorld,
    NeutralElimination,
    NotSupported,
    PanelElimination,
    RecusalElimination,
    simulate_blocks,
    simulate_slots,
)
from affinity_bandits.kernels.compile import cacheable, compile_kernel
from affinity_bandits.kernels.kernel import bind
from affinity_bandits.model.judges import JudgesOfRun, score_given
from affinity_bandits.policies import Uniform
from affinity_bandits.simulation.among_judges import drawn_rater, play_blocks
from affinity_bandits.simulation.intervals import proportion_interval

RUNS = 200
PLAIN = JudgeWorld(
    quality=(50.0, 50.0, 50.0),
    lowest=0.0,
    highest=100.0,
    spread=3.0,
    error=4.0,
    judge_strictness=0.0,
)


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
    ("way", "own_part", "expected"),
    [
        (0, (), (0.0, 1 / 3, 2 / 3)),  # recused: by the judges of the others, 4 and 8
        (1, (), (1 / 3, 1 / 3, 1 / 3)),  # equal seats
        (2, (), (2 / 14, 4 / 14, 8 / 14)),  # everybody
        (1, (0.6, 0.5, 0.5), (0.6, 0.2, 0.2)),  # not by lot
    ],
)
def test_raters_of_slots_have_the_shares_that_the_way_says(
    way: int, own_part: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    """9,000 raters: six standard deviations of a share are at most .032."""
    world = replace(PLAIN, judges=(2, 4, 8), own_part=own_part)
    rng = np.random.default_rng(4)
    judges = world.draw(rng)
    found = [drawn_rater(judges, way, 0, rng) for _ in range(9_000)]
    assert np.bincount(found, minlength=3) / 9_000 == pytest.approx(expected, abs=0.032)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three groups, strictness, slope 1.3", "four groups, strictness"])
def test_the_best_group_is_kept_whatever_judges_favor(name: str) -> None:
    """20,000 scores. With a rate of 5%, 24 or more of 200 have probability 7e-5.

    With a rate of 20% they have probability .998.
    """
    assert simulate_blocks(NeutralElimination(), KNOWN[name], 20_000, RUNS).wrong < 24


@pytest.mark.slow
@pytest.mark.parametrize("target", [None, 1_500])
def test_the_price_of_three_groups(target: int | None) -> None:
    """A lead of .3 stars: mean at most 1,000 and 95th percentile at most 1,800 scores.

    The mean of 400 runs has a standard error of 22 at 872, the 95th percentile about 50 at 1,600.
    """
    world = stars(3, lead=0.3, group_strictness=0.2)
    runs = simulate_blocks(NeutralElimination(target=target), world, 20_000, 400)
    assert runs.decided.all()
    assert runs.scores.mean() <= 1_000
    assert np.quantile(runs.scores, 0.95) <= 1_800
    assert runs.wrong <= 4  # none was seen; a lead of .3 is far from a tie


@pytest.mark.slow
@pytest.mark.parametrize("groups", [3, 4])
def test_runs_are_identical_for_every_vector_of_favors(groups: int) -> None:
    rng = np.random.default_rng(1)
    plain = simulate_blocks(NeutralElimination(), stars(groups, favors=(), lead=0.1), 3_000, 40)
    for _ in range(5):
        favors = tuple(rng.uniform(-3.0, 3.0, groups))
        world = stars(groups, favors=favors, lead=0.1)
        found = simulate_blocks(NeutralElimination(), world, 3_000, 40)
        assert all(np.array_equal(a, b) for a, b in zip(plain, found, strict=True))


@pytest.mark.slow
def test_two_groups_need_outsiders_and_hold_with_them() -> None:
    world = stars(2, group_strictness=0.4, slopes=(1.3, 1.0))
    with pytest.raises(NotSupported, match="Two groups"):
        simulate_blocks(NeutralElimination(), world, 1_000, 1)
    policy = NeutralElimination(outsiders=True)
    assert simulate_blocks(policy, world, 20_000, RUNS).wrong < 24
    better = simulate_blocks(policy, stars(2, group_strictness=0.4, lead=0.3), 20_000, RUNS)
    assert better.decided.all()
    assert better.scores.mean() < 1_000


@pytest.mark.slow
def test_recusal_and_panels_fail_in_these_worlds() -> None:
    """The control: above 25 and above 35% of 200 runs, so the lower 95% limits are above 18%."""
    world = stars(2, group_strictness=0.2)
    recused = RecusalElimination(bounded=True, failure=0.05, target=1_500)
    panels = PanelElimination(bounded=True, failure=0.05, target=1_000)
    alone = simulate_slots(recused, world, "recused", 1_500, RUNS).wrong
    seated = simulate_slots(panels, world, "panel", 1_500, RUNS).wrong
    assert alone > 0.25 * RUNS
    assert seated > 0.35 * RUNS
    assert proportion_interval(alone, RUNS, 0.95)[1] > 0.18
    alike = stars(2, favors=(0.3, 0.3), judge_strictness=0.0)
    assert simulate_slots(recused, alike, "recused", 1_500, RUNS).wrong < 24
    assert simulate_slots(panels, alike, "panel", 1_500, RUNS).wrong < 24


@pytest.mark.slow
def test_tastes_of_third_groups_are_the_limit() -> None:
    """With tastes of .2 stars 37 to 50% of runs were wrong; 24 or fewer of 200 would be 7e-8."""
    world = stars(3, tastes=0.2)
    assert simulate_blocks(NeutralElimination(), world, 3_000, RUNS).wrong > 24


@pytest.mark.slow
def test_families_of_models_that_favor_their_own_mislead_a_leaderboard_and_no_third_family() -> (
    None
):
    """A lead of .1 of 10 points, and the best family favors its own least.

    55% of leaderboards are wrong: 80 or fewer of 200 have probability 1e-5. At most 5% of runs of
    neutral blocks may be: 24 or more of 200 have probability 7e-5.
    """
    world = families(0.1)
    assert leaderboard(world, LEADERBOARD, RUNS, 6) > 0.4
    assert simulate_blocks(NeutralElimination(), world, LEADERBOARD, RUNS, 6).wrong < 24


@pytest.mark.slow
def test_plain_python_plays_the_same_blocks() -> None:
    policy, world = NeutralElimination(target=300), stars(4, drift=0.5, joining=0.2)

    def played(loop: Callable[..., None]) -> object:
        rng = np.random.default_rng([0, 0])
        state = policy.start(4, 1)
        judges: JudgesOfRun = world.draw(rng)
        loop(
            cacheable(state),
            judges,
            600,
            np.zeros(1, dtype=np.int64),
            np.zeros(4, dtype=np.int64),
            np.zeros(4),
            rng,
        )
        return policy.save(state, 4, 1)

    kernels = policy.kernels()
    loop = bind(play_blocks, rater_of=kernels.rater, draw=kernels.draw, take=kernels.take)
    assert played(loop) == played(compile_kernel(loop, inlined=False))


def test_a_policy_that_drops_nothing_is_refused() -> None:
    with pytest.raises(NotSupported, match="drops no group"):
        simulate_slots(Uniform(), PLAIN, "panel", 100, 1)
    with pytest.raises(InvalidInput, match="judges"):
        simulate_slots(PanelElimination(bounded=True, failure=0.05), PLAIN, "friends", 100, 1)


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
