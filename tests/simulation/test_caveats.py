"""A run says so when feedback is not what its policy assumes, and only then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from affinity_bandits import (
    AffinityBandit,
    Constant,
    Gaussian,
    Joining,
    Judges,
    Power,
    simulate,
)
from affinity_bandits.model.bias import Bias
from affinity_bandits.policies import (
    LUCB,
    MOSS,
    UCB1,
    UCBV,
    AsSteps,
    Elimination,
    HeadStartElimination,
    MembersElimination,
    MemoryElimination,
    PanelElimination,
    PublishedSchedule,
    RecusalElimination,
    RoundPolicy,
    ThompsonGaussian,
)
from affinity_bandits.simulation.caveats import caveat_of
from affinity_bandits.simulation.simulator import require_policy

HORIZON = 10**6
INITIAL_LEAD = 30
LEVEL = 0.05
REPLICATES = 2000


def instance(noise: Any, mechanism: str, best: float, bias: Bias) -> AffinityBandit:
    """Two arms that are worth the same but for a millionth; the worse one begins ahead."""
    return AffinityBandit(
        [best - 1e-6, best],
        bias=bias,
        initial_pulls=[1 + INITIAL_LEAD, 1],
        noise=noise,
        mechanism=mechanism,
    )


def told(bandit: AffinityBandit, **settings: Any) -> HeadStartElimination:
    """A head-start policy that knows the noise of the true values, as a user would write it."""
    if isinstance(bandit.noise, Gaussian):
        settings = {"sigma": bandit.noise.sigma} | settings
    else:
        settings = {"bounded": True} | settings
    return HeadStartElimination(INITIAL_LEAD, failure=LEVEL, **settings)


def run_of(bandit: AffinityBandit, policy: HeadStartElimination) -> tuple[float, str]:
    """How often the best arm is dropped, and what the result says of the assumptions."""
    result = simulate(bandit, policy, HORIZON, REPLICATES, seed=5, checkpoints=1, progress=False)
    return float(result.deceived.mean()), result.runs[0].caveat


# The head start's theorem bounds the probability of dropping the best arm by LEVEL, for feedback of
# the kind it was told. OUTSIDE breaks that assumption, and the measured rates are .41 to .90 (at
# 4,000 runs: .415, .899, .898, .515 in this order). INSIDE keeps it.
#
# Tolerance: rates inside are at most .04 as measured; five standard deviations of a part of 2,000
# runs at the level are .025. Outside, at a true rate of .4 fewer than 600 fail with probability
# 1e-20. Power: a true rate of .1 inside is caught with probability .999.

TOLERATED = LEVEL + 0.025

OUTSIDE = [
    pytest.param(instance(Gaussian(1.0), "gated", 10.0, Power(1.0)), id="gated, mean 10"),
    pytest.param(instance(Gaussian(0.1), "gated", 0.9, Power(1.0)), id="gated, sigma .1"),
    pytest.param(instance(Gaussian(1.0), "scaled", 0.9, Constant(3.0)), id="scaled by 3"),
]
INSIDE = [
    *(
        pytest.param(instance(Gaussian(sigma), kind, best, Power(1.0)), id=f"{kind} {sigma} {best}")
        for kind in ("shifted", "scaled")
        for sigma, best in ((1.0, 10.0), (0.1, 0.9))
    ),
    pytest.param(instance("bernoulli", "gated", 0.9, Power(1.0)), id="gated coins"),
    pytest.param(instance(Gaussian(1.0), "gated", 3.0, Constant()), id="gated without bias"),
]


@pytest.mark.slow
@pytest.mark.parametrize("bandit", OUTSIDE)
def test_where_the_guarantee_is_broken_the_result_says_so(bandit: AffinityBandit) -> None:
    dropped, caveat = run_of(bandit, told(bandit))
    assert dropped > 0.3
    assert "its guarantee does not cover this run" in caveat


@pytest.mark.slow
@pytest.mark.parametrize("bandit", OUTSIDE)
def test_told_what_the_bandit_produces_the_guarantee_holds(bandit: AffinityBandit) -> None:
    policy = told(bandit, sigma=bandit.feedback.sigma, bounded=False)
    dropped, caveat = run_of(bandit, policy)
    assert caveat == ""
    assert dropped <= TOLERATED


@pytest.mark.nightly_but("gated", "scaled 0.1")
@pytest.mark.slow
@pytest.mark.parametrize("bandit", INSIDE)
def test_where_the_guarantee_holds_nothing_is_said(bandit: AffinityBandit) -> None:
    dropped, caveat = run_of(bandit, told(bandit))
    assert caveat == ""
    assert dropped <= TOLERATED


@pytest.mark.slow
def test_feedback_beyond_its_range_is_said_even_where_it_does_no_harm() -> None:
    """It counts as the end of the range, for all groups alike."""
    bandit = instance("bernoulli", "shifted", 0.5, Power(2.0))
    # Such scores have no exact rounds, so that runs are short and fewer: of 400 at the level, more
    # than 42 fail with probability 1e-5.
    result = simulate(bandit, told(bandit), 5_000, 400, seed=5, checkpoints=1, progress=False)
    assert result.deceived.sum() <= 42
    assert "its guarantee does not cover this run" in result.runs[0].caveat


GATED = AffinityBandit([0.5, 1.0], bias=Power(1.0), noise="gaussian", mechanism="gated")
COINS = AffinityBandit([0.5, 0.9], bias=Power(1.0))


def caveat(bandit: AffinityBandit, policy: Any) -> str:
    chosen = require_policy("policy", policy, bandit)
    return caveat_of(str(chosen), chosen, bandit)


@pytest.mark.parametrize(
    ("bandit", "policy", "says"),
    [
        (
            GATED,
            HeadStartElimination(),
            "head-start-elimination assumes 1-subGaussian feedback; gated Gaussian feedback here is"
            " 1.097-subGaussian: its guarantee does not cover this run",
        ),
        (GATED, Elimination(), "elimination assumes 1-subGaussian | is 1.097-subGaussian"),
        (GATED, "kl-ucb", "assumes feedback in [0, 1] | has no bounds"),
        (GATED, "thompson-beta", "assumes feedback of 0 or 1"),
        (GATED, ThompsonGaussian(), "normal feedback with standard deviation 1 | is not normal"),
        (COINS, ThompsonGaussian(), "is not normal"),
        (
            AffinityBandit([0.5], noise=Gaussian(0.5)),
            ThompsonGaussian(),
            "standard deviation 1 | has sigma 0.5",
        ),
        (AffinityBandit([0.5], noise=Gaussian(0.6)), "ucb1", "0.5-subGaussian | is 0.6-sub"),
        (
            AffinityBandit([0.5, 0.9], bias=Power(1.0), mechanism="shifted"),
            HeadStartElimination(bounded=True),
            "feedback in [0, 1]; shifted Bernoulli feedback here lies in [-0.9, 1]",
        ),
        (
            AffinityBandit([0.5, 0.9], bias=Power(1.0), mechanism="scaled"),
            "thompson-beta",
            "is not only 0 or 1",
        ),
        (AffinityBandit([0.5], bias=Constant(2.0), mechanism="scaled"), "exp3", "[0, 2]"),
        (
            AffinityBandit([0.5], noise=Gaussian(1.0 + 1e-6)),
            HeadStartElimination(),
            "assumes 1-subGaussian | is 1.000001-subGaussian",
        ),
        (
            replace(COINS, joining=Joining(0.1)),
            HeadStartElimination(bounded=True),
            "head-start-elimination(bounded=True) assumes that everybody chosen judges from then"
            " on: its guarantee does not cover this run",
        ),
        (replace(COINS, memory=5), HeadStartElimination(bounded=True), "everybody chosen judges"),
        (
            replace(COINS, judges=Judges("panel", 4)),
            HeadStartElimination(bounded=True),
            "everybody",
        ),
        (COINS, PanelElimination(bounded=True), "that a panel judges"),
        (COINS, RecusalElimination(bounded=True), "that nobody judges their own group"),
        (
            replace(COINS, joining=Joining(0.1, leaving=0.1)),
            MembersElimination(bounded=True),
            "that nobody who judges leaves during a round",
        ),
        (COINS, MemoryElimination(bounded=True, memory=9), "the people chosen last judge"),
        (replace(COINS, memory=10), MemoryElimination(bounded=True, memory=9), "or fewer"),
    ],
)
def test_the_caveat_names_what_is_assumed_and_what_is_so(
    bandit: AffinityBandit, policy: Any, says: str
) -> None:
    found = caveat(bandit, policy)
    for part in says.split(" | "):
        assert part in found


OTHERS_JUDGE = [
    (replace(COINS, joining=Joining(0.1)), HeadStartElimination(bounded=True)),
    (COINS, PanelElimination(bounded=True)),
    (COINS, RecusalElimination(bounded=True)),
    (replace(COINS, joining=Joining(0.1, leaving=0.1)), MembersElimination(bounded=True)),
    (replace(COINS, memory=10), MemoryElimination(bounded=True, memory=9)),
]


@pytest.mark.parametrize(("bandit", "policy"), OTHERS_JUDGE)
def test_a_wrapped_policy_has_the_caveat_of_the_policy(
    bandit: AffinityBandit, policy: RoundPolicy
) -> None:
    wrapped = AsSteps(policy)
    assert "its guarantee does not cover this run" in caveat(bandit, wrapped)
    assert caveat(bandit, wrapped) == caveat(bandit, policy)
    told = ("judged_by", "told_judges", "information", "version", "eliminates", "assumes")
    assert [getattr(wrapped, name) for name in told] == [getattr(policy, name) for name in told]
    (run,) = simulate(bandit, wrapped, 10, 1, engine="python", progress=False).runs
    assert run.caveat == caveat(bandit, policy)


@pytest.mark.parametrize(
    ("bandit", "policy"),
    [
        (COINS, "elimination"),
        (COINS, "thompson-beta"),
        (COINS, HeadStartElimination(bounded=True)),
        (GATED, LUCB(sigma=GATED.feedback.sigma)),
        (GATED, UCB1(exploration=8 * GATED.feedback.sigma**2)),
        (GATED, MOSS(scale=4 * GATED.feedback.sigma**2)),
        (GATED, "uniform"),
        # Nothing was ever claimed for shorter rounds than published.
        (GATED, Elimination(PublishedSchedule(3.0))),
        (AffinityBandit([0.5], noise=Gaussian(0.5)), "ucb1"),
        (AffinityBandit([0.5], noise=Gaussian(0.1 + 0.2)), LUCB(sigma=0.3)),
        (AffinityBandit([0.5], bias=Constant(2.0), mechanism="scaled"), UCBV(bound=2.0)),
        (replace(COINS, judges=Judges("recused")), HeadStartElimination(bounded=True)),
        (replace(COINS, judges=Judges("recused")), RecusalElimination(bounded=True)),
        (replace(COINS, judges=Judges("panel", 4)), PanelElimination(bounded=True)),
        (replace(COINS, joining=Joining(when="next round")), PanelElimination(bounded=True)),
        (replace(COINS, joining=Joining(0.1)), MembersElimination(bounded=True)),
        (replace(COINS, memory=9), MemoryElimination(bounded=True, memory=9)),
        (replace(COINS, joining=Joining(0.1)), "ucb1"),
    ],
)
def test_nothing_is_said_where_all_is_as_assumed(bandit: AffinityBandit, policy: Any) -> None:
    assert caveat(bandit, policy) == ""


def test_a_round_policy_played_by_steps_says_both_things() -> None:
    bandit = AffinityBandit([0.5, 0.9], bias=Constant(3.0), mechanism="scaled")
    (run,) = simulate(bandit, HeadStartElimination(bounded=True), 10, 1).runs
    assert run.note
    assert "lies in [0, 3]" in run.caveat
    assert AsSteps(Elimination()).assumes == Elimination().assumes
