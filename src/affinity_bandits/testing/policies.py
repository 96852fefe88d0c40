"""The contract of step and round policies."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Power
from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies import (
    Evidence,
    Live,
    PlayedRound,
    RoundExplanation,
    RoundPolicy,
    StepPolicy,
)
from affinity_bandits.policies.state import copy_state, pack, state_to_json
from affinity_bandits.simulation import Environment, StepRun, simulate
from affinity_bandits.testing.kernels import check_kernels

HORIZON = 300


def check_policy(policy: StepPolicy | RoundPolicy, arms: int = 3) -> None:
    """Check that a policy keeps its contract: description, state, kernels, both ways of running.

    Of a round policy, what it says of its rounds is checked as well; of one that runs in plain
    Python, that a run can be repeated.

    Args:
        policy: the description to check.
        arms: a number of arms that it takes.

    Raises:
        AssertionError: says which promise is broken.
    """
    _check_description(policy)
    if policy.in_python:
        _check_in_python(policy, arms)
        return
    check_kernels(policy, arms, HORIZON)
    _check_state(policy, arms)
    if isinstance(policy, RoundPolicy):
        _check_rounds(policy, arms)
    for noise in ("bernoulli", "gaussian"):
        bandit = AffinityBandit(
            np.linspace(0.3, 0.7, arms).tolist(),
            bias=Power(1.0),
            initial_pulls=range(1, arms + 1),
            noise=noise,
        )
        _check_runs(policy, bandit)


def _check_description(policy: StepPolicy | RoundPolicy) -> None:
    name = getattr(policy, "name", None)
    assert name, f"{type(policy).__name__}: it has no name"
    data = policy.to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data, (
        f"{policy}: its description is not plain JSON"
    )
    assert policy.in_python or data["name"] == policy.name, (
        f"{policy}: its description does not carry its name"
    )
    assert hash(policy) == hash(policy), f"{policy}: it is not immutable"


def _check_in_python(policy: StepPolicy | RoundPolicy, arms: int) -> None:
    bandit = AffinityBandit(np.linspace(0.3, 0.7, arms).tolist(), bias=Power(1.0))
    first, again = (simulate(bandit, policy, HORIZON, 2, checkpoints=HORIZON) for _ in range(2))
    assert np.array_equal(first.pulls, again.pulls), (
        f"{policy}: a run cannot be repeated: draw from the rng that it is handed, no other"
    )
    later = simulate(bandit, policy, HORIZON, 1, checkpoints=HORIZON, first_replicate=1)
    assert np.array_equal(first.pulls[:, 1:], later.pulls), (
        f"{policy}: a replicate depends on the one before it: let each begin anew"
    )


def _check_state(policy: StepPolicy | RoundPolicy, arms: int) -> None:
    state = policy.start(arms, HORIZON)
    saved = policy.save(state, arms, HORIZON)
    loaded = policy.load(json.loads(json.dumps(saved, allow_nan=False)))
    assert state_to_json(loaded) == state_to_json(state), f"{policy}: a state does not come back"
    packed = pack(state)
    assert state_to_json(packed.state) == state_to_json(state), f"{policy}: packing changes a state"


def _check_rounds(policy: RoundPolicy, arms: int) -> None:
    kernels = policy.kernels()
    state = policy.start(arms, HORIZON)
    pulled = 0
    candidates = frozenset(arm for arm in range(arms) if kernels.candidate(state, arm))
    said: RoundExplanation | None = None
    for number in range(20):
        if policy.told_judges:
            state = policy.met(state, [number + 1] * arms)
        before = state_to_json(state)
        planned = kernels.plan(state)
        assert state_to_json(state) == before, f"{policy}: plan changes the state"
        chosen = [int(arm) for arm in planned.arms]
        assert len(set(chosen)) == len(chosen), f"{policy}: a round has an arm twice"
        assert chosen, f"{policy}: a round has no arms"
        assert set(chosen) <= set(range(arms)), f"{policy}: a round has an unknown arm"
        assert planned.repetitions >= 1, f"{policy}: a round has no repetitions"
        pulled += len(chosen) * int(planned.repetitions)
        if pulled > HORIZON:
            return
        after = policy.absorbed(state, _seen(policy, len(chosen), number))
        assert state_to_json(state) == before, f"{policy}: absorbed changes the state it was given"
        state = after
        left = frozenset(arm for arm in range(arms) if kernels.candidate(state, arm))
        assert left, f"{policy}: no candidate is left"
        dropped = tuple(sorted(candidates - left))
        said = policy.explain(PlayedRound(number, tuple(chosen), candidates, dropped), said)
        _check_explanation(policy, said, arms)
        _check_evidence(policy, state, arms)
        if number < policy.warm_up_rounds or not said.compares:
            assert not dropped, f"{policy}: round {number} drops an arm without a comparison"
        candidates = left


def _seen(policy: RoundPolicy, arms: int, number: int) -> FloatArray:
    """Return what a round could have told: the later an arm comes in it, the more it has."""
    sums = np.arange(arms, dtype=np.float64) * (number + 1)
    if not policy.nodes:
        return sums
    nodes = np.zeros((arms, len(policy.nodes)))
    nodes[:, 0], nodes[:, -1] = 1.0, sums
    return nodes.ravel()


def _check_explanation(policy: RoundPolicy, said: object, arms: int) -> None:
    assert isinstance(policy.rule, str), f"{policy}: its rule is not text"
    assert isinstance(said, RoundExplanation), f"{policy}: explain returns no RoundExplanation"
    assert said.leader is None or 0 <= said.leader < arms, f"{policy}: an unknown arm leads"
    assert said.tolerance is None or 0.0 <= said.tolerance < math.inf, (
        f"{policy}: a tolerance is not a finite number of at least 0"
    )
    for words in (said.purpose, said.dropped_because, said.none_dropped_because):
        assert isinstance(words, str), f"{policy}: an explanation is not text"


def _check_evidence(policy: RoundPolicy, state: Any, arms: int) -> None:
    before = state_to_json(state)
    found = policy.evidence(state)
    assert state_to_json(state) == before, f"{policy}: evidence changes the state"
    if found is None:
        return
    assert isinstance(found, Evidence), f"{policy}: evidence returns no Evidence"
    assert len(found.against) == arms, f"{policy}: there are not odds for every arm"
    assert not any(one is not None and math.isnan(one) for one in found.against), (
        f"{policy}: odds are not a number"
    )
    assert 0.0 < found.needed < math.inf, f"{policy}: no odds above 1 to 1 drop an arm"
    assert found.leader is None or 0 <= found.leader < arms, f"{policy}: an unknown arm leads"


def _check_runs(policy: StepPolicy | RoundPolicy, bandit: AffinityBandit) -> None:
    compiled_arms = _compiled_choices(policy, bandit, [HORIZON])
    assert _compiled_choices(policy, bandit, [1, 2, 10, 11, 170, HORIZON]) == compiled_arms, (
        f"{policy}: its choices depend on how a run is cut"
    )
    live = Live(policy, bandit.arms, HORIZON, seed=5)
    environment = Environment(bandit, seed=5)
    state: Any = copy_state(live.state)
    for time, expected in enumerate(compiled_arms):
        if live.awaits_judges:
            live.meet(environment.open_round(live.fewest_seats))
        arm = live.ask()
        assert arm == expected, (
            f"{policy}: plain Python pulls arm {arm} at pull {time}, compiled code arm {expected}"
        )
        live.tell(arm, environment.pull(arm))
        assert live.candidates(), f"{policy}: no candidate is left"
        if time == HORIZON // 2:
            live = Live.from_json(policy, live.to_json())
    fresh = live.policy.start(bandit.arms, HORIZON)
    assert state_to_json(state) == state_to_json(fresh), f"{policy}: two starts differ"


def _compiled_choices(
    policy: StepPolicy | RoundPolicy, bandit: AffinityBandit, cuts: list[int]
) -> list[int]:
    run = StepRun(bandit, policy, HORIZON, seed=5)
    times = np.arange(1, HORIZON + 1)
    counts = np.zeros((HORIZON, bandit.arms), dtype=np.int64)
    for cut in cuts:
        run.advance(cut, times, counts)
        run = StepRun.from_json(bandit, policy, run.to_json())
    choices: list[int] = np.diff(counts, axis=0, prepend=0).argmax(axis=1).tolist()
    return choices
