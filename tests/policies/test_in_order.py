"""How far out of order answers may come: half a window and one more, and no less."""

from __future__ import annotations

import pytest

from affinity_bandits import (
    HeadStartElimination,
    MembersElimination,
    PanelElimination,
    RecusalElimination,
)
from affinity_bandits.policies.contracts import RoundPolicy
from research.judges import FAILURE, ORDERS, Case, failure


@pytest.mark.parametrize(
    ("kind", "window"),
    [
        (HeadStartElimination, 9),
        (MembersElimination, None),
        (PanelElimination, None),
        (RecusalElimination, None),
    ],
)
def test_the_order_of_answers_matters_where_pulls_are_counted(
    kind: type[RoundPolicy], window: int | None
) -> None:
    assert kind().with_order_window(9).order_window == window


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
