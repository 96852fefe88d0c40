"""Every policy, compiled, agrees pull for pull with an independent literal implementation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Gaussian,
    HeadStartElimination,
    InGroupBonus,
    Joining,
    Judges,
    MembersElimination,
    MemoryElimination,
    Ordinal,
    PanelElimination,
    Power,
    RecusalElimination,
)
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.policies import POLICIES
from tests.support.instances import (
    TOLD_JUDGES,
    DecidedByRounding,
    bandits,
    compiled_run,
    naive_run,
    policy_examples,
    uncompiled_run,
)
from tests.support.naive.policies import NAIVE


def test_every_policy_has_a_twin() -> None:
    assert set(NAIVE) == set(POLICIES)


Run = Callable[[AffinityBandit, AnyPolicy, int, int, int], tuple[list[int], set[int]]]


def agrees(run: Run, name: str, data: st.DataObject, longest: int) -> None:
    bandit = data.draw(bandits(seated=True, memory=name not in TOLD_JUDGES), label="bandit")
    policy = data.draw(st.sampled_from(policy_examples(name, bandit)), label="policy")
    horizon = data.draw(st.integers(1, longest), label="horizon")
    seed = data.draw(st.integers(0, 2**64), label="seed")
    replicate = data.draw(st.integers(0, 2**40), label="replicate")
    try:
        expected = naive_run(bandit, policy, horizon, seed, replicate)
    except DecidedByRounding:
        reject()
    assert run(bandit, policy, horizon, seed, replicate) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=15)
@given(data=st.data())
def test_agrees_on_random_instances(name: str, data: st.DataObject) -> None:
    agrees(compiled_run, name, data, 400)


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=15)
@given(data=st.data())
def test_so_does_the_same_source_in_plain_python(name: str, data: st.DataObject) -> None:
    """Nothing is compiled, so that these are among the fast tests."""
    agrees(uncompiled_run, name, data, 200)


@pytest.mark.nightly_but("head-start", "ucb1", "elimination-bern")
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
    policy = HeadStartElimination(
        initial_pulls=[40, [8, 12], 25, 1], sigma=0.05 if not bounded else 1.0, bounded=bounded
    )
    found = compiled_run(bandit, policy, 20_000, 0, 3)
    assert found == naive_run(bandit, policy, 20_000, 0, 3)
    monkeypatch.setattr(NAIVE[policy.name], "tried", lambda *_: False)
    assert found != naive_run(bandit, policy, 20_000, 0, 3)


NOISES = {"bernoulli": True, Gaussian(0.2): False}
"""Whether the policy is told that scores are bounded."""
BETWEEN_NODES = [
    # A policy that counts scores, some of which lie between two nodes.
    pytest.param(
        AffinityBandit([0.52, 0.6, 0.56], Power(1.0), [40, 10, 25], noise),
        HeadStartElimination(initial_pulls=[40, [8, 12], 25], bounded=True, failure=1e-4),
        100_000,
        id=f"counts of {noise}",
        marks=() if isinstance(noise, Ordinal) else pytest.mark.nightly,
    )
    for noise in ("bernoulli", Gaussian(0.2), Ordinal(5))
]
OTHER_JUDGES = [
    # One in five joins and some leave, so that committees are put in order again and again.
    pytest.param(
        AffinityBandit(
            [0.55, 0.6, 0.58],
            Power(1.0) if kind is MembersElimination else InGroupBonus(0.5),
            [40, 10, 25],
            noise,
            joining=Joining(part=0.2, leaving=0.01),
            judges=judges,
        ),
        kind(sigma=0.2, bounded=bounded, failure=1e-6),
        5_000,
        id=f"{kind.name}, {noise}",
    )
    for kind, judges in (
        (MembersElimination, Judges()),
        (PanelElimination, Judges("panel", seats=9, seating="in proportion")),
        (RecusalElimination, Judges("recused")),
    )
    for noise, bounded in NOISES.items()
]
TARGETS = [
    # Before the target and after it.
    pytest.param(
        AffinityBandit([0.55, 0.6, 0.58], InGroupBonus(0.5), [40, 10, 25], noise),
        HeadStartElimination(
            initial_pulls=[40, [8, 12], 25],
            sigma=0.2,
            bounded=bounded,
            failure=1e-2,
            target=target,
        ),
        5_000,
        id=f"target {target}, {noise}",
    )
    for target in (50, 2_000, 10**6)
    for noise, bounded in NOISES.items()
]
MEMORIES = [
    # Four groups that are nearly equal, so that leaders change and turns go on.
    pytest.param(
        AffinityBandit(
            [0.58, 0.6, 0.4, 0.59], InGroupBonus(0.5), [40, 10, 25, 1], noise, memory=memory
        ),
        MemoryElimination(sigma=0.2, bounded=bounded, failure=1e-3, memory=memory),
        5_000,
        id=f"memory {memory}, {noise}",
    )
    for memory in (1, 7, 400)
    for noise, bounded in NOISES.items()
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bandit", "policy", "pulls"), [*BETWEEN_NODES, *OTHER_JUDGES, *TARGETS, *MEMORIES]
)
def test_the_head_start_agrees_over_many_pulls(
    bandit: AffinityBandit, policy: HeadStartElimination, pulls: int
) -> None:
    assert compiled_run(bandit, policy, pulls, 7, 3) == naive_run(bandit, policy, pulls, 7, 3)
