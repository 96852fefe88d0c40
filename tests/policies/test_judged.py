"""Policies that are told who judges: on every path and order of answers, and in runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest
from bench.judges import FAILURE, ORDERS, Case, failure

from affinity_bandits import (
    AffinityBandit,
    HandicapElimination,
    Joining,
    Judges,
    Power,
    simulate,
)
from affinity_bandits.kernels import bind
from affinity_bandits.policies.contracts import RoundKernels
from affinity_bandits.policies.judged import absorb_from_panel
from affinity_bandits.policies.wealth import BettingState

# Every path. Slots of a round are answered in any order that a window of D allows, and each answer
# is by somebody who joins or does not.


def favored(groups: int, passes: int, window: int, ahead: int, members: int) -> bool:
    """Whether on some path the leader has the larger share at its l-th answer than another has.

    Everybody but the leader, who is first or last in a pass, begins ahead of it by so many.
    """
    return any(
        _pair_out_of_order(path, groups, leader, ahead, members)
        for leader in (0, groups - 1)
        for path in _paths(groups * passes, window)
    )


def _paths(length: int, window: int) -> Iterator[list[tuple[int, bool]]]:
    """Yield every order of the slots in which they can be answered, with who joins."""

    def longer(path: list[tuple[int, bool]], done: int) -> Iterator[list[tuple[int, bool]]]:
        if len(path) == length:
            yield path
            return
        oldest = next(slot for slot in range(length) if not done >> slot & 1)
        for slot in range(oldest, min(length, oldest + window)):
            if not done >> slot & 1:
                for joins in (False, True):
                    yield from longer([*path, (slot, joins)], done | 1 << slot)

    yield from longer([], 0)


def _pair_out_of_order(
    path: list[tuple[int, bool]], groups: int, leader: int, ahead: int, members: int
) -> bool:
    sitting = [members + (0 if group == leader else ahead) for group in range(groups)]
    shares: list[list[Fraction]] = [[] for _ in range(groups)]
    for slot, joins in path:
        group = slot % groups
        shares[group].append(Fraction(sitting[group], sum(sitting)))
        sitting[group] += joins
    return any(
        own > other
        for group in range(groups)
        if group != leader
        for own, other in zip(shares[leader], shares[group], strict=True)
    )


SMALL = [(2, 3, 1), (2, 3, 2), (2, 3, 3), (2, 2, 4), (3, 2, 1), (3, 2, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "passes", "window"), SMALL)
def test_as_many_as_can_join_and_half_a_window_is_enough(
    groups: int, passes: int, window: int
) -> None:
    for members in (0, 1, 5):
        assert not favored(groups, passes, window, passes + window // 2, members)


@pytest.mark.parametrize(("groups", "passes", "window"), [*SMALL[:3], (3, 2, 1)])
def test_without_allowing_for_those_who_join_it_is_not(
    groups: int, passes: int, window: int
) -> None:
    """The handicap of a policy that counts pulls: half a window and one."""
    assert any(favored(groups, passes, window, window // 2 + 1, size) for size in (1, 5))


MEMBERS = Case(2, "bernoulli", "ramp", "members", "even", "leader's", 1)
PANEL = Case(2, "bernoulli", "ramp", "panel", "favouring", "1 in 10", 1_000, leave=True)
CASES = [
    pytest.param(MEMBERS, 150, 20, 50, id="members"),
    pytest.param(MEMBERS, 400, 42, 150, id="members-long", marks=pytest.mark.nightly),
    pytest.param(PANEL, 400, 42, 150, id="panel", marks=pytest.mark.nightly),
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "runs", "most", "fewest_unguarded"), CASES)
def test_no_adversary_gets_an_equal_dropped_more_often_than_stated(
    case: Case, runs: int, most: int, fewest_unguarded: int
) -> None:
    """More drops than `most` have a probability of 1e-4 at the level 0.05."""
    assert failure(case, runs=runs) <= most / runs
    assert failure(case, runs=runs, guarded=False) >= fewest_unguarded / runs


@pytest.mark.parametrize(
    ("judges", "window"), [("chosen", 9), ("members", 9), ("panel", None), ("strangers", None)]
)
def test_the_order_of_answers_matters_where_judges_become_more(
    judges: str, window: int | None
) -> None:
    assert HandicapElimination(judges=judges).with_order_window(9).order_window == window


GROUPS = (2, 3, 4)
WINDOWS = range(1, 9)


def totals(groups: int, window: int) -> tuple[dict[tuple[int, int], int], ...]:
    """The fewest and the most ratings there can be before the l-th of each place of a round.

    Every reachable set of rated slots is visited: slot s can be rated only once all slots up to
    s - window are. Three windows of slots are enough: in the first the leader can get as far ahead
    as it ever can, in the second everything repeats, and the third is what others can be ahead by.
    """
    length = -(-(3 * window + 2 * groups) // groups) * groups
    places = [sum(1 << slot for slot in range(place, length, groups)) for place in range(groups)]
    fewest: dict[tuple[int, int], int] = {}
    most: dict[tuple[int, int], int] = {}
    layer = {0}
    for rated in range(length):
        following = set()
        for done in layer:
            oldest = next(slot for slot in range(length) if not done >> slot & 1)
            for slot in range(oldest, min(length, oldest + window)):
                if done >> slot & 1:
                    continue
                place = slot % groups
                key = (place, (done & places[place]).bit_count())
                fewest.setdefault(key, rated)
                most[key] = rated
                following.add(done | 1 << slot)
        layer = following
    return fewest, most


def suffices(groups: int, window: int, margin: int) -> bool:
    """Whether a leader behind all others by the margin never has the larger share of a pair.

    Let the leader begin with a members, and pair the l-th ratings of it and another group: with
    t before its own and d more before the other's, (a + margin + l) / (t + d) >= (a + l) / t must
    hold, where t is groups * a + (groups - 1) * margin and the ratings so far. In a that is a line,
    so it holds for all a >= 0 if it holds for 0 and does not fall.
    """
    fewest, most = totals(groups, window)
    for leader in range(groups):
        for other in range(groups):
            for ratings in range(2 * window // groups):
                if other == leader:
                    continue
                before = (groups - 1) * margin + fewest[leader, ratings]
                apart = most[other, ratings] - fewest[leader, ratings]
                falls = groups * margin < apart
                if falls or margin * before < ratings * apart:
                    return False
    return True


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("window", WINDOWS)
def test_half_a_window_and_one_more_is_enough(groups: int, window: int) -> None:
    assert suffices(groups, window, window // 2 + 1)


@pytest.mark.parametrize("window", WINDOWS)
def test_one_less_is_not(window: int) -> None:
    assert not suffices(2, window, window // 2)


SETTINGS = [
    (2, "bernoulli", "x^2", 1_000),
    (2, "gaussian.1", "x^2", 50),
    (3, "bernoulli", "ramp", 1_000),
    (5, "gaussian.02", "x^2", 1_000),
]


@pytest.mark.slow
@pytest.mark.nightly_but("short")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("runs", [pytest.param(100, id="short"), 400])
@pytest.mark.parametrize(("groups", "noise", "bias", "window"), SETTINGS)
def test_answers_out_of_order_need_the_allowance(
    groups: int, noise: str, bias: str, window: int, runs: int, order: str
) -> None:
    """In 400 runs a proportion of 0.05 has a standard deviation of 0.011."""
    case = Case(groups, noise, bias, "chosen", "even", "everybody", window, order=order)
    assert failure(case, runs=runs) <= FAILURE
    assert failure(case, runs=runs, guarded=False) >= 0.9


RUNS = 2000
LEVEL = 0.05
MOST = 139
"""Of the runs: the level, 100, and four standard deviations of a count at the level, sqrt(2000 *
0.05 * 0.95) = 9.7. A policy that keeps to the level has more with probability below 1e-4."""
WORLDS = [
    AffinityBandit(
        means,
        bias=Power(steepness),
        initial_pulls=members,
        joining=Joining(part=0.1),
        judges=Judges("panel", seats=10, seating="in proportion"),
    )
    for means, steepness, members in [
        ([0.5, 0.6, 0.4], 2.0, [12, 4, 4]),
        ([0.9, 1.0, 0.9], 4.0, [10, 5, 9]),
        ([0.45, 0.5, 0.4], 1.0, [12, 8, 12]),
    ]
]


def no_order(state: BettingState, arm: int) -> bool:
    return True


@dataclass(frozen=True)
class Unguarded(HandicapElimination):
    """The policy, but it bets against whoever has fewer seats than the leader as well."""

    def kernels(self) -> RoundKernels:
        unguarded = bind(absorb_from_panel, seats_in_order=no_order)
        return super().kernels()._replace(absorb=unguarded)


def wrong(policy: type[HandicapElimination], world: AffinityBandit) -> int:
    """In how many runs the best group was dropped."""
    told = policy(bounded=True, failure=LEVEL, levels=2, judges="panel")
    result = simulate(world, told, 3000, RUNS, progress=False)
    return round(result.summary()[0].wrong_arm[0] * RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_a_panel_of_the_leaders_own_does_not_get_the_best_dropped(world: AffinityBandit) -> None:
    assert wrong(HandicapElimination, world) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_without_the_guard_it_does(world: AffinityBandit) -> None:
    """The control: what the test above would find, if the policy bet on."""
    assert wrong(Unguarded, world) > 2 * MOST
