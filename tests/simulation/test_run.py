"""A run pull by pull, saved and resumed anywhere, is the run that was not cut."""

from __future__ import annotations

import itertools
import json

import pytest

from affinity_bandits import (
    UCB1,
    AffinityBandit,
    Power,
    StepRun,
    simulate,
)
from affinity_bandits.policies import POLICIES, AsSteps
from affinity_bandits.policies.state import state_to_json
from tests.contracts.test_same_bits import BANDIT
from tests.policies.test_live import HEAD_START
from tests.support.instances import TOLD_JUDGES, policy_examples

BOUNDED = AffinityBandit([0.35, 0.6, 0.5], bias=Power(1.0), initial_pulls=[40, 10, 25], memory=50)


def final_state(run: StepRun) -> str:
    return json.dumps([run.pulls.tolist(), state_to_json(run.state)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "segment"), list(zip(POLICIES, itertools.cycle([1, 7, 4096]), strict=False))
)
def test_cutting_a_run_into_segments_changes_nothing(name: str, segment: int) -> None:
    """Saved to JSON and resumed in a new object between any two segments."""
    bandit = BOUNDED if segment == 7 and name not in TOLD_JUDGES else BANDIT
    policy = policy_examples(name, bandit)[0]
    horizon = {1: 60, 7: 1_001, 4096: 20_000}[segment]
    whole = StepRun(bandit, policy, horizon, seed=3, replicate=5)
    whole.advance(horizon)
    cut = StepRun(bandit, policy, horizon, seed=3, replicate=5)
    while cut.clock < horizon:
        cut.advance(min(horizon, cut.clock + segment))
        cut = StepRun.from_json(bandit, policy, cut.to_json())
    assert final_state(cut) == final_state(whole)


def test_a_run_by_steps_says_what_is_not_as_assumed() -> None:
    coins = AffinityBandit([0.5, 0.9], bias=Power(1.0))
    shifted = AffinityBandit([0.5, 0.9], bias=Power(1.0), mechanism="shifted")
    assert StepRun(coins, UCB1(), 10).caveat == ""
    for policy in (HEAD_START, AsSteps(HEAD_START)):
        expected = simulate(shifted, policy, 10, 1, progress=False).runs[0].caveat
        assert "lies in [-0.9, 1]" in expected
        assert StepRun(shifted, policy, 10).caveat == expected
