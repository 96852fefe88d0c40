"""The log of a run, of every policy, is the run: the same bits, and the twin's rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from affinity_bandits import AffinityBandit, Noise, StepRun, policy_from_json, simulate
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.policies import POLICIES
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation import RunLog
from affinity_bandits.simulation.logs import LoggedRun
from tests.model.noise.examples import NOISES, named
from tests.support.instances import (
    TOLD_JUDGES,
    DecidedByRounding,
    bandits,
    biases,
    naive_log,
    policy_examples,
)

SAMPLED = ["ucb1", "ucb-v", "thompson-gaussian", "elimination", "head-start-elimination"]


def logged(
    bandit: AffinityBandit, policy: AnyPolicy, horizon: int, seed: int, replicate: int
) -> tuple[RunLog, LoggedRun]:
    """A log in which everybody is scored, which is otherwise that in which they are not."""
    run = LoggedRun(bandit, policy, horizon, seed, unchosen=True)
    log = run.log(replicate)
    alone = LoggedRun(bandit, policy, horizon, seed).log(replicate)
    for name in ("arm", "score", "share", "joined", "round", "panels"):
        one, other = getattr(log, name), getattr(alone, name)
        assert (one is None and other is None) or one.tobytes() == other.tobytes(), name
    return log, run


def assert_same_bits(log: RunLog, run: LoggedRun, policy: AnyPolicy) -> None:
    """The log is that of the run that `simulate` makes, and leaves the policy in its state."""
    times = np.arange(1, len(log) + 1)
    settings: dict[str, Any] = {"checkpoints": times, "engine": "steps", "progress": False}
    result = simulate(
        log.bandit, policy, len(log), 1, log.seed, first_replicate=log.replicate, **settings
    )
    chosen = log.arm[:, None] == np.arange(log.bandit.arms)
    assert np.array_equal(np.cumsum(chosen, axis=0), result.pulls[0, 0])
    assert np.array_equal(log.pulls, result.pulls[0, 0, -1])
    # What the policy has added up is the same to the bit: scores and their order are the run's.
    plain = StepRun(log.bandit, policy, len(log), log.seed, log.replicate)
    plain.advance(len(log))
    pairs = ((run.state, plain.state), (run._committee.state, plain._committee.state))
    for mine, its in ((pack(one), pack(other)) for one, other in pairs):
        assert mine.whole.tobytes() == its.whole.tobytes()
        assert mine.real.tobytes() == its.real.tobytes()


def assert_twins(log: RunLog, policy: AnyPolicy) -> None:
    """Each row is the twin's; scores but for the last digits of another normal quantile."""
    try:
        rows, _ = naive_log(log.bandit, policy, len(log), log.seed, log.replicate, unchosen=True)
    except DecidedByRounding:
        reject()
    for name in ("arm", "share", "joined", "round"):
        assert getattr(log, name).tolist() == [getattr(row, name) for row in rows], name
    np.testing.assert_allclose(log.score, [row.score for row in rows], atol=1e-11, rtol=1e-11)
    np.testing.assert_allclose(log.scores, [row.everybody for row in rows], atol=1e-11, rtol=1e-11)
    if log.bandit.judges.who == "committee":
        assert log.panels is None
    else:
        assert log.panel is not None
        assert log.panel.tolist() == [row.panel for row in rows]


@pytest.mark.nightly_but("head-start", "exp3-ix", "ucb1")
@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=5)
@given(data=st.data())
def test_every_policys_log_is_its_run(name: str, data: st.DataObject) -> None:
    bandit = data.draw(bandits(seated=True, memory=name not in TOLD_JUDGES), label="bandit")
    policy = data.draw(st.sampled_from(policy_examples(name, bandit)), label="policy")
    horizon = data.draw(st.integers(1, 300), label="horizon")
    seed = data.draw(st.integers(0, 2**64), label="seed")
    replicate = data.draw(st.integers(0, 2**40), label="replicate")
    log, run = logged(bandit, policy, horizon, seed, replicate)
    assert_same_bits(log, run, policy)
    assert_twins(log, policy)


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES, ids=named)
@settings(max_examples=10)
@given(data=st.data())
def test_every_noises_log_is_its_run(noise: Noise, data: st.DataObject) -> None:
    """The twin finds its own tilted probabilities and Beta quantiles (scipy's).

    Values differ in the last digits, so a choice differs with a probability of about 1e-12 a pull;
    policies whose indices nearly tie are left to the other suites.
    """
    arms = data.draw(st.integers(2, 5), label="arms")
    low, high = (0.15, 0.85) if len(noise.nodes) == 9 else (0.0, 1.0)
    bandit = AffinityBandit(
        # Three digits: nearer to an end the twin's root finder gives up.
        [round(data.draw(st.floats(low, high)), 3) for _ in range(arms)],
        bias=data.draw(biases(arms)),
        initial_pulls=data.draw(st.lists(st.integers(1, 60), min_size=arms, max_size=arms)),
        noise=noise,
        mechanism=data.draw(st.sampled_from(noise.mechanisms)),
        memory=data.draw(st.none() | st.integers(1, 80)),
    )
    policy = policy_from_json(data.draw(st.sampled_from(SAMPLED)))
    log, run = logged(bandit, policy, data.draw(st.integers(1, 150)), 11, 3)
    assert_same_bits(log, run, policy)
    assert_twins(log, policy)


@pytest.mark.slow
def test_a_log_of_many_slices_is_that_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks, slices and the rounds that lie across their ends leave no trace."""
    bandit = AffinityBandit(
        [0.5, 0.6, 0.4],
        bias="in-group-bonus",
        joining={"part": 0.3, "leaving": 0.02},
        judges={"who": "panel", "seats": 7, "seating": "in proportion"},
    )
    policy = policy_from_json("elimination")
    whole, run = logged(bandit, policy, 5_000, 3, 2)
    assert_same_bits(whole, run, policy)
    assert_twins(whole, policy)
    for numbers in (1, 700, 9_999):
        monkeypatch.setattr("affinity_bandits.simulation.logs.SLICE_NUMBERS", numbers)
        log, _ = logged(bandit, policy, 5_000, 3, 2)
        for name in ("arm", "score", "share", "joined", "round", "panels", "scores"):
            assert getattr(log, name).tobytes() == getattr(whole, name).tobytes(), name


@pytest.mark.slow
def test_another_log_is_told_apart() -> None:
    """The negative control: another replicate, scores in another order, shares after the pull."""
    bandit = AffinityBandit([0.4, 0.6], bias="power", initial_pulls=[10, 5])
    policy = policy_from_json("ucb1")
    log, run = logged(bandit, policy, 300, 3, 2)
    with pytest.raises(AssertionError):
        assert_same_bits(replace(log, replicate=3), run, policy)
    for wrong in ({"score": log.score[::-1]}, {"share": np.roll(log.share, -1)}):
        with pytest.raises(AssertionError):
            assert_twins(replace(log, **wrong), policy)
