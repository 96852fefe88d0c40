"""Where arms are many, EXP3 draws from a tree and UCB1 searches one: the same choices, sooner."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from affinity_bandits import AffinityBandit, Gaussian, Noise, Power, StepRun
from affinity_bandits.policies import EXP3, EXP3IX, UCB1, EXP3Gains, ucb
from affinity_bandits.policies.exp3 import (
    MANY,
    ExponentialState,
    ExponentialWeights,
    build_tree,
    draw_from_tree,
)
from affinity_bandits.policies.state import counts, reals
from tests.support.instances import compiled_run, naive_run

POLICIES = [
    *(EXP3(), EXP3(rate=0.02), EXP3("anytime"), EXP3IX(), EXP3IX("anytime")),
    *(EXP3Gains(), EXP3Gains(mixing=0.3)),
]


def probabilities(state: ExponentialState) -> np.ndarray:
    """The literal formula."""
    weights = np.exp(state.rate * (state.scores - state.scores.max()))
    found: np.ndarray = (1.0 - state.mixing) * weights / weights.sum()
    return found + state.mixing / len(weights)


@pytest.mark.slow
@pytest.mark.parametrize("arms", [MANY - 1, MANY, MANY + 1, 100])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_tree_chooses_as_the_literal_formula(policy: ExponentialWeights, arms: int) -> None:
    """Sums in another order differ by 1e-16 of them, which 2,000 choices do not meet."""
    bandit = AffinityBandit(np.linspace(0.2, 0.9, arms).tolist(), bias=Power(1.0))
    expected, _ = naive_run(bandit, policy, 2_000, 4, 1)
    assert compiled_run(bandit, policy, 2_000, 4, 1)[0] == expected


@pytest.mark.parametrize("mixing", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("arms", [33, 64, 1_000])
def test_every_arm_has_its_part_of_the_uniform_numbers(arms: int, mixing: float) -> None:
    """Numbers evenly spaced in [0, 1) fall into an arm's interval as often as it is long.

    The count of an interval of length p differs from p n by less than 1, or 2 with rounding.
    """
    rng = np.random.default_rng(1)
    size = 1 << (arms - 1).bit_length()
    state = ExponentialState(
        *(0.7, mixing, 0.0, False, counts(1, 1), rng.normal(size=arms)),
        *(reals(1), reals(2 * size), reals(1)),
    )
    build_tree(state)
    expected = probabilities(state)
    numbers = 20_000
    fallen = np.zeros(arms)
    for place in range(numbers):
        arm = draw_from_tree(state, (place + 0.5) / numbers)
        fallen[arm] += 1
        assert state.probabilities[0] == pytest.approx(expected[arm], rel=1e-12)
    assert np.abs(fallen - numbers * expected).max() < 2.0


@pytest.mark.parametrize(
    ("policy", "usual", "renewed"), [(EXP3(rate=3.0), 0.0, 20), (EXP3Gains(mixing=0.9), 1.0, 1)]
)
def test_the_tree_stays_that_of_the_scores_when_weights_grow_and_shrink(
    policy: ExponentialWeights, usual: float, renewed: int
) -> None:
    """All arms lose, or gain, in every second phase, until the sum leaves the range of reals."""
    arms = 40
    state = policy.start(arms, 1_000)
    rng = np.random.default_rng(2)
    references = set()
    for step in range(20_000):
        arm = policy.select(state, rng)
        policy.update(state, arm, usual if step // 1_000 % 2 == 0 else float(arm < arms // 2))
        references.add(float(state.reference[0]))
    leaves = state.tree[len(state.tree) // 2 :][:arms]
    np.testing.assert_allclose(
        (1.0 - state.mixing) * leaves / state.tree[1] + state.mixing / arms,
        probabilities(state),
        rtol=1e-9,
        atol=1e-250,
    )
    assert len(references) > renewed


def test_arms_that_cannot_be_drawn_are_not() -> None:
    """The largest number below 1 leads to the last arm of positive probability."""
    arms = 50
    state = ExponentialState(
        *(1.0, 0.0, 0.0, False, counts(1, 1), reals(arms, -1e6)), reals(1), reals(128), reals(1)
    )
    state.scores[7] = 0.0
    build_tree(state)
    for number in (0.0, 0.5, float(np.nextafter(1.0, 0.0)), 1.0):
        assert draw_from_tree(state, number) == 7
        assert state.probabilities[0] == 1.0


@pytest.mark.slow
def test_choices_of_many_arms_have_the_law_of_the_formula() -> None:
    """After 500 choices, the next arm of 400 runs, by the probabilities of each run.

    The probability integral transform of a choice, spread evenly over its interval, is uniform.
    Kolmogorov and Smirnov's test of 400 numbers sees a shift of 0.1 with a power of 98%; its
    threshold of 1e-4 is met by chance once in 10,000 seeds, and the seeds are fixed.
    """
    arms = 60
    bandit = AffinityBandit(np.linspace(0.1, 0.9, arms).tolist(), bias=Power(1.0))
    spread = np.random.default_rng(3)
    run = StepRun(bandit, EXP3(rate=0.05), 501)
    numbers = []
    for replicate in range(400):
        run.restart(replicate)
        run.advance(500)
        before, chances = run.pulls, probabilities(run.state)
        run.advance(501)
        arm = int(np.argmax(run.pulls - before))
        numbers.append(chances[:arm].sum() + spread.random() * chances[arm])
    assert stats.kstest(numbers, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("noise", [None, Gaussian(1.0)], ids=["coins", "normal"])
@pytest.mark.parametrize("exploration", [0.0, 0.05, 2.0])
@pytest.mark.parametrize("arms", [ucb.MANY - 1, ucb.MANY, ucb.MANY + 1, 300])
def test_a_search_chooses_as_a_look_at_all_arms(
    arms: int, exploration: float, noise: Noise | None
) -> None:
    """Coins make hundreds of equal indices at first, of which the first arm is chosen."""
    bandit = AffinityBandit(
        np.linspace(0.2, 0.9, arms).tolist(),
        bias=Power(1.0),
        **({} if noise is None else {"noise": noise}),
    )
    expected, _ = naive_run(bandit, UCB1(exploration), 3_000, 4, 1)
    assert compiled_run(bandit, UCB1(exploration), 3_000, 4, 1)[0] == expected
