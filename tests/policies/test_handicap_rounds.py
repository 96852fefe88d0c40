"""The rounds that the handicap announces for the case that nobody is dropped, against its runs.

A run is fed the same rates in every round, the leader's ahead of all others' by a lag. With scores
of 0 and 1 around 1/2, or sums of subGaussian ones, bets then win what is announced but for three
things: a fiftieth of the wealth returns to the prior whenever passes have doubled, the smallest
stakes are not bet at first, and stakes are given up that have lost nearly everything. Returning
costs log(1/0.98) = 0.02 at each doubling, of at least log(1/0.2) = 1.6 that are needed: ten times
make 13%. A lag wins about its square, so it is off by half of that at most: `TOLERANCE`. Smallest
stakes and lost ones have hardly any wealth. The planted errors are off by more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from affinity_bandits.policies import HandicapElimination, PlannedRound, handicap_elimination
from affinity_bandits.policies.bets import BettingState, lag_that_drops

from .test_handicap_elimination import Play

HORIZON = 6000
TOLERANCE = 0.07
POLICIES = {
    "subGaussian": HandicapElimination(head_start=20, sigma=0.5, failure=0.05),
    "expected": HandicapElimination(head_start=0, sigma=2.0, failure=0.2, expected_difference=1.0),
    "in flight": HandicapElimination(head_start=500, sigma=0.3, failure=0.05, in_flight=90),
    "horizon": HandicapElimination(head_start=240, sigma=0.5),
    "bounded": HandicapElimination(head_start=20, bounded=True, levels=2, failure=0.05),
    "bounded, horizon": HandicapElimination(head_start=7, bounded=True, levels=2),
}


def variance(policy: HandicapElimination) -> float:
    return 0.25 if policy.bounded else policy.sigma**2


def led(policy: HandicapElimination, arms: int, lag: float) -> Play:
    """A run after its first round, in which the last arm leads and the others are put in order."""
    play = Play(policy, arms, HORIZON)
    ahead(play, lag or 0.1)
    while play.planned[0] != list(range(arms)):
        ahead(play, lag)
    return play


def ahead(play: Play, lag: float) -> None:
    """Let the last arm be ahead of the others in a round, around 1/2."""
    play.absorb(*[0.5 - lag / 2] * (play.arms - 1), 0.5 + lag / 2)


def announced(policy: HandicapElimination, arms: int) -> list[PlannedRound]:
    return policy.rounds_without_drops(arms, HORIZON, variance(policy))


def check_pulls(policy: HandicapElimination, arms: int, rounds: list[PlannedRound]) -> None:
    """Compare rounds with those of a run in which nobody is ahead."""
    first = rounds[0]
    play = Play(policy, arms, HORIZON)
    assert first == (play.planned[1], arms * play.planned[1], play.planned[1], None)
    play = led(policy, arms, 0.0)
    for before, after in pairwise(rounds):
        while play.state.passes[0] < 2 * before.compared:
            ahead(play, 0.0)
        assert len(play.active) == arms
        found = (max(play.pulls), sum(play.pulls), int(play.state.passes[0]))
        assert after[:3] == found
    assert rounds[-1].compared * arms >= HORIZON


@pytest.mark.parametrize("arms", [2, 5])
@pytest.mark.parametrize("name", POLICIES)
def test_rounds_come_as_announced_while_nobody_is_dropped(name: str, arms: int) -> None:
    check_pulls(POLICIES[name], arms, announced(POLICIES[name], arms))


@pytest.mark.parametrize("forgotten", [{"in_flight": None}, {"head_start": 499}])
def test_a_handicap_that_is_forgotten_in_part_is_noticed(forgotten: dict[str, Any]) -> None:
    policy = POLICIES["in flight"]
    with pytest.raises(AssertionError):
        check_pulls(policy, 2, announced(replace(policy, **forgotten), 2))


def check_drops(policy: HandicapElimination, arms: int) -> int:
    """Compare lags with those of runs; return how many there were to compare."""
    compared = 0
    for one in announced(policy, arms):
        if one.drops is None:
            continue
        for lag in (one.drops * (1.0 - TOLERANCE), one.drops * (1.0 + TOLERANCE)):
            if policy.bounded and lag > 1.0:
                continue  # further than scores in [0, 1] can be apart
            play = led(policy, arms, lag)
            while len(play.active) == arms and play.state.passes[0] < one.compared:
                ahead(play, lag)
            assert (len(play.active) == 1) == (lag > one.drops)
            compared += 1
    return compared


@pytest.mark.slow
@pytest.mark.parametrize("arms", [2, 3])
@pytest.mark.parametrize("name", POLICIES)
def test_an_arm_is_dropped_by_then_if_it_lags_by_as_much_as_announced(name: str, arms: int) -> None:
    assert check_drops(POLICIES[name], arms) >= 6


@pytest.mark.parametrize("lag", [0.15, 0.3, 0.8])
@pytest.mark.parametrize("name", POLICIES)
def test_the_lag_that_drops_is_the_lag_of_the_round_that_does(name: str, lag: float) -> None:
    """It lies between what was needed a round before and what was needed in that round."""
    policy = POLICIES[name]
    lag *= 2.0 * math.sqrt(variance(policy))
    play, start = led(policy, 2, lag), policy.start(2, HORIZON)
    first = int(play.state.passes[0])
    before = math.inf
    while True:
        ahead(play, lag)
        needed = float(start.log_threshold)
        if policy.failure is None:
            needed = max(needed, math.log(HORIZON / sum(play.pulls)))
        passes = int(play.state.passes[0]) - first
        now = lag_that_drops(start, passes, variance(policy), needed) or math.inf
        if len(play.active) == 1:
            break
        before = now
    assert now * (1.0 - TOLERANCE) <= lag <= before * (1.0 + TOLERANCE)


def test_no_lag_drops_where_there_is_no_time_to_win() -> None:
    bounded, other = POLICIES["bounded"], POLICIES["subGaussian"]
    assert lag_that_drops(bounded.start(2, HORIZON), 1, 0.25, math.log(20.0)) is None
    assert lag_that_drops(other.start(2, HORIZON), 0, 0.25, math.log(20.0)) is None
    assert bounded.rounds_without_drops(2, 8, 0.25)[0].drops is None


Changed = Callable[[BettingState, int, float, float], float | None]
WRONG: dict[str, tuple[str, Changed]] = {
    "bets in the first round": (
        "horizon",
        lambda state, passes, *rest: lag_that_drops(state, passes + 20, *rest),
    ),
    "one variance for two arms": (
        "bounded",
        lambda state, passes, variance, needed: lag_that_drops(
            state, passes, variance / 2.0, needed
        ),
    ),
    "a threshold that the horizon does not raise": (
        "horizon",
        lambda state, passes, variance, needed: lag_that_drops(
            state, passes, variance, 0.7 * needed
        ),
    ),
    "wealth that does not begin at the prior": (
        "subGaussian",
        lambda state, *rest: lag_that_drops(state._replace(log_prior=state.log_prior + 1.0), *rest),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
def test_a_lag_that_is_worked_out_wrongly_is_noticed(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, changed = WRONG[wrong]
    monkeypatch.setattr(handicap_elimination, "lag_that_drops", changed)
    with pytest.raises(AssertionError):
        check_drops(POLICIES[name], 2)
