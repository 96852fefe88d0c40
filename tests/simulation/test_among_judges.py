"""Worlds of judges, and what neutral blocks and other policies do in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

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
from affinity_bandits.model.judges import JudgesOfRun
from affinity_bandits.policies import Uniform
from affinity_bandits.simulation.among_judges import drawn_rater, play_blocks
from affinity_bandits.simulation.intervals import proportion_interval
from research.judge_worlds import CROSSED, KNOWN, stars
from research.judges_as_they_are import LEADERBOARD, crossed, families, leaderboard

RUNS = 200
PLAIN = JudgeWorld(
    quality=(50.0, 50.0, 50.0),
    lowest=0.0,
    highest=100.0,
    spread=3.0,
    error=4.0,
    judge_strictness=0.0,
)


@pytest.mark.parametrize(
    ("way", "own_part", "expected"),
    [
        (0, (), (0.0, 1 / 3, 2 / 3)),  # recused: by the judges of the others, 4 and 8
        (1, (), (1 / 3, 1 / 3, 1 / 3)),  # equal seats
        (2, (), (2 / 14, 4 / 14, 8 / 14)),  # everybody
        (1, (0.6, 0.5, 0.5), (0.6, 0.2, 0.2)),  # not by lot
        (3, (), (0.0, 1 / 2, 1 / 2)),  # equal seats, the leader none
    ],
)
def test_raters_of_slots_have_the_shares_that_the_way_says(
    way: int, own_part: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    """9,000 raters: six standard deviations of a share are at most .032."""
    world = replace(PLAIN, judges=(2, 4, 8), own_part=own_part)
    rng = np.random.default_rng(4)
    judges = world.draw(rng)
    seats = np.array([0, 1, 1]) if way == 3 else np.ones(3, dtype=np.int64)
    found = [drawn_rater(judges, way, 0, seats, rng) for _ in range(9_000)]
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
@pytest.mark.parametrize("name", ["two groups, strictness, slope 1.3", "three groups, strictness"])
def test_crossed_blocks_keep_the_best_group_if_they_are_told_the_gap_between_favors(
    name: str,
) -> None:
    """20,000 scores. With a rate of 5%, 24 or more of 200 have probability 7e-5.

    The control is told half of the gap, or nothing: 86% and 100% of runs with two groups are wrong,
    and 29% and 97% with three. With a rate of 29%, 30 or fewer of 200 have probability 4e-6.
    """
    world = CROSSED[name]
    assert simulate_blocks(crossed(world), world, 20_000, RUNS).wrong < 24
    assert simulate_blocks(crossed(world, 0.5), world, 20_000, RUNS).wrong > 30
    assert simulate_blocks(crossed(world, 0.0), world, 20_000, RUNS).wrong > 150


@pytest.mark.slow
def test_crossed_blocks_find_a_lead_that_favors_cannot_explain_and_no_other() -> None:
    """Favors of .57 and .23 stars, told the true gap of .34: it hides a lead of .34 at most.

    A lead of .6 took 600 scores on average, with a standard error of 25 in 200 runs.
    """
    clear, hidden = stars(2, lead=0.6, group_strictness=0.2), stars(2, lead=0.17)
    found = simulate_blocks(crossed(clear), clear, 20_000, RUNS)
    assert found.decided.all()
    assert found.wrong == 0
    assert found.scores.mean() < 800
    assert simulate_blocks(crossed(hidden), hidden, 20_000, 40).decided.sum() < 8


@pytest.mark.slow
def test_panels_without_the_leading_group_need_no_equal_favors() -> None:
    """Panels with equal seats drop the less favored of two equal groups; without the leader's not.

    At most 5% of runs may: 24 or more of 200 have probability 7e-5. The lead of .6 stars is found
    if it exceeds the rival's favor, .3, in 400 scores on average.
    """
    panels = PanelElimination(bounded=True, failure=0.05, target=900)
    equal = stars(2, group_strictness=0.4)
    assert simulate_slots(panels, equal, "rivals", 3_000, RUNS).wrong < 24
    assert simulate_slots(panels, equal, "panel", 3_000, RUNS).wrong > 0.35 * RUNS
    better = stars(2, lead=0.6, favors=(0.3, 0.3), group_strictness=0.2)
    found = simulate_slots(panels, better, "rivals", 20_000, RUNS)
    assert found.decided.all()
    assert found.scores.mean() < 600


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
            pulls := np.zeros(4, dtype=np.int64),
            np.zeros(4, dtype=np.int64),
            np.zeros(4),
            rng,
        )
        assert pulls.sum() == policy.counted(state)
        return policy.save(state, 4, 1)

    kernels = policy.kernels()
    loop = bind(play_blocks, rater_of=kernels.rater, draw=kernels.draw, take=kernels.take)
    assert played(loop) == played(compile_kernel(loop, inlined=False))


def test_a_policy_that_drops_nothing_is_refused() -> None:
    with pytest.raises(NotSupported, match="drops no group"):
        simulate_slots(Uniform(), PLAIN, "panel", 100, 1)
    with pytest.raises(InvalidInput, match="judges"):
        simulate_slots(PanelElimination(bounded=True, failure=0.05), PLAIN, "friends", 100, 1)
