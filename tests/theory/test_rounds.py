"""Rounds of Algorithm 1 on paper: their lengths, mean weights, and who can still be active."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import AffinityBandit, Clipped, Constant, Custom, Plateau, Power
from affinity_bandits.model.bias import Bias
from affinity_bandits.policies import FOREVER, Elimination, ListedSchedule, PublishedSchedule
from affinity_bandits.theory import (
    active_sets,
    mean_weight,
    round_lengths,
    rounds_that_fit,
)
from tests.support.instances import bandits
from tests.theory.bounds.test_upper import nested_sets


def literal_mean(
    bandit: AffinityBandit, i: int, sets: list[list[int]], m: list[int], extra: int = 1
) -> float:
    """fbar_i(r | A_1, ..., A_r), term by term, with arms counted from 0."""
    T0 = [pulls + extra for pulls in bandit.initial_pulls or ()]
    r = len(sets)
    b_i = sum(1 for j in sets[-1] if j < i)
    shares = [
        (T0[i] + sum(m[: r - 1]) + (ell - 1))
        / (
            sum(T0)
            + sum(len(A) * length for A, length in zip(sets[:-1], m[:-1], strict=True))
            + len(sets[-1]) * (ell - 1)
            + b_i
        )
        for ell in range(1, m[-1] + 1)
    ]
    return math.fsum(bandit.bias.weight(share) for share in shares) / m[-1]


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(data=st.data(), bandit=bandits(memory=False, most_arms=6))
def test_mean_weights_agree_with_a_loop_over_pulls(
    data: st.DataObject, bandit: AffinityBandit
) -> None:
    sets = data.draw(nested_sets(bandit.arms))
    lengths = data.draw(st.lists(st.integers(1, 400), min_size=len(sets), max_size=len(sets)))
    arm = data.draw(st.sampled_from(sets[-1]))
    discard = data.draw(st.booleans())
    found = mean_weight(bandit, arm, sets, lengths, discard_first=discard)
    # 1e-9 is what `round_sums` promises.
    assert found == pytest.approx(literal_mean(bandit, arm, sets, lengths, int(discard)), rel=1e-8)


@pytest.mark.parametrize("power", [1, 2])
def test_beyond_counting_the_mean_weight_is_the_integrals(power: int) -> None:
    """With a, b, k, m so large that the sum is the integral, which powers have in closed form."""
    bandit = AffinityBandit([0.4, 0.6, 0.7], bias=Power(float(power)), initial_pulls=[5, 7, 9])
    for exponent in (50, 52, 53, 54, 55, 60, 100, 900):
        m = 2**exponent
        found = mean_weight(bandit, 2, [[0, 1, 2], [1, 2]], [m, 4 * m])
        # Shares (1 + x) / (3 + 2 x) for x in [0, 4]: 1/2 - (1/2) / (3 + 2 x).
        logarithm = math.log(11 / 3)
        mean = 0.5 - logarithm / 16
        square = 0.25 - logarithm / 16 + (1 / 3 - 1 / 11) / 32
        assert found == pytest.approx({1: mean, 2: square}[power], rel=1e-12)


@pytest.mark.parametrize(
    "bias",
    [
        Power(3.0),
        Clipped(Power(1.0), low=0.2, high=0.4),
        Plateau(4, 0.7),
        Custom(lambda x: max(0.1, x - 0.2), 1.0),
    ],
)
def test_mean_weights_are_continuous_where_the_method_changes(bias: Bias) -> None:
    bandit = AffinityBandit([0.4, 0.6, 0.7, 0.8], bias=bias, initial_pulls=[3, 7, 400, 9])
    sets = [[0, 1, 2, 3], [0, 2]]
    for arm in (0, 2):
        exact = mean_weight(bandit, arm, sets, [2**48, 2**50])
        coarse = mean_weight(bandit, arm, sets, [2**48, 2**50 + 1])
        assert coarse == pytest.approx(exact, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(bandit=bandits(), horizon=st.integers(1, 10**15), offset=st.floats(-3, 8))
def test_round_lengths_are_the_policys(bandit: AffinityBandit, horizon: int, offset: float) -> None:
    schedule = PublishedSchedule(offset)
    lengths = round_lengths(bandit, horizon, schedule)
    state = Elimination(schedule).start(bandit.arms, horizon)
    assert list(lengths) == state.repetitions[1:].tolist()
    assert round_lengths(bandit, horizon, schedule, rounds=3) == tuple(
        schedule.repetitions(r, bandit.arms, horizon) for r in (1, 2, 3)
    )
    assert (
        round_lengths(bandit, log_horizon=math.log(horizon), schedule=schedule)[:2] == lengths[:2]
    )


def test_round_lengths_go_on_where_the_policys_stop() -> None:
    bandit = AffinityBandit([0.4, 0.6])
    schedule = PublishedSchedule()
    lengths = round_lengths(bandit, 10**300, rounds=600)
    assert schedule.repetitions(30, 2, 10**300) == FOREVER < lengths[29]
    for r in (30, 148, 149, 400, 600):
        # 2**5 log(12/pi**2 2**2 r**2 10**300) as a logarithm: the length itself is too large.
        expected = (2 * r + 5) * math.log(2) + math.log(
            math.log(48 / math.pi**2 * r**2) + 300 * math.log(10)
        )
        assert math.log(lengths[r - 1]) == pytest.approx(expected, rel=1e-14)
    assert all(4 * a < b for a, b in itertools.pairwise(lengths))


def test_rounds_that_fit_are_those_that_end_within_the_horizon() -> None:
    for arms, horizon, active in [(2, 10**6, None), (5, 10**7, 2), (3, 10**4, 3), (4, 5, None)]:
        used, rounds = arms, 0
        while True:
            length = math.ceil(
                2 ** (2 * (rounds + 1) + 5)
                * math.log(12 / math.pi**2 * arms**2 * (rounds + 1) ** 2 * horizon)
            )
            used += (active or arms) * length
            if used > horizon:
                break
            rounds += 1
        assert rounds_that_fit(arms, horizon, active=active) == rounds
        assert rounds_that_fit(arms, log_horizon=math.log(horizon), active=active) == rounds


def test_rounds_that_fit_count_the_discarded_pulls() -> None:
    once = ListedSchedule([(5, 0.1)])
    assert rounds_that_fit(2, 20, once) == 1
    assert rounds_that_fit(2, 20, once, discard_first=False) == 2
    assert rounds_that_fit(2, 10**9, once) == 1000  # where counting stops
    assert rounds_that_fit(3, 10**300) > 400


def literal_sets(bandit: AffinityBandit, schedule: PublishedSchedule, n: int, rounds: int):  # type: ignore[no-untyped-def]
    U, m, floors = [list(range(bandit.arms))], [], []
    for r in range(1, rounds + 1):
        m.append(schedule.repetitions(r, bandit.arms, n))
        floors.append({i: literal_mean(bandit, i, U, m) for i in U[-1]})
        U.append([i for i in U[-1] if bandit.gaps[i] * floors[-1][i] <= 2 ** (-r + 1)])
    return U, floors


def test_active_sets_agree_with_the_definition_typed_in_again() -> None:
    schedule = PublishedSchedule(-5.0)
    bandit = AffinityBandit(
        [0.1, 0.9, 0.5, 0.9, 0.75], bias=Power(1.0), initial_pulls=[9, 1, 2, 3, 4]
    )
    found = active_sets(bandit, 1000, schedule)
    rounds = len(found.lengths)
    U, floors = literal_sets(bandit, schedule, 1000, rounds)
    assert [list(s) for s in found.sets] == U
    for r in range(rounds):
        for arm in range(bandit.arms):
            if arm in U[r]:
                assert found.weights[r, arm] == pytest.approx(floors[r][arm], rel=1e-9)
            else:
                assert math.isnan(found.weights[r, arm])
    for arm, last in enumerate(found.last_rounds):
        if bandit.gaps[arm] == 0.0:
            assert last is None
        else:
            assert last == min(r for r in range(1, rounds + 1) if arm not in U[r])
    assert found.sets[-1] == (1, 3)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(data=st.data(), bandit=bandits(memory=False, most_arms=5))
def test_the_properties_of_active_sets(data: st.DataObject, bandit: AffinityBandit) -> None:
    """Lemma C.3: optimal arms stay; fewer rivals mean larger weights."""
    found = active_sets(bandit, data.draw(st.integers(1, 10**12)), PublishedSchedule(0.0))
    assert found.sets[0] == tuple(range(bandit.arms))
    for members, after in itertools.pairwise(found.sets):
        assert set(bandit.best_arms) <= set(after) <= set(members)
    if not found.lengths:
        return
    r = data.draw(st.integers(1, min(6, len(found.lengths))))
    smaller: list[list[int]] = []
    for members in found.sets[:r]:
        allowed = sorted(set(members) & set(smaller[-1] if smaller else members))
        keep = data.draw(st.sets(st.sampled_from(allowed)))
        smaller.append(sorted(keep | set(bandit.best_arms)))
    arm = data.draw(st.sampled_from(smaller[-1]))
    # Rounding of two sums of weights.
    floor = found.weights[r - 1, arm]
    assert floor <= mean_weight(bandit, arm, smaller, found.lengths[:r]) * (1 + 1e-8)


@settings(max_examples=30, deadline=None)
@given(bandit=bandits(memory=False, most_arms=5), log_n=st.floats(0, 700))
def test_arms_leave_by_their_own_rule(bandit: AffinityBandit, log_n: float) -> None:
    found = active_sets(bandit, log_horizon=log_n)
    for arm, last in enumerate(found.last_rounds):
        if last is not None:
            assert bandit.gaps[arm] * found.weights[last - 1, arm] > 2.0 ** (1 - last)
            if last > 1:
                assert bandit.gaps[arm] * found.weights[last - 2, arm] <= 2.0 ** (2 - last)
        if last == 1:
            assert bandit.bias.bounds[1] > 1.0


def test_mean_weights_of_a_dominating_arm_fall_from_round_to_round() -> None:
    """The end of the proof of the worst-case bound has them rise, which is not so."""
    found = active_sets(AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10]), 10**6)
    assert np.all(np.diff(found.weights[:, 0]) < 0.0)


def test_the_discarded_pull_counts_for_the_committee() -> None:
    one_more = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[101, 11])
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    with_it = active_sets(bandit, 10**6)
    without = active_sets(one_more, 10**6, discard_first=False)
    assert with_it.last_rounds == without.last_rounds
    np.testing.assert_array_equal(with_it.weights, without.weights)


def test_arms_that_look_alike_never_leave() -> None:
    flat = AffinityBandit([0.9, 0.1], bias=Constant(0.0))
    assert active_sets(flat, 1000).last_rounds == (None, None)
    equal = active_sets(AffinityBandit([0.5, 0.5]), 1000)
    assert equal.sets == ((0, 1),)
    assert equal.weights.shape == (0, 2)


def test_tiny_gaps_and_huge_horizons_stay_finite() -> None:
    bandit = AffinityBandit([1e-40, 0.0], bias=Power(2.0), initial_pulls=[1000, 1])
    found = active_sets(bandit, 10**300)
    # Delta / 4 > 2**(1 - r) from r = 135.9 on.
    assert found.last_rounds == (None, 136)
    assert np.all(np.isfinite(found.weights))
    assert found.weights[-1] == pytest.approx([0.25, 0.25])


def test_a_listed_schedule_has_its_own_thresholds() -> None:
    bandit = AffinityBandit([0.4, 0.6])
    listed = ListedSchedule([(10, 0.5), (20, 0.05)])
    assert active_sets(bandit, 100, listed).last_rounds == (2, None)
