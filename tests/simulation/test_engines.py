"""Engines: which one plays a policy, and that they decide at the same pull."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Custom,
    Gaussian,
    Joining,
    NotSupported,
    Power,
    simulate,
)
from tests.simulation.test_decisions import EASY, HORIZON, run


@pytest.mark.parametrize(
    ("joining", "judges", "reason"),
    [
        (Joining(0.5), "committee", "joins at once"),
        (Joining(above=0.5), "recused", "every single score"),
        (Joining(leaving=0.1), "recused", "who is left"),
    ],
)
def test_rounds_that_cannot_be_drawn_at_once_are_played_by_steps_and_say_why(
    joining: Joining, judges: str, reason: str
) -> None:
    bandit = AffinityBandit([0.4, 0.6], joining=joining, judges=judges)
    with pytest.raises(NotSupported, match=reason):
        simulate(bandit, "uniform", 20, 1, engine="rounds", progress=False)
    result = simulate(bandit, "uniform", 20, 1, progress=False)
    assert [row.engine for row in result.summary()] == ["steps"]


@pytest.mark.parametrize("policy", ["elimination", "lucb"])
def test_engines_agree_on_when_it_was_decided(policy: str) -> None:
    """The number of pulls after which one candidate is left, found by stopping there."""
    compiled, plain = run(policy, "steps"), run(policy, "python")
    np.testing.assert_array_equal(compiled.decided_at, plain.decided_at)
    assert (compiled.decided_at > 0).all()
    for number in range(4):
        at = int(compiled.decided_at[0, number])
        for until, left in ((at - 1, False), (at, True)):
            stopped = _stopped(policy, number, until)
            assert (sum(stopped) == 1) is left


def _stopped(policy: str, replicate: int, until: int) -> list[int]:
    from affinity_bandits.catalogue import policy_from_json
    from affinity_bandits.simulation import StepRun

    one = StepRun(EASY, policy_from_json(policy, EASY), HORIZON, 0, replicate)
    one.advance(until)
    return one.candidates.tolist()


def test_rounds_decide_at_the_end_of_a_round() -> None:
    result = run("elimination")
    assert result.runs[0].engine == "rounds"
    assert (result.decided_at > 0).all()
    # From then on the best arm alone is pulled.
    others = result.pulls[0, :, -1, [0, 2]].sum(axis=0)
    assert (others + result.pulls[0, :, -1, 1] == HORIZON).all()
    assert (result.decided_at[0] >= others).all()


@pytest.mark.parametrize(
    "settings", [{"memory": 20}, {"noise": "bernoulli", "mechanism": "scaled"}]
)
def test_falling_back_to_steps_is_visible(settings: dict[str, object]) -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), **settings)  # type: ignore[arg-type]
    (run,) = simulate(bandit, "elimination", 1000, 2).runs
    assert run.engine == "steps"
    assert run.note


def smooth_step(share: float) -> float:
    return share * share * (3.0 - 2.0 * share)


def test_a_users_own_bias_runs_in_both_engines() -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Custom(smooth_step, 1.5), noise=Gaussian(0.1))
    result = simulate(bandit, ["elimination", "ucb1"], 10**5, 3)
    assert [run.engine for run in result.runs] == ["rounds", "steps"]
    assert not result.wrong_arm[0].any()
