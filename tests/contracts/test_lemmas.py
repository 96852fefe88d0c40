"""The model's lemmas hold on every simulated path."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import AffinityBandit, Environment
from affinity_bandits.policies import POLICIES, Elimination, ListedSchedule
from tests.support.instances import bandits, compiled_run, policy_examples


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=10)
@given(data=st.data())
def test_many_arms_have_small_shares_at_every_time(name: str, data: st.DataObject) -> None:
    """Lemma 5.7: at most K / beta arms have a share above beta / K."""
    bandit = data.draw(bandits(memory=False))
    policy = data.draw(st.sampled_from(policy_examples(name, bandit)))
    beta = data.draw(st.fractions(Fraction(101, 100), 8))
    horizon = 200
    arms, _ = compiled_run(bandit, policy, horizon, 0, 0)
    members = list(bandit.initial_pulls or ())
    for arm in arms:
        members[arm] += 1
        total = sum(members)
        # In whole numbers: share <= beta / K iff members K <= beta total.
        small = sum(count * bandit.arms <= beta * total for count in members)
        assert small >= (1 - 1 / beta) * bandit.arms


@st.composite
def elimination_paths(draw: st.DrawFn) -> tuple[AffinityBandit, Elimination, int]:
    bandit = draw(bandits(memory=False, most_arms=8))
    rounds = draw(
        st.lists(st.tuples(st.integers(1, 30), st.floats(0.0, 0.5)), min_size=1, max_size=5)
    )
    return bandit, Elimination(ListedSchedule(rounds)), draw(st.integers(0, 1000))


def played_rounds(bandit: AffinityBandit, policy: Elimination, seed: int, most: int = 6):  # type: ignore[no-untyped-def]
    """Play Algorithm 1 by hand; yield (arms, repetitions, shares[arm][l]) for each real round.

    The pull that is discarded at the beginning belongs to the initial pulls, as in the paper.
    """
    environment = Environment(bandit, seed)
    state = policy.start(bandit.arms, 10**6)
    for number in range(most):
        planned = policy.plan(state)
        if len(planned.arms) == 1:
            return
        shares: dict[int, list[float]] = {int(arm): [] for arm in planned.arms}
        sums = np.zeros(len(planned.arms))
        for _ in range(planned.repetitions):
            for position, arm in enumerate(planned.arms):
                shares[int(arm)].append(environment.shares()[arm])
                sums[position] += environment.pull(int(arm))
        state = policy.absorbed(state, sums)
        if number > 0:
            yield [int(arm) for arm in planned.arms], int(planned.repetitions), shares


@pytest.mark.slow
@settings(max_examples=60)
@given(path=elimination_paths())
def test_shares_decompose_as_in_the_appendix(
    path: tuple[AffinityBandit, Elimination, int],
) -> None:
    """Lemma C.1, exactly: the same quotient of whole numbers at every pull."""
    bandit, policy, seed = path
    initial = [pulls + 1 for pulls in bandit.initial_pulls or ()]
    total = sum(initial)
    own_before, all_before = 0, 0
    for arms, repetitions, shares in played_rounds(bandit, policy, seed):
        for position, arm in enumerate(arms):
            for ell in range(1, repetitions + 1):
                top = initial[arm] + own_before + (ell - 1)
                bottom = total + all_before + len(arms) * (ell - 1) + position
                assert shares[arm][ell - 1] == top / bottom
        own_before += repetitions
        all_before += len(arms) * repetitions


@pytest.mark.slow
@settings(max_examples=60)
@given(path=elimination_paths())
def test_bias_error_stays_below_its_bound(path: tuple[AffinityBandit, Elimination, int]) -> None:
    """Lemma C.7: two active arms' mean weights are this close."""
    bandit, policy, seed = path
    initial = [pulls + 1 for pulls in bandit.initial_pulls or ()]
    imbalance = max(initial) - min(initial)
    before = sum(initial)
    for arms, repetitions, shares in played_rounds(bandit, policy, seed):
        means = [float(np.mean(bandit.bias.weight(np.array(shares[arm])))) for arm in arms]
        size = len(arms)
        bound = (bandit.bias.lipschitz / repetitions) * (
            1.0 + (1.0 + imbalance / size) * math.log(1.0 + size * repetitions / before)
        )
        assert max(means) - min(means) <= bound + 1e-12  # rounding of a mean of weights
        before += size * repetitions
