"""The contract of noises."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Constant
from affinity_bandits.kernels import FloatArray
from affinity_bandits.noise import NOISES, CustomNoise, Noise, noise_from_json
from affinity_bandits.noise.laws import is_normal, reads_gate
from affinity_bandits.simulation.code_cache import for_python
from affinity_bandits.simulation.draws import normal_quantile
from affinity_bandits.simulation.environment import arena_of, bound_feedback
from affinity_bandits.testing.catalogues import known

POINTS = 1000
"""Uniform numbers of the grid on which a law is looked at."""
WEIGHTS = (1.0, 0.6, 0.25, 0.0)
SLACK = 1e-9


def check_noise(
    noise: Noise, means: Sequence[float] = (0.3, 0.55, 0.7), tolerance: float = 2e-3
) -> None:
    """Check that a noise keeps the rules of this package, for every mechanism that it offers.

    Args:
        noise: to check.
        means: true means that it can have.
        tolerance: how far a mean may be off, which is taken on a grid.

    Raises:
        AssertionError: the mean of feedback is not the weight times the true mean, feedback leaves
            its range or has heavier tails than stated, nodes lie outside of the range or are not
            ascending, or the noise does not come back from its JSON form.
    """
    _check_nodes(noise)
    _check_json(noise)
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
    """Return feedback on a grid of the numbers that it is made of, and its probabilities."""
    arena = arena_of(bandit)
    feedback = bound_feedback(bandit.noise.kernel)
    edges = np.linspace(0.0, 1.0, POINTS + 1)
    if len(arena.values):  # as many cells as scores, and exact
        edges = np.unique([0.0, *arena.cumulative[arm]])
    numbers, widths = (0.5 * (edges[1:] + edges[:-1])).tolist(), np.diff(edges)
    if is_normal(arena.law):
        numbers = [for_python(normal_quantile)(u) for u in numbers]
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


def _check_json(noise: Noise) -> None:
    data = json.loads(json.dumps(noise.to_json(), allow_nan=False))
    samplers = {noise.label: noise.sampler} if isinstance(noise, CustomNoise) else None
    with known(noise, NOISES):
        again = noise_from_json(data, samplers)
    assert again == noise, f"{noise} does not come back from JSON"
