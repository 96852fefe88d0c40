"""Gated scores of a list, drawn by whole rounds, have the law of the same pulls one by one.

Both engines run R = 4000 replicates on independent streams; for every arm the mean of its last
round (two-sample Kolmogorov-Smirnov), its final pulls and the round it was dropped in (chi-square)
are compared, as in `tests/contracts/test_rounds_equal_steps.py`. Tallies are compared score by
score.

Tolerance: 5 noises x 3 policies x 3 arms x 3 quantities, and 24 tallies, are some 160
tests; each fails below p = 1e-7, so that correct code fails anywhere with probability 2e-5 over the
choice of the fixed seeds. The planted errors are caught.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    Beta,
    Empirical,
    InGroupBonus,
    Noise,
    NotSupported,
    Ordinal,
    Power,
    Sigmoid,
    simulate,
)
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.model.bias import Bias
from affinity_bandits.policies import (
    Elimination,
    ExploreThenCommit,
    HeadStartElimination,
    ListedSchedule,
    RoundPolicy,
)
from affinity_bandits.simulation import Environment, draws, rounds
from affinity_bandits.simulation.draws import Stream, new_read
from affinity_bandits.simulation.environment import key_words
from affinity_bandits.simulation.rounds import bound_tally, tallied_values, why_no_tallies
from tests.contracts.test_rounds_equal_steps import one_pull_late
from tests.model.noise.examples import EVENLY, MARKS
from tests.support.simulation_helpers import (
    SMALLEST_P,
    chi_square_p,
    outcomes_by_rounds,
    outcomes_by_steps,
    smallest_p,
)

REPLICATES = 4000
NOISES = [
    Ordinal(),
    Ordinal(3, shape=[0.6, 0.0, 0.4]),
    Ordinal([0, 1, 3, 10], shape=[0.5, 0.2, 0.2, 0.1]),
    Ordinal(4, probabilities=[[0.3, 0.2, 0.2, 0.3], [0.1, 0.2, 0.4, 0.3], [0.0, 0.5, 0.35, 0.15]]),
    Empirical(MARKS, 0.0, 100.0),
]
MEANS = [0.5, 0.62, 0.55]
POLICIES = [
    Elimination(ListedSchedule([(10, 0.12), (40, 0.06), (60, 0.03)])),
    HeadStartElimination(10, sigma=0.3, failure=0.4),
    ExploreThenCommit(30),
]

BIASES = [Power(1.0), Sigmoid(), InGroupBonus(1.5)]
# Biases take turns, so that every two of policy, noise and bias meet.
SETTINGS = [
    pytest.param(policy, noise, bias, id=f"{policy.name}-{noise}-{j}-{bias}")
    for i, policy in enumerate(POLICIES)
    for j, noise in enumerate(NOISES)
    for bias in BIASES[(i + j) % len(BIASES) :][:1]
]


def instance(noise: Noise, bias: Bias) -> AffinityBandit:
    own = getattr(noise, "probabilities", None)
    means = noise.true_means if own is not None else MEANS  # type: ignore[attr-defined]
    return AffinityBandit(means, bias=bias, initial_pulls=[9, 3, 1], noise=noise)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "noise", "bias"), SETTINGS)
def test_rounds_have_the_law_of_steps(policy: RoundPolicy, noise: Noise, bias: Bias) -> None:
    bandit = instance(noise, bias)
    by_steps = outcomes_by_steps(bandit, policy, 400, REPLICATES, seed=11)
    by_rounds = outcomes_by_rounds(bandit, policy, 400, REPLICATES, seed=12)
    assert smallest_p(by_steps, by_rounds) > SMALLEST_P


@pytest.mark.slow
def test_a_share_that_is_off_by_one_pull_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: the same check fails when each pull counts itself."""
    bandit = instance(Ordinal(), Power(1.0))
    policy = ExploreThenCommit(30)
    by_steps = outcomes_by_steps(bandit, policy, 100, 20_000, seed=11)
    assert smallest_p(by_steps, outcomes_by_rounds(bandit, policy, 100, 20_000, 12)) > SMALLEST_P
    monkeypatch.setattr(draws, "weight_at", one_pull_late)
    planted = outcomes_by_rounds(bandit, policy, 100, 20_000, seed=12)
    assert smallest_p(by_steps, planted) < SMALLEST_P


# Tallies.


def scores_of(bandit: AffinityBandit) -> Any:
    """All possible scores, ascending."""
    return bandit.noise.as_scores(np.unique(tallied_values(rounds.arena_of(bandit))))


def tallies_by_steps(bandit: AffinityBandit, repetitions: int, replicates: int) -> Any:
    """Scores of the first round of all arms, counted one by one, [replicate, arm, score]."""
    scores = scores_of(bandit)
    counts = np.zeros((replicates, bandit.arms, len(scores)), dtype=np.int64)
    for replicate in range(replicates):
        environment = Environment(bandit, seed=21, replicate=replicate)
        for _ in range(repetitions):
            for arm in range(bandit.arms):
                seen = bandit.noise.as_scores(environment.pull(arm))
                counts[replicate, arm, np.argmin(np.abs(scores - seen))] += 1
    return counts


def tallies_by_rounds(bandit: AffinityBandit, repetitions: int, replicates: int) -> Any:
    """Tallies of the same round, drawn at once as the round engine does."""
    arena = rounds.arena_of(bandit)
    draw = compile_kernel(bound_tally(bandit.bias.kernel))
    values = tallied_values(arena)
    # The scores that the gate stops are the lowest ones: places of the same score are added up.
    places = np.unique(values, return_inverse=True)[1]
    counts = np.zeros((replicates, bandit.arms, len(scores_of(bandit))), dtype=np.int64)
    tally = np.zeros(len(values), dtype=np.int64)
    arms = bandit.arms
    for replicate in range(replicates):
        stream = Stream(key_words(22, "round"), np.uint64(replicate), new_read())
        for arm in range(arms):
            members, total = float(arena.initial[arm]), float(arena.total_initial + arm)
            draw(arena, stream, arm, members, total, float(arms), repetitions, tally)
            np.add.at(counts[replicate, arm], places, tally)
    return counts


def tallies_p(left: Any, right: Any) -> float:
    """The smallest p over arms and scores: counts of a score, and their total over replicates."""
    found = [1.0]
    for arm in range(left.shape[1]):
        totals = np.array([left[:, arm].sum(axis=0), right[:, arm].sum(axis=0)])
        totals = totals[:, totals.sum(axis=0) > 0]
        found.append(float(stats.chi2_contingency(totals).pvalue))
        found.extend(
            chi_square_p(left[:, arm, score], right[:, arm, score])
            for score in range(left.shape[2])
        )
    return min(found)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [Bernoulli(), *NOISES], ids=str)
def test_tallies_have_the_law_of_scores_counted_one_by_one(noise: Noise) -> None:
    bandit = instance(noise, Power(1.0))
    one_by_one = tallies_by_steps(bandit, 12, 1500)
    at_once = tallies_by_rounds(bandit, 12, 1500)
    assert np.all(at_once.sum(axis=2) == 12)
    assert tallies_p(one_by_one, at_once) > SMALLEST_P


@pytest.mark.slow
def test_a_wrong_tally_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: scores drawn without regard to those that lower ones took."""
    bandit = instance(Ordinal(), Power(1.0))
    one_by_one = tallies_by_steps(bandit, 12, 1500)
    plain = rounds.arena_of

    def without_regard(given: AffinityBandit) -> Any:
        arena = plain(given)
        chances = np.diff(arena.cumulative, axis=1, prepend=0.0)
        return arena._replace(conditional=chances)

    monkeypatch.setattr(rounds, "arena_of", without_regard)
    assert tallies_p(one_by_one, tallies_by_rounds(bandit, 12, 1500)) < SMALLEST_P


# What cannot be drawn at once is played by steps, and says so.


@pytest.mark.parametrize(
    ("bandit", "says"),
    [
        (AffinityBandit(MEANS, noise=Beta()), "sums of beta scores"),
        (AffinityBandit(MEANS, noise=EVENLY), "sums of custom scores"),
        (AffinityBandit(MEANS, noise=Ordinal(), mechanism="scaled"), "a weighted sum of scores"),
        (AffinityBandit(MEANS, noise=Ordinal(21)), "more than 20 different scores"),
        (AffinityBandit(MEANS, noise=Ordinal(), memory=9), "bounded memory"),
    ],
    ids=["beta", "custom", "scaled", "many scores", "memory"],
)
def test_what_has_no_law_to_draw_from_is_played_by_steps(bandit: AffinityBandit, says: str) -> None:
    (run,) = simulate(bandit, "elimination", 50, 1).runs
    assert run.engine == "steps"
    assert says in run.note
    with pytest.raises(NotSupported, match=says):
        simulate(bandit, "elimination", 50, 1, engine="rounds")
    assert why_no_tallies(bandit) is not None
