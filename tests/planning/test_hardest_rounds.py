"""No admitted bias is worse than the hardest worlds, round by round, and a run is the same twice.

What follows for whole comparisons is attacked in `test_certificates.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits.kernels.kernel import bind
from affinity_bandits.model.bias import Bias
from affinity_bandits.planning import Assumptions, hard_worlds
from affinity_bandits.planning.hardest_rounds import (
    NEVER,
    Ends,
    Start,
    draw_scores,
    hardest_rounds,
    new_scratch,
)
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.runs import run_hardest
from affinity_bandits.planning.worlds import (
    WorldLimits,
    largest_weight,
    smallest_lead,
    smallest_weight,
)
from affinity_bandits.policies import Round
from research.admitted import harmful_biases, random_bias

from .assumed import SMALL, outcome_in

ROUNDING = 1e-9
Rounds = list[tuple[list[int], int]]


@st.composite
def assumed(draw: st.DrawFn) -> Assumptions:
    difference = draw(st.floats(0.02, 0.6))
    noise = draw(st.sampled_from(["bounded", "gaussian"]))
    return Assumptions(
        groups=draw(st.integers(2, 5)),
        horizon=10**6,
        smallest_difference=difference,
        initial_lead=draw(st.integers(0, 60)),
        steepness=draw(st.sampled_from([0.0, 0.2, 0.9, 1.0, 2.5, 8.0])),
        lipschitz=draw(st.sampled_from([None, None, 0.3, 2.0, 10.0])),
        bonus=draw(st.sampled_from([None, None, 0.1, 0.5, 3.0])),
        noise=noise,
        largest_mean=draw(st.floats(difference, 1.0)) if noise == "bounded" else 1.0,
    )


def drawn_bias(given: Assumptions, level: float, seed: int) -> Bias:
    """One of the biases inside the assumptions: shaped to do harm, or random."""
    random = np.random.default_rng(seed)
    if seed % 3 == 0:
        return random.choice(np.array(harmful_biases(given, level), dtype=object))
    return random_bias(random, given, level)


@pytest.mark.slow
@settings(max_examples=80)
@given(
    given=assumed(),
    part=st.floats(0.0, 1.0),
    seed=st.integers(0, 10**6),
    shares=st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=8),
)
def test_weights_of_admitted_biases_lie_between_the_limits(
    given: Assumptions, part: float, seed: int, shares: list[float]
) -> None:
    level = given.smallest_difference + part * (given.best_mean - given.smallest_difference)
    bias = drawn_bias(given, level, seed)
    fair = bias.weight(1.0 / given.groups)
    assert fair == pytest.approx(1.0, abs=ROUNDING)
    world = hard_worlds(given)[0].world
    for share in shares:
        weight = bias.weight(share)
        assert weight >= smallest_weight(world, share) - ROUNDING
        assert weight <= largest_weight(world, share) + ROUNDING
    for low, high in zip(sorted(shares), sorted(shares)[1:], strict=False):
        lead = level * bias.weight(low) - (level - given.smallest_difference) * bias.weight(high)
        least, at = smallest_lead(world, bias.weight(low), high / low, high - low)
        assert lead >= least - ROUNDING
        assert given.smallest_difference - ROUNDING <= at <= given.best_mean + ROUNDING


@pytest.mark.parametrize("steepness", [0.5, 1.0, 3.0])
def test_the_limits_of_weights_are_reached(steepness: float) -> None:
    """So they could not be tighter: by x**s, below equal shares and beyond."""
    given = Assumptions(3, 1000, 0.1, steepness=steepness, noise="gaussian")
    world = hard_worlds(given)[0].world
    bias = harmful_biases(given, 1.0)[0]
    for share in (1e-4, 0.1, 0.3):
        assert smallest_weight(world, share) == pytest.approx(bias.weight(share))
    for share in (0.34, 0.6, 1.0):
        assert largest_weight(world, share) == pytest.approx(bias.weight(share))


@pytest.mark.slow
@settings(max_examples=80)
@given(
    largest=st.floats(0.05, 1.0),
    part=st.floats(0.01, 1.0),
    weight=st.floats(0.01, 3.0),
    ratio=st.floats(1.0, 20.0),
)
def test_the_smallest_lead_is_that_of_the_worst_level(
    largest: float, part: float, weight: float, ratio: float
) -> None:
    """Against plain search over levels: never above it, and no further below than its step."""
    d = part * largest
    world = hard_worlds(Assumptions(2, 1000, d, largest_mean=largest, steepness=1.0))[0].world
    levels = np.linspace(d, min(largest, 1.0 / weight), 4001)
    if levels[-1] < d:
        return  # no level allows so large a weight
    leads = levels * weight - (levels - d) * np.minimum(weight * ratio, 1.0 / levels)
    step = (levels[-1] - d) / 4000
    least, _ = smallest_lead(world, weight, ratio, 1.0)
    assert least <= leads.min() + ROUNDING
    assert least >= leads.min() - (weight * ratio + d / levels[0] ** 2) * step - ROUNDING


def hard_sums(
    world: WorldLimits, initial: list[int], rounds: Rounds, told: list[list[int]] | None = None
) -> list[np.ndarray]:
    """What the groups of each round return in a hardest world; `told` gets who judges each."""
    found: list[np.ndarray] = []

    def plan(_: Any) -> Round:
        arms, repetitions = rounds[len(found)]
        return Round(np.array(arms), repetitions)

    def absorb(_: Any, sums: np.ndarray) -> None:
        found.append(sums.copy())

    def candidate(_: Any, __: int) -> bool:
        return True

    def meet(_: Any, members: np.ndarray) -> None:
        if told is not None:
            told.append(members.tolist())

    kernel = bind(
        hardest_rounds,
        # The stream of compiled code cannot be read here.
        draw_scores=bind(draw_scores, next_normal=lambda _: 0.0),
        plan=plan,
        absorb=absorb,
        candidate=candidate,
        meet=meet,
    )
    counts, numbers = np.zeros(1, dtype=np.int64), np.zeros(1)
    out = np.zeros((1, len(initial)), dtype=np.int64)
    kernel(
        world._replace(sigma=1.0),  # Gaussian: scores are not cut to their range
        np.array(initial),
        Start(None, counts, counts.copy(), numbers, numbers.copy()),
        np.zeros(0),
        new_scratch(len(initial), 1),
        np.array([1, 2], dtype=np.uint64),
        0,
        sum(len(arms) * repetitions for arms, repetitions in rounds),
        Ends(*np.full((2, 1), NEVER, dtype=np.int64), out),
    )
    return found


@pytest.mark.parametrize("later", [0, 1, 7, 40])
def test_those_chosen_judge_so_many_choices_later(later: int) -> None:
    """At least so many, and at most an eighth and a round more; all in the end."""
    world = hard_worlds(replace(SMALL, begin_after=later))[0].world
    told: list[list[int]] = []
    hard_sums(world, [5, 3], [([0, 1], 1)] * 60, told)
    for number, members in enumerate(told):
        clock = 2 * number
        most = max(0, clock - later) // 2
        fewest = max(0, clock - later - later // 8 - 3) // 2 if later else most
        assert fewest <= members[0] - 5 <= most
        assert fewest <= members[1] - 3 <= most


@pytest.mark.parametrize("later", [0, 1, 7, 40])
def test_a_policy_is_told_all_who_were_chosen(later: int) -> None:
    """Those who judge, those who may begin in the round (nobody), and those who begin later."""
    world = hard_worlds(replace(SMALL, begin_after=later))[0].world
    told: list[list[int]] = []
    rounds: Rounds = [([0, 1], 2), ([1], 5)] * 20
    hard_sums(world, [5, 3], rounds, told)
    assert len(told) == len(rounds)
    chosen, waited = [5, 3], 0
    for numbers, (arms, repetitions) in zip(told, rounds, strict=True):
        members, soon, coming = numbers[:2], numbers[2:4], numbers[4:]
        assert soon == [0, 0]
        assert [sum(both) for both in zip(members, coming, strict=True)] == chosen
        waited += sum(coming)
        for arm in arms:
            chosen[arm] += repetitions
    assert (waited > 0) == (later > 0)


@pytest.mark.parametrize(("gift", "rounds_with"), [(0, [0]), (4, []), (6, [2]), (7, [])])
def test_a_gift_ends_with_the_first_round_without_the_best_group(
    gift: int, rounds_with: list[int]
) -> None:
    """The rounds begin after 0, 4, 6, 8 and 9 choices; the second and the fourth leave it out."""
    plain = hard_worlds(SMALL)[0].world
    assert plain.best == 1
    best, other = [1], [0]
    rounds: Rounds = [([0, 1], 2), (other, 2), ([0, 1], 1), (other, 1), (best, 2)]
    usual = hard_sums(plain._replace(gift=-1), [5, 3], rounds)
    found = hard_sums(plain._replace(gift=gift), [5, 3], rounds)
    both = zip(found, usual, strict=True)
    assert [place for place, (one, two) in enumerate(both) if (one != two).any()] == rounds_with


@pytest.mark.parametrize(("limit", "points"), [("favor_gap", 0.2 * 0.75), ("strictness", 0.2)])
def test_judges_who_differ_take_points_from_the_lead(limit: str, points: float) -> None:
    """A favor counts with the rival's share, which is 3/4 here; strictness counts whole."""
    world = hard_worlds(SMALL)[0].world._replace(largest_mean=0.6, begin_after=1000)
    (usual,) = hard_sums(world, [3, 1], [([0, 1], 10)])
    (sums,) = hard_sums(world._replace(**{limit: 0.2}), [3, 1], [([0, 1], 10)])
    assert sums[1] == pytest.approx(usual[1])
    assert sums[0] - usual[0] == pytest.approx(10 * points)


def true_sums(
    bias: Bias, scores: list[float], initial: list[int], rounds: Rounds
) -> list[np.ndarray]:
    """The means of what they return, choice by choice."""
    members, found = [float(one) for one in initial], []
    for arms, repetitions in rounds:
        sums = np.zeros(len(arms))
        for _ in range(repetitions):
            for position, arm in enumerate(arms):
                sums[position] += scores[arm] * bias.weight(members[arm] / sum(members))
                members[arm] += 1.0
        found.append(sums)
    return found


def leads_kept(
    random: np.random.Generator,
    given: Assumptions,
    plant: Callable[[WorldLimits], WorldLimits] | None = None,
) -> bool:
    """Whether the best group leads by at least what it does in the hardest worlds, every round.

    Four rounds of random groups and lengths, as after a catching-up; the level and the bias are
    random, too.
    """
    groups, smallest, worlds = given.groups, given.smallest_difference, hard_worlds(given)
    initial = list(worlds[random.integers(len(worlds))].initial)
    level = float(random.uniform(smallest, given.best_mean))
    bias = drawn_bias(given, level, int(random.integers(10**6)))
    rounds: Rounds = []
    for _ in range(4):
        rivals = [arm for arm in range(groups - 1) if random.random() < 0.7] or [0]
        everyone = [*rivals, groups - 1] if random.random() < 0.8 else rivals
        rounds.append((everyone, int(random.integers(1, 30))))
    true = true_sums(bias, [level - smallest] * (groups - 1) + [level], initial, rounds)
    chosen = [one.world for one in worlds if list(one.initial) == initial]
    hard = [hard_sums(plant(one) if plant else one, initial, rounds) for one in chosen]
    assert hard
    for place, (arms, repetitions) in enumerate(rounds):
        if arms[-1] != groups - 1:
            continue
        for position in range(len(arms) - 1):
            lead = true[place][-1] - true[place][position]
            hardest = min(sums[place][-1] - sums[place][position] for sums in hard)
            if lead < hardest - ROUNDING * repetitions:
                return False
    return True


@pytest.mark.slow
@settings(max_examples=80)
@given(given=assumed(), seed=st.integers(0, 10**6))
def test_in_every_round_every_admitted_bias_leaves_at_least_the_hardest_lead(
    given: Assumptions, seed: int
) -> None:
    assert leads_kept(np.random.default_rng(seed), given)


PLANTED: dict[str, Callable[[WorldLimits], WorldLimits]] = {
    "steepness-ignored": lambda world: world._replace(steepness=0.0),
    "steepness-halved": lambda world: world._replace(steepness=0.5 * world.steepness),
    "pass-ignored": lambda world: world._replace(slack=0),
    "slope-halved": lambda world: world._replace(lipschitz=0.5 * world.lipschitz),
    "bonus-halved": lambda world: world._replace(strength=0.5 * (1.0 + world.strength)),
}


@pytest.mark.nightly_but("steepness-halved", "pass-ignored", "bonus-halved")
@pytest.mark.slow
@pytest.mark.parametrize("error", PLANTED)
def test_worlds_that_are_too_mild_are_caught(error: str) -> None:
    """The negative control: the same attack, on worlds with a planted error, soon succeeds."""
    limit = 1.0 if error == "slope-halved" else None
    bonus = 0.3 if error == "bonus-halved" else None
    # A narrow range of levels: random ones are then close to the hardest.
    given = Assumptions(
        *(3, 10**6, 0.1),
        initial_lead=30,
        bonus=bonus,
        steepness=2.5,
        lipschitz=limit,
        largest_mean=0.11,
    )
    refused = (
        seed
        for seed in range(150)
        if not leads_kept(np.random.default_rng(seed), given, PLANTED[error])
    )
    caught = list(islice(refused, 3))
    assert caught
    assert all(leads_kept(np.random.default_rng(seed), given) for seed in caught)


def test_of_a_known_committee_every_group_that_makes_a_difference_is_the_best_once() -> None:
    given = Assumptions(4, 1000, 0.2, committee=[30, 10, 10, 0])
    worlds = hard_worlds(given)
    assert {hard.initial for hard in worlds} == {(30, 10, 10, 0)}
    assert [hard.world.best for hard in worlds] == [3, 2, 0]
    assert str(worlds[1]) == "the best group has 10 of 50 members"


@pytest.mark.parametrize(
    ("judges", "difference"), [("panel", 0.2), ("recused", 0.2 / 1.25)], ids=str
)
def test_where_shares_do_not_change_the_lead_is_what_the_bonus_leaves(
    judges: str, difference: float
) -> None:
    given = Assumptions(3, 1000, 0.2, committee=[30, 10, 10], bonus=0.25, judges=judges)
    (hard,) = hard_worlds(given)
    rounds: Rounds = [([0, 1, 2], 7), ([0, 2], 3), ([0, 1, 2], 100)]
    for (arms, repetitions), sums in zip(
        rounds, hard_sums(hard.world, list(hard.initial), rounds), strict=True
    ):
        leads = sums[-1] - sums[:-1]
        assert leads == pytest.approx([repetitions * difference] * (len(arms) - 1))


def test_what_few_join_costs_choices() -> None:
    given = Assumptions(2, 10**5, 0.3, committee=[20, 5], bonus=0.2)
    spent = []
    for joining in (1.0, 0.3, 0.1):
        some = replace(given, joining=joining)
        (hard, _) = hard_worlds(some)
        spent.append(outcome_in(hard, policy_for(some), 10**5, 100, seed=1).choices)
    assert spent[0] < spent[1] < spent[2]


@pytest.mark.parametrize(("groups", "in_flight", "slack"), [(2, 1, 1), (4, 1, 3), (2, 9, 9)])
def test_what_is_in_flight_lets_the_committee_differ(
    groups: int, in_flight: int, slack: int
) -> None:
    given = Assumptions(groups, 1000, 0.2, in_flight=in_flight)
    assert {hard.world.slack for hard in hard_worlds(given)} == {slack}


def test_what_a_smaller_horizon_gives_can_be_read_off_longer_runs() -> None:
    """To the run: the policy is not told the horizon. What groups got is that of longer runs."""
    hard, policy = hard_worlds(SMALL)[0], policy_for(SMALL)
    long = run_hardest(hard, policy, 1000, 200, seed=7)
    for horizon in (40, 90, 1000):
        short = outcome_in(hard, policy, horizon, 200, seed=7)
        found = long.within(horizon)
        parts = {"per_group": short.per_group, "per_group_95": short.per_group_95}
        assert replace(found, **parts) == short
        share = (short.replicates - short.undecided) / short.replicates
        assert (
            long.count_needed(share) <= horizon < long.count_needed(min(1.0, share + 0.01))
            or share == 1.0
        )
    assert 0 < long.within(90).undecided < 200
    assert run_hardest(hard, policy, 4, 10, seed=7).count_needed(0.1) == NEVER
