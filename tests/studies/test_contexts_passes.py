"""What a pass in random order does to means and to bets, and shares where each type has turns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

import pytest

Weights = list[list[int]]


def committees(groups: int, lead: int) -> Iterator[tuple[int, int, int]]:
    """Give the members of the leader, of another group and of all, when a pass begins."""
    for leader in (1, 2, 3):
        for more, outside in product((0, 2), (0, 3)):
            others = leader + lead + more
            for own in {leader + lead, others}:
                yield leader, own, leader + own + (groups - 2) * (leader + lead) + outside


def steps(leader: int, own: int, total: int, groups: int) -> Iterator[tuple[list[int], list[int]]]:
    """Give every step of f as the weights by turn of the leader and of the other.

    A nonnegative and nondecreasing f is at the shares of a pass a sum of such steps with
    nonnegative factors, and means of scores are linear in f.
    """
    lead = [Fraction(leader, total + turn) for turn in range(groups)]
    other = [Fraction(own, total + turn) for turn in range(groups)]
    for at in {*lead, *other, Fraction(0)}:
        yield [int(share >= at) for share in lead], [int(share >= at) for share in other]


def leads_in_mean(groups: int, lead: int) -> int:
    """Return in how many cases a leader that is no better on average has the larger mean score."""
    wrong = 0
    tables = list(product(range(3), repeat=groups))
    pairs = [(one, two) for one, two in product(tables, tables) if sum(one) <= sum(two)]
    for committee in committees(groups, lead):
        for weights, others in set(map(_hashable, steps(*committee, groups))):
            for worse, best in pairs:
                scored = sum(value * one for value, one in zip(worse, weights, strict=True))
                better = sum(value * one for value, one in zip(best, others, strict=True))
                wrong += scored > better
    return wrong


def _hashable(step: tuple[list[int], list[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(step[0]), tuple(step[1])


@pytest.mark.parametrize("groups", [2, 3])
def test_one_member_more_is_enough_for_every_order_of_types(groups: int) -> None:
    """Lemma 3, for all types of a pass with values of 0, 1/2 and 1, and every step of f."""
    assert leads_in_mean(groups, lead=1) == 0


@pytest.mark.parametrize("groups", [2, 3])
def test_as_many_members_are_not_enough(groups: int) -> None:
    """The negative control: without types they would be, since turns are drawn."""
    assert leads_in_mean(groups, lead=0) > 0


def expected_factor(
    worse: tuple[float, ...], best: tuple[float, ...], stake: float, centre: float, power: float
) -> float:
    """Return the expectation of a pass's factor over its orders and 0/1 scores, without bias."""
    total, orders = 0.0, list(permutations(range(len(worse)), 2))
    for one, two in orders:
        for up, down in product((0, 1), repeat=2):
            chance = (worse[one] if up else 1.0 - worse[one]) * (
                best[two] if down else 1.0 - best[two]
            )
            factor = (1.0 + stake * (up - centre)) * (1.0 - stake * (down - centre))
            total += chance * factor**power
    return total / len(orders)


def largest_factor(groups: int, power: float) -> float:
    tables = list(product((0.0, 0.5, 1.0), repeat=groups))
    return max(
        expected_factor(worse, best, min(stake, 0.9 / max(centre, 1.0 - centre)), centre, power)
        for worse, best in product(tables, tables)
        if sum(worse) <= sum(best)
        for stake, centre in product((0.1, 0.7, 1.8), (0.2, 0.5, 0.6))
    )


@pytest.mark.parametrize("groups", [2, 3])
def test_a_bet_with_half_counts_is_never_favourable(groups: int) -> None:
    assert largest_factor(groups, 0.5) <= 1.0 + 1e-12


@pytest.mark.parametrize("groups", [2, 3])
def test_one_with_whole_counts_is_where_types_of_a_pass_differ(groups: int) -> None:
    """The negative control: the proof for one type does not carry over."""
    assert largest_factor(groups, 1.0) > 1.1


def test_how_favourable_it_is_with_one_arrival_of_each_of_two_types() -> None:
    for stake in (0.3, 1.0, 1.8):
        found = expected_factor((1.0, 0.0), (1.0, 0.0), stake, 0.5, 1.0)
        assert math.isclose(found, 1.0 + stake**2 / 4.0)


# Each type has its turns.


def favours_leader(types: int, groups: int, ahead: int, length: int, outside: int) -> bool:
    """Whether in some order of arrivals the leader has a larger share in its turn.

    Group 0 leads, has the first turn of each type, and two members; every order is tried.
    """
    for arrivals in product(range(types), repeat=length):
        members = [2] + [2 + ahead] * (groups - 1)
        total = sum(members) + outside
        turns, leads = [0] * types, [(0, 1)] * types
        for kind in arrivals:
            group = turns[kind]
            if group == 0:
                leads[kind] = (members[0], total)
            elif members[group] * leads[kind][1] < leads[kind][0] * total:
                return True
            members[group] += 1
            total += 1
            turns[kind] = (group + 1) % groups
    return False


SIZES = [(1, 2, 8), (1, 3, 9), (2, 2, 11), (2, 3, 11), (3, 2, 7), (3, 3, 7)]


@pytest.mark.parametrize("outside", [0, 7])
@pytest.mark.parametrize(("types", "groups", "length"), SIZES)
def test_twice_as_many_members_as_types_are_enough(
    types: int, groups: int, length: int, outside: int
) -> None:
    """Lemma 4: 2 C - 1 more than the leader."""
    assert not favours_leader(types, groups, 2 * types - 1, length, outside)


@pytest.mark.parametrize(("types", "groups", "length"), SIZES)
def test_fewer_than_types_are_not(types: int, groups: int, length: int) -> None:
    """The negative control."""
    assert favours_leader(types, groups, types - 1, length, 0)


def with_missing_turns(
    leader: float, other: float, stake: float, centre: float, *, as_one: bool
) -> float:
    """Return the largest expected factor of a pair that an adversary may cut short.

    It sees the leader's 0/1 score and then lets the other's turn come, or not. Without `as_one` a
    pair that is cut short does not count at all.
    """
    total = 0.0
    for chance, score in ((leader, 1.0), (1.0 - leader, 0.0)):
        first = 1.0 + stake * (score - centre)
        whole = first * (1.0 - stake * (other - centre))
        cut = first * (1.0 - stake * (1.0 - centre)) if as_one else 1.0
        total += chance * max(whole, cut)
    return total


def largest_with_missing_turns(*, as_one: bool) -> float:
    """Return it over means with which the other is no worse than the leader."""
    grid = [place / 10 for place in range(11)]
    found = 0.0
    for leader, other, centre in product(grid, grid, (0.2, 0.5, 0.7)):
        for stake in (0.2, 0.8, 0.9 / max(centre, 1.0 - centre)):
            if leader <= other:
                value = with_missing_turns(leader, other, stake, centre, as_one=as_one)
                found = max(found, value)
    return found


def test_a_turn_that_never_comes_counts_as_a_score_of_one() -> None:
    """Theorem 12; the negative control leaves such pairs out, and the adversary chooses which."""
    assert largest_with_missing_turns(as_one=True) <= 1.0 + 1e-12
    assert largest_with_missing_turns(as_one=False) > 1.2
