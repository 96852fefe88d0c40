"""The description of a bandit: defaults, gaps, regret, who leaves a bounded memory, JSON."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    Clipped,
    Constant,
    Custom,
    Gaussian,
    Power,
    Sigmoid,
)
from affinity_bandits.base.errors import InvalidInput
from tests.support.instances import bandits


def halved(share: float) -> float:
    return 0.5 * share


def through_json(bandit: AffinityBandit, **functions: Any) -> AffinityBandit:
    text = json.dumps(bandit.to_json(), allow_nan=False)
    return AffinityBandit.from_json(json.loads(text), functions)


def test_settings_left_out_describe_the_ordinary_bandit() -> None:
    bandit = AffinityBandit([0.4, 0.6])
    assert bandit.bias == Constant(1.0)
    assert bandit.initial_pulls == (1, 1)
    assert bandit.noise == Bernoulli()
    assert bandit.memory is None
    assert (bandit.arms, bandit.total_initial_pulls) == (2, 2)


@pytest.mark.parametrize(("noise", "mechanism"), [("bernoulli", "gated"), ("gaussian", "shifted")])
def test_the_default_mechanism_is_that_of_the_experiments(noise: str, mechanism: str) -> None:
    assert AffinityBandit([0.4], noise=noise).mechanism == mechanism


@pytest.mark.parametrize("mechanism", ["scaled", "shifted"])
def test_weights_above_one_are_fine_where_nothing_is_gated(mechanism: str) -> None:
    assert AffinityBandit([0.4], Constant(2.0), mechanism=mechanism).bias.bounds == (2.0, 2.0)


def test_whatever_can_be_iterated_over_describes_the_arms() -> None:
    expected = AffinityBandit((0.25, 0.5), initial_pulls=(3, 2))
    assert AffinityBandit([0.25, 0.5], initial_pulls=[3.0, 2]) == expected
    assert AffinityBandit(np.array([0.25, 0.5]), initial_pulls=np.array([3, 2])) == expected
    assert AffinityBandit(iter([0.25, 0.5]), initial_pulls=range(3, 1, -1)) == expected
    assert hash(AffinityBandit([0.25, 0.5], initial_pulls=[3, 2])) == hash(expected)


def test_means_of_gaussian_values_may_be_negative() -> None:
    bandit = AffinityBandit([-2.0, -0.5], noise=Gaussian(0.5))
    assert bandit.best_arms == (1,)
    assert bandit.sigma == 0.5


# Gaps and regret.


@pytest.mark.parametrize(
    ("means", "gaps", "best"),
    [
        ([0.5], [0.0], (0,)),
        ([0.25, 0.75], [0.5, 0.0], (1,)),
        ([0.75, 0.25, 0.75], [0.0, 0.5, 0.0], (0, 2)),
        ([0.5, 0.5, 0.5], [0.0, 0.0, 0.0], (0, 1, 2)),
        ([0.0, 0.0], [0.0, 0.0], (0, 1)),
    ],
)
def test_gaps_and_best_arms(means: list[float], gaps: list[float], best: tuple[int, ...]) -> None:
    bandit = AffinityBandit(means)
    assert bandit.gaps.tolist() == gaps
    assert bandit.best_arms == best


def test_means_that_differ_by_one_rounding_are_not_tied() -> None:
    assert AffinityBandit([0.5, np.nextafter(0.5, 1.0)]).best_arms == (1,)


def test_regret_counts_the_gap_of_every_pull() -> None:
    bandit = AffinityBandit([0.75, 0.25, 0.5], bias=Power(2.0), initial_pulls=[1, 100, 1])
    assert bandit.regret([10, 4, 2]) == 4 * 0.5 + 2 * 0.25
    assert bandit.regret([7, 0, 0]) == 0.0


def test_regret_of_an_array_is_taken_over_its_last_axis() -> None:
    bandit = AffinityBandit([0.75, 0.25])
    pulls = np.arange(24).reshape(3, 4, 2)
    assert np.array_equal(bandit.regret(pulls), 0.5 * pulls[:, :, 1])


@pytest.mark.slow
@given(bandits())
def test_gaps_are_never_negative_and_the_best_arms_have_none(bandit: AffinityBandit) -> None:
    assert (bandit.gaps >= 0.0).all()
    assert bandit.best_arms
    largest = max(bandit.true_means)
    for arm, mean in enumerate(bandit.true_means):
        assert (arm in bandit.best_arms) == (mean == largest)


def test_expected_feedback_is_the_mean_times_the_weight() -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Power(2.0))
    assert bandit.expected_feedback(1, 0.5) == 0.6 * 0.25
    assert bandit.expected_feedback(0, 0.0) == 0.0


# Bounded memory.


@pytest.mark.parametrize(
    ("initial", "memory", "order"),
    [
        # Ranks 1/4, 3/4 of group 0 around 1/2 of group 1.
        ([2, 1], 3, [0, 1, 0]),
        ([2, 1], 10, [0, 1, 0]),
        # Ties go by index.
        ([1, 1, 1], 3, [0, 1, 2]),
        ([2, 2], 4, [0, 1, 0, 1]),
        # 1/8, 3/8, 5/8, 7/8 and 1/4, 3/4.
        ([4, 2], 6, [0, 1, 0, 0, 1, 0]),
        # More initial members than memory: who would leave first has left already.
        ([4, 2], 4, [0, 0, 1, 0]),
        ([4, 2], 1, [0]),
        ([1, 1, 1], 2, [1, 2]),
        ([1, 1, 1], 1, [2]),
        # 1/6, 1/2, 5/6 against 1/2: the lower index leaves first.
        ([3, 1], 4, [0, 0, 1, 0]),
        ([1, 3], 4, [1, 0, 1, 1]),
        # A group of one among many leaves halfway, so a short memory has lost it.
        ([8, 1], 4, [0, 0, 0, 0]),
        ([8, 1], 5, [1, 0, 0, 0, 0]),
    ],
)
def test_initial_members_leave_evenly(initial: list[int], memory: int, order: list[int]) -> None:
    bandit = AffinityBandit([0.5] * len(initial), initial_pulls=initial, memory=memory)
    assert bandit.leaving_order().tolist() == order


def test_a_committee_of_millions_of_millions_is_not_laid_out() -> None:
    bandit = AffinityBandit([0.5, 0.5], initial_pulls=[6 * 10**14, 3 * 10**14], memory=6)
    assert bandit.leaving_order().tolist() == [0, 1, 0, 0, 1, 0]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(1, 120))
def test_the_order_is_that_of_exact_ranks(initial: list[int], memory: int) -> None:
    ranked = sorted(
        (Fraction(2 * j + 1, 2 * count), arm)
        for arm, count in enumerate(initial)
        for j in range(count)
    )
    bandit = AffinityBandit([0.5] * len(initial), initial_pulls=initial, memory=memory)
    assert bandit.leaving_order().tolist() == [arm for _, arm in ranked][-memory:]


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.data())
def test_what_is_left_of_the_committee_keeps_its_composition(
    initial: list[int], data: st.DataObject
) -> None:
    total = sum(initial)
    memory = data.draw(st.integers(1, total))
    bandit = AffinityBandit([0.5] * len(initial), initial_pulls=initial, memory=memory)
    left = np.bincount(bandit.leaving_order(), minlength=len(initial))
    assert left.sum() == memory
    # Each group is cut at one common rank and rounded by at most half a member; the common rank
    # is off by what all groups together are rounded by.
    for members, count in zip(left, initial, strict=True):
        assert abs(members - memory * count / total) <= 0.5 + 0.5 * len(initial) * count / total


# Descriptions.


@pytest.mark.parametrize(
    "bandit",
    [
        AffinityBandit([0.4, 0.6]),
        AffinityBandit([0.4, 0.6], bias=Power(1.5), initial_pulls=[100, 10], memory=50),
        AffinityBandit([-1.5, 1e9], bias=Sigmoid(), noise=Gaussian(0.25), mechanism="gated"),
        AffinityBandit([0.1], bias=Clipped(Constant(3.0), high=0.1), mechanism="scaled"),
    ],
)
def test_survives_json(bandit: AffinityBandit) -> None:
    assert through_json(bandit) == bandit


@pytest.mark.slow
@given(bandits())
def test_any_bandit_survives_json(bandit: AffinityBandit) -> None:
    assert through_json(bandit) == bandit


def test_a_function_of_the_user_is_handed_in_again() -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Custom(halved, 0.5, "halved"))
    assert through_json(bandit, halved=halved) == bandit


def test_numbers_of_numpy_become_plain_json() -> None:
    bandit = AffinityBandit(
        np.array([0.4, 0.6], dtype=np.float32),
        bias=Power(np.float64(2.0)),
        initial_pulls=np.array([3, 4], dtype=np.int32),
        noise=Gaussian(np.float32(0.5)),
        memory=np.int64(5),
    )
    assert through_json(bandit) == bandit


def test_noise_may_be_given_by_name_or_as_a_table() -> None:
    assert AffinityBandit([0.4], noise="gaussian").noise == Gaussian(1.0)
    assert AffinityBandit([0.4], noise={"name": "gaussian", "sigma": 0.5}).noise == Gaussian(0.5)


@pytest.mark.parametrize("bias", ["power", {"name": "power"}, {"name": "power", "alpha": 1}])
def test_a_bias_may_be_given_by_name_or_as_a_table(bias: Any) -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=bias)
    assert bandit == AffinityBandit([0.4, 0.6], bias=Power(1.0))
    assert AffinityBandit.from_json({"true_means": [0.4, 0.6], "bias": bias}) == bandit


@pytest.mark.parametrize("means", [{0.4, 0.6}, frozenset({0.4, 0.6}), {0.4: 1}.keys() | {0.6}])
def test_a_set_has_no_order_that_groups_could_have(means: Any) -> None:
    with pytest.raises(InvalidInput, match="true_means must be a list of numbers"):
        AffinityBandit(means)
