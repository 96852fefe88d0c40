"""Every policy, compiled, agrees pull for pull with an independent literal implementation."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Gaussian,
    HandicapElimination,
    InGroupBonus,
    Joining,
    Judges,
    Ordinal,
    Power,
)
from affinity_bandits.policies import POLICIES
from tests.support.instances import (
    DecidedByRounding,
    bandits,
    compiled_run,
    naive_run,
    policy_examples,
)
from tests.support.naive.policies import NAIVE


def test_every_policy_has_a_twin() -> None:
    assert set(NAIVE) == set(POLICIES)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=15)
@given(data=st.data())
def test_agrees_on_random_instances(name: str, data: st.DataObject) -> None:
    bandit = data.draw(bandits(seated=True), label="bandit")
    policy = data.draw(st.sampled_from(policy_examples(name, bandit)), label="policy")
    horizon = data.draw(st.integers(1, 400), label="horizon")
    seed = data.draw(st.integers(0, 2**64), label="seed")
    replicate = data.draw(st.integers(0, 2**40), label="replicate")
    try:
        expected = naive_run(bandit, policy, horizon, seed, replicate)
    except DecidedByRounding:
        reject()
    assert compiled_run(bandit, policy, horizon, seed, replicate) == expected


@pytest.mark.nightly_but("handicap", "ucb1", "elimination-bern")
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["bernoulli", "gaussian"])
@pytest.mark.parametrize("name", POLICIES)
def test_agrees_over_many_thousand_pulls(name: str, noise: str) -> None:
    if noise == "gaussian" and name.startswith("exp3"):
        pytest.skip(
            "EXP3 multiplies a difference of one rounding (the twin's normal quantile is scipy's) "
            "by exp(eta L), about e**200 here; Bernoulli feedback is exact"
        )
    bandit = AffinityBandit(
        [0.35, 0.6, 0.5],
        bias=Power(1.5),
        initial_pulls=[40, 10, 25],
        # Small, so that means stay inside (0, 1): beyond, indices of KL-UCB tie at 1.
        noise=Gaussian(0.2) if noise == "gaussian" else noise,
    )
    policy = policy_examples(name, bandit)[0]
    # The twin of KL-UCB looks for an index by halving, for every arm at every pull.
    pulls = 10_000 if name == "kl-ucb" else 30_000
    assert compiled_run(bandit, policy, pulls, 7, 3) == naive_run(bandit, policy, pulls, 7, 3)


@pytest.mark.nightly_but("Ordinal")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "levels"), [("bernoulli", 17), (Gaussian(0.2), 3), (Ordinal(5), 17)], ids=str
)
def test_counts_of_scores_agree_over_a_hundred_thousand_pulls(noise: object, levels: int) -> None:
    """A policy that counts scores, some of which lie between two nodes."""
    bandit = AffinityBandit(
        [0.52, 0.6, 0.56],
        bias=Power(1.0),
        initial_pulls=[40, 10, 25],
        noise=noise,  # type: ignore[arg-type]
    )
    policy = HandicapElimination(
        initial_pulls=[40, [8, 12], 25], bounded=True, failure=1e-4, levels=levels
    )
    assert compiled_run(bandit, policy, 100_000, 7, 3) == naive_run(bandit, policy, 100_000, 7, 3)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["bernoulli", Gaussian(0.05)], ids=["bernoulli", "gaussian"])
def test_a_policy_with_a_horizon_agrees_while_leaders_change(
    noise: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a twin that goes on giving wealth to stakes that were tried does not."""
    bounded = not isinstance(noise, Gaussian)
    bandit = AffinityBandit(
        [0.55, 0.6, 0.57, 0.5],
        bias=InGroupBonus(0.5) if bounded else Power(1.0),
        initial_pulls=[40, 10, 25, 1],
        noise=noise,  # type: ignore[arg-type]
    )
    policy = HandicapElimination(
        initial_pulls=[40, [8, 12], 25, 1], sigma=0.05 if not bounded else 1.0, bounded=bounded
    )
    found = compiled_run(bandit, policy, 20_000, 0, 3)
    assert found == naive_run(bandit, policy, 20_000, 0, 3)
    monkeypatch.setattr(NAIVE[policy.name], "tried", lambda *_: False)
    assert found != naive_run(bandit, policy, 20_000, 0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("judges", ["members", "panel", "strangers"])
@pytest.mark.parametrize("noise", ["bernoulli", Gaussian(0.2)], ids=["bernoulli", "gaussian"])
def test_policies_told_who_judges_agree_over_many_pulls(judges: str, noise: object) -> None:
    """One in five joins and some leave, so that committees are put in order again and again."""
    bandit = AffinityBandit(
        [0.55, 0.6, 0.58],
        bias=Power(1.0) if judges == "members" else InGroupBonus(0.5),
        initial_pulls=[40, 10, 25],
        noise=noise,
        joining=Joining(part=0.2, leaving=0.01),
        judges={
            "members": Judges(),
            "panel": Judges("panel", seats=9, seating="in proportion"),
            "strangers": Judges("strangers"),
        }[judges],
    )
    bounded = not isinstance(noise, Gaussian)
    policy = HandicapElimination(sigma=0.2, bounded=bounded, failure=1e-6, judges=judges)
    assert compiled_run(bandit, policy, 5_000, 7, 3) == naive_run(bandit, policy, 5_000, 7, 3)


@pytest.mark.slow
@pytest.mark.parametrize("target", [50, 2_000, 10**6])
@pytest.mark.parametrize("noise", ["bernoulli", Gaussian(0.2)], ids=["bernoulli", "gaussian"])
def test_a_policy_with_a_target_agrees_before_and_after_it(target: int, noise: object) -> None:
    bandit = AffinityBandit([0.55, 0.6, 0.58], InGroupBonus(0.5), [40, 10, 25], noise=noise)
    policy = HandicapElimination(
        initial_pulls=[40, [8, 12], 25],
        sigma=0.2,
        bounded=not isinstance(noise, Gaussian),
        failure=1e-2,
        target=target,
    )
    assert compiled_run(bandit, policy, 5_000, 7, 3) == naive_run(bandit, policy, 5_000, 7, 3)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [1, 7, 400])
@pytest.mark.parametrize("noise", ["bernoulli", Gaussian(0.2)], ids=["bernoulli", "gaussian"])
def test_a_policy_told_the_memory_agrees_over_many_pulls(memory: int, noise: object) -> None:
    """Four groups that are nearly equal, so that leaders change and turns go on."""
    bandit = AffinityBandit(
        [0.58, 0.6, 0.4, 0.59], InGroupBonus(0.5), [40, 10, 25, 1], noise=noise, memory=memory
    )
    bounded = not isinstance(noise, Gaussian)
    policy = HandicapElimination(sigma=0.2, bounded=bounded, failure=1e-3, memory=memory)
    assert compiled_run(bandit, policy, 5_000, 7, 3) == naive_run(bandit, policy, 5_000, 7, 3)
