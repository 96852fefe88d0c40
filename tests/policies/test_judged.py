"""Policies that are told who judges: on every path and order of answers, and in runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from bench.judges import FAILURE, ORDERS, Case, choices, failure

from affinity_bandits import (
    AffinityBandit,
    HeadStartElimination,
    Joining,
    Judges,
    Live,
    MembersElimination,
    PanelElimination,
    Power,
    RecusalElimination,
    simulate,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import bind
from affinity_bandits.policies.contracts import RoundKernels, RoundPolicy
from affinity_bandits.policies.leading import stay
from affinity_bandits.policies.members import (
    members_in_order,
    passes_among_members,
    usual_passes,
)
from tests.support.naive.policies.head_start_elimination import MembersElimination as NaiveTwin

# Every state of a round. Answers come in any order, each of somebody who then joins or does not,
# and people who were chosen earlier begin whenever they like.


def favored(members: Sequence[int], soon: Sequence[int], passes: int) -> bool:
    """Whether group 0 can ever have a larger share at one of its answers than the last at one."""
    groups = len(members)
    largest, smallest = Fraction(0), Fraction(1)
    for answered in product(range(passes + 1), repeat=groups):
        more = [range(a + late + 1) for a, late in zip(answered, soon, strict=True)]
        for begun in product(*more):
            sitting = [a + b for a, b in zip(members, begun, strict=True)]
            shares = [Fraction(one, max(1, sum(sitting))) for one in sitting]
            if answered[0] < passes:
                largest = max(largest, shares[0])
            if answered[-1] < passes:
                smallest = min(smallest, shares[-1])
    return largest > smallest


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
def test_a_bet_is_placed_just_where_the_leader_cannot_be_favored(groups: int, passes: int) -> None:
    policy = MembersElimination(bounded=True)
    found = set()
    for members in product((0, 1, 4), *[(0, 3)] * (groups - 2), range(12)):
        for soon in product((0, 2), repeat=groups):
            state = policy.start(groups, 100)
            state = policy.met(state, [*members, *soon, *[7] * groups])
            state.leader[0] = 0
            in_order = members_in_order(state, groups - 1, passes)
            assert in_order is not favored(members, soon, passes)
            found.add(in_order)
    assert found == {False, True}


def test_a_judge_without_a_group_who_begins_in_a_round_can_favor_the_leader() -> None:
    """Theorem 5 assumes that their number stays the same; a policy is not told of them."""
    policy = MembersElimination(bounded=True)
    state = policy.met(policy.start(2, 100), [10, 12])
    state.leader[0] = 0
    assert members_in_order(state, 1, 1)
    others = Fraction(12, 22 + 1)  # of the other group, once the leader's candidate has joined
    assert Fraction(10, 22) < others
    assert Fraction(10, 22) > Fraction(12, 22 + 1 + 4)  # four judges without a group have begun


@pytest.mark.parametrize("seed", range(8))
def test_the_twin_agrees_whoever_is_on_their_way(seed: int) -> None:
    """Told numbers are random: of whom nobody ever hears again, and who join out of nowhere."""
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(2, 5))
    live = Live(MembersElimination(bounded=True), arms, 10**4)
    twin = NaiveTwin(arms, 10**4, bounded=True)
    members = rng.integers(1, 40, arms)
    for _ in range(2_000):
        if live.awaits_judges:
            members += rng.integers(0, 3, arms)
            told = [members.tolist(), *rng.integers(0, 3, (2, arms)).tolist()]
            live.meet(*told)
            twin.meet([one for row in told for one in row])
        arm, score = live.ask(), float(rng.integers(2))
        assert arm == twin.select(rng)
        live.tell(arm, score)
        twin.update(arm, score)
    assert set(live.candidates()) == twin.candidates()


@pytest.mark.parametrize("wrong", [[1], [1, -1], [0.5, 1], 3])
@pytest.mark.parametrize("name", ["judges", "soon", "later"])
def test_counts_that_cannot_be_are_refused_by_name(name: str, wrong: object) -> None:
    live = Live(MembersElimination(bounded=True), 2, 100)
    with pytest.raises(InvalidInput, match=name):
        live.meet(**{"judges": [1, 2], name: wrong})  # type: ignore[arg-type]
    live.meet([1, 2], later=[0, 3])


MEMBERS = Case(2, "bernoulli", "step", "members", "even", "leader's", 1, begin="beginning")
PANEL = Case(2, "bernoulli", "ramp", "panel", "favoring", "1 in 10", 1_000, leave=True)
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


@pytest.mark.slow
def test_people_who_begin_later_cost_little_more() -> None:
    """Untold it is more than twice as much. A mean of 100 runs has a standard error of 36."""
    at_once = choices(0, runs=100).mean()
    assert choices(300, runs=100).mean() <= 1.6 * at_once
    assert choices(150, runs=20, tell=False).mean() > 3.0 * at_once


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


@dataclass(frozen=True)
class Unguarded(PanelElimination):
    """The policy, but it bets against whoever has fewer seats than the leader as well."""

    def kernels(self) -> RoundKernels:
        return super().kernels()._replace(absorb=bind(self.absorb, go_on=stay))


def wrong(policy: type[PanelElimination], world: AffinityBandit) -> int:
    """In how many runs the best group was dropped."""
    told = policy(bounded=True, failure=LEVEL)
    result = simulate(world, told, 3000, RUNS, progress=False)
    return round(result.summary()[0].wrong_arm[0] * RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_a_panel_of_the_leaders_own_does_not_get_the_best_dropped(world: AffinityBandit) -> None:
    assert wrong(PanelElimination, world) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: str(world.true_means))
def test_without_the_guard_it_does(world: AffinityBandit) -> None:
    """The control: what the test above would find, if the policy bet on."""
    assert wrong(Unguarded, world) > 2 * MOST


@pytest.mark.parametrize("shortest", [1, 3])
def test_a_round_has_no_more_passes_than_keep_all_in_order_if_any_number_does(
    shortest: int,
) -> None:
    """Of two groups, the other needs one member more than the leader for each pass.

    Twenty passes are usual with so many members. If not even the shortest round is in order, the
    round is as long as usual, and the leader is not bet on.
    """
    policy = MembersElimination(bounded=True, failure=FAILURE)
    state = policy.start(2, 10_000)._replace(shortest=shortest)
    state.leader[0], state.passes[0] = 0, 1_000
    for lead in range(-1, 25):
        state.judges[:] = 400, 400 + lead
        usual = usual_passes(state)
        assert usual == (20 if lead >= 0 else 19)
        fits = shortest <= lead <= usual
        assert passes_among_members(state) == (lead if fits else usual)
        assert members_in_order(state, 1, passes_among_members(state)) == (lead >= shortest)
