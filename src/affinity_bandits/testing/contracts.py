"""The contracts of policies, biases and noises, and the mistakes that kernels often have."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.registry import Description, Registry
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import BIASES, Bias, Constant, Custom, Power, bias_from_json
from affinity_bandits.model.noise import NOISES, CustomNoise, Noise, noise_from_json
from affinity_bandits.model.noise.base import is_normal, reads_gate
from affinity_bandits.model.round_sums import bound_sums
from affinity_bandits.policies import (
    Evidence,
    Live,
    PlayedRound,
    RoundExplanation,
    RoundPolicy,
    StepPolicy,
)
from affinity_bandits.policies.kernel_rules import check_kernels
from affinity_bandits.policies.state import copy_state, pack, state_to_json
from affinity_bandits.simulation import Environment, StepRun, simulate
from affinity_bandits.simulation.draws import normal_quantile
from affinity_bandits.simulation.environment import arena_of, bound_feedback


def check_bias(bias: Bias, points: int = 2001) -> None:
    """Check that a bias model keeps the rules of Assumption 2.1 and of this package.

    Raises:
        AssertionError: on a grid the model is negative, decreasing, unbounded or too steep, or its
            JSON form gives another model.
    """
    grid = np.linspace(0.0, 1.0, points)
    values = np.asarray(bias.weight(grid))
    assert np.all(np.isfinite(values)), f"{bias} is not bounded"
    assert np.all(values >= 0.0), f"{bias} is negative somewhere"
    steps = np.diff(values)
    assert np.all(steps >= 0.0), f"{bias} decreases somewhere"
    slope = float(steps.max() * (points - 1))
    assert slope <= bias.lipschitz + 1e-9 * (1.0 + values[-1]), (
        f"{bias} has slope {slope} but declares the Lipschitz constant {bias.lipschitz}"
    )
    assert bias.bounds == (values[0], values[-1]), f"{bias} misstates its bounds"
    assert all(0.0 < x < 1.0 for x in bias.breakpoints), f"{bias} has a breakpoint outside (0, 1)"
    _check_round_sums(bias)
    if not isinstance(bias, Custom):
        check_rebuilt(bias, BIASES, bias_from_json)


def _check_round_sums(bias: Bias, pulls: int = 5_000) -> None:
    """Check that the round engine sums the weights of a round as plain addition does."""
    sums = bound_sums(bias.kernel)
    marks = np.array(bias.breakpoints, dtype=np.float64)
    pull = np.arange(pulls)
    # Members of the group and of the committee before the round, and what a pass adds to those.
    for members, size, step in ((1.0, 1000.0, 2.0), (1000.0, 1010.0, 2.0), (1.0, 100.0, 3.0)):
        quick, _ = sums(
            bias.code, bias.parameters, marks, bool(bias.smooth), members, size, step, pulls
        )
        plain = float(np.sum(bias.weight((members + pull) / (size + step * pull))))
        assert abs(quick - plain) <= 1e-7 + 1e-10 * plain, (
            f"{bias} is summed over a round as {quick}, not as {plain}: state its breakpoints, or"
            " set smooth to False"
        )


def check_rebuilt(
    model: Description, registry: Registry[Any], build: Callable[[Any], Description]
) -> None:
    """Check that a description is rebuilt from its JSON form, registering it for the check."""
    data = json.loads(json.dumps(model.to_json(), allow_nan=False))
    before = dict(registry)
    try:
        registry.register(type(model))
        again = build(data)
    except InvalidInput as error:
        raise AssertionError(f"{model} cannot be built from its name: {error}") from error
    finally:
        registry.clear()
        registry.update(before)
    assert again == model, f"{model} does not come back from JSON"


POINTS = 1000
"""Uniform numbers of the grid on which a law is evaluated."""
WEIGHTS = (1.0, 0.6, 0.25, 0.0)
SLACK = 1e-9


def check_noise(
    noise: Noise, means: Sequence[float] = (0.3, 0.55, 0.7), tolerance: float = 2e-3
) -> None:
    """Check that a noise keeps the rules of this package, for every mechanism.

    Args:
        noise: the noise to check.
        means: true means that it allows.
        tolerance: of a mean, which is computed on a grid.

    Raises:
        AssertionError: the mean of feedback differs from the weight times the true mean, feedback
            leaves its range or has heavier tails than stated, nodes are unordered or out of range,
            or the JSON form gives another noise.
    """
    _check_nodes(noise)
    samplers = {noise.label: noise.sampler} if isinstance(noise, CustomNoise) else None
    check_rebuilt(noise, NOISES, partial(noise_from_json, samplers=samplers))
    for mechanism in noise.mechanisms:
        for weight in WEIGHTS:
            bandit = AffinityBandit(means, bias=Constant(weight), noise=noise, mechanism=mechanism)
            stated = bandit.feedback
            for arm, mean in enumerate(means):
                said = f"{noise}, {mechanism}, at mean {mean:g} and weight {weight:g}"
                seen, chances = feedback_law(bandit, arm, weight)
                found = float(chances @ seen)
                assert abs(found - weight * mean) <= tolerance, f"{said}: has mean {found}"
                if noise.keeps_range:
                    inside = (seen >= 0.0) & (seen <= 1.0)
                    assert np.all(inside), f"{said}: leaves its range"
                bounded = (seen >= stated.low - SLACK) & (seen <= stated.high + SLACK)
                assert np.all(bounded), f"{said}: leaves its bounds"
                _check_tails(seen - found, chances, stated.sigma, said)


def feedback_law(bandit: AffinityBandit, arm: int, weight: float) -> tuple[FloatArray, FloatArray]:
    """Return the possible feedback on a grid of random numbers, and its probabilities."""
    arena = arena_of(bandit)
    feedback = bound_feedback(bandit.noise.kernel)
    edges = np.linspace(0.0, 1.0, POINTS + 1)
    if len(arena.values):  # as many cells as scores, and exact
        edges = np.unique([0.0, *arena.cumulative[arm]])
    numbers, widths = (0.5 * (edges[1:] + edges[:-1])).tolist(), np.diff(edges)
    if is_normal(arena.law):
        numbers = [compile_kernel(normal_quantile)(u) for u in numbers]
    gates = {0.5 * weight: weight, 0.5 + 0.5 * weight: 1.0 - weight}
    if not reads_gate(arena.law):
        gates = {0.0: 1.0}
    seen, chances = [], []
    for gate, chance in gates.items():
        if chance > 0.0:
            seen.append([feedback(arena, arm, weight, number, gate) for number in numbers])
            chances.append(chance * widths)
    return np.array(seen, dtype=np.float64).ravel(), np.concatenate(chances)


def _check_tails(around: FloatArray, chances: FloatArray, sigma: float, said: str) -> None:
    """Check E[exp(l Y)] <= exp(l**2 sigma**2 / 2) for feedback around its mean."""
    scale = max(float(np.abs(around).max()), 1e-12)
    for length in np.geomspace(1e-2, 50.0, 60) / scale:
        for at in (length, -length):
            own = float(np.log(chances @ np.exp(at * around)))
            # Of the grid's own mean, which is not exactly that of the law.
            assert own <= 0.5 * (at * sigma) ** 2 * (1.0 + 1e-3) + 1e-9, (
                f"{said}: is not {sigma:g}-subGaussian at l = {at:g}"
            )


def _check_nodes(noise: Noise) -> None:
    nodes = noise.nodes
    assert list(nodes) == sorted(set(nodes)), f"{noise}: its nodes are not ascending"
    assert (len(nodes) == 0) == (noise.highest - noise.lowest == math.inf), f"{noise}: its nodes"
    assert all(noise.lowest <= node <= noise.highest for node in nodes), f"{noise}: its nodes"
    if nodes:
        ends = noise.mapped([noise.lowest, noise.highest]).tolist()
        assert ends == [0.0, 1.0], f"{noise}: its range is not mapped to [0, 1]"
        assert np.allclose(noise.as_scores(noise.mapped(nodes)), nodes), f"{noise}: as_scores"


HORIZON = 300


def check_policy(policy: StepPolicy | RoundPolicy, arms: int = 3) -> None:
    """Check that a policy keeps its contract: description, state, kernels, both ways of running.

    For a round policy, its explanations are checked too; for one that runs in plain Python, only
    its description, and that runs can be repeated.

    Args:
        policy: the policy to check.
        arms: a number of arms that it accepts.

    Raises:
        AssertionError: says which rule is broken.
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
        _check_words(policy, said, state, arms)
        if number < policy.warm_up_rounds or not said.compares:
            assert not dropped, f"{policy}: round {number} drops an arm without a comparison"
        candidates = left


def _seen(policy: RoundPolicy, arms: int, number: int) -> FloatArray:
    """Return possible feedback of a round, the larger the later an arm comes in it."""
    sums = np.arange(arms, dtype=np.float64) * (number + 1)
    if not policy.nodes:
        return sums
    nodes = np.zeros((arms, len(policy.nodes)))
    nodes[:, 0], nodes[:, -1] = 1.0, sums
    return nodes.ravel()


def _check_words(policy: RoundPolicy, said: object, state: Any, arms: int) -> None:
    """Check the policy's explanation of a round, and its evidence after it."""
    assert isinstance(policy.rule, str), f"{policy}: its rule is not text"
    assert isinstance(said, RoundExplanation), f"{policy}: explain returns no RoundExplanation"
    assert said.tolerance is None or 0.0 <= said.tolerance < math.inf, (
        f"{policy}: a tolerance is not a finite number of at least 0"
    )
    words = (said.purpose, said.dropped_because, said.none_dropped_because)
    assert all(isinstance(one, str) for one in words), f"{policy}: an explanation is not text"
    before = state_to_json(state)
    found = policy.evidence(state)
    assert state_to_json(state) == before, f"{policy}: evidence changes the state"
    assert found is None or isinstance(found, Evidence), f"{policy}: evidence returns no Evidence"
    for leader in (said.leader, None if found is None else found.leader):
        assert leader is None or 0 <= leader < arms, f"{policy}: an unknown arm leads"
    if found is not None:
        assert len(found.against) == arms, f"{policy}: there are not odds for every arm"
        odds = [one for one in found.against if one is not None]
        assert not np.isnan(odds).any(), f"{policy}: odds are not a number"
        assert 0.0 < found.needed < math.inf, f"{policy}: no odds above 1 to 1 drop an arm"


def _check_runs(policy: StepPolicy | RoundPolicy, bandit: AffinityBandit) -> None:
    compiled_arms = _compiled_choices(policy, bandit, [HORIZON])
    assert _compiled_choices(policy, bandit, [1, 2, 10, 11, 170, HORIZON]) == compiled_arms, (
        f"{policy}: its choices depend on how a run is cut"
    )
    live = Live(policy, bandit.arms, HORIZON, seed=5, scale="any")  # as simulations take it
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
