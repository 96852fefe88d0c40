"""`NUMBA_DISABLE_JIT=1` runs the same simulation without machine code, and finds the same bits."""

from __future__ import annotations

import pytest

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Gaussian,
    Power,
    Result,
    Sigmoid,
    simulate,
    simulate_log,
)
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.kernels.compile import runs_interpreted
from tests.support.without_compiler import value_without_compiler

BANDITS = {
    "Bernoulli": AffinityBandit([0.35, 0.6, 0.5], bias=Power(1.5), initial_pulls=[40, 10, 25]),
    "shifted Bernoulli": AffinityBandit([0.35, 0.6], bias=Sigmoid(), mechanism="shifted"),
    "Gaussian": AffinityBandit([0.35, 0.6, 0.5], bias=Power(1.0), noise=Gaussian(0.5)),
    "gated Gaussian": AffinityBandit(
        [0.35, 0.6], bias=Clipped(Power(2.0), low=0.05), noise=Gaussian(1.0), mechanism="gated"
    ),
    "bounded memory": AffinityBandit(
        [0.35, 0.6], bias=Power(1.0), noise=Gaussian(1.0), mechanism="scaled", memory=50
    ),
}
STEPS = ["ucb1", "kl-ucb", "thompson-beta", "thompson-gaussian", "exp3", "epsilon-greedy"]
ROUNDS = ["elimination", "head-start-elimination", "sequential-halving", "explore-then-commit"]


def found(name: str) -> dict[str, object]:
    """What simulations of one bandit find, as JSON: pull by pull, and where it can be by rounds."""
    bandit = BANDITS[name]

    def numbers(result: Result) -> list[object]:
        engines = [run.engine for run in result.runs]
        return [engines, result.pulls.tolist(), result.candidates.tolist()]

    steps = [policy_from_json(policy, bandit) for policy in (*STEPS, *ROUNDS)]
    by_steps = simulate(bandit, steps, 1_500, 2, seed=7, engine="steps", progress=False)
    log = simulate_log(bandit, "ucb1", 300, seed=7, unchosen=True).columns()
    rows = {column: values.tolist() for column, values in log.items()}
    if bandit.memory is not None:
        return {"steps": numbers(by_steps), "log": rows}
    by_rounds = simulate(bandit, ROUNDS, 10**9, 3, seed=7, engine="rounds", progress=False)
    return {"steps": numbers(by_steps), "rounds": numbers(by_rounds), "log": rows}


@pytest.mark.nightly_but("[Bernoulli]")
@pytest.mark.slow
@pytest.mark.parametrize("name", BANDITS)
def test_the_bits_are_those_of_machine_code(name: str) -> None:
    plain = value_without_compiler(__name__, f"[runs_interpreted(), found({name!r})]")
    assert not runs_interpreted()  # else nothing is compared
    assert plain == [True, found(name)]
