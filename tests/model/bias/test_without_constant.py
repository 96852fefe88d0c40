"""Roots and steps: no Lipschitz constant, which is said, and sums over rounds that are right."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Bias, Clipped, Root, Step, bias_from_json, theory
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.model.round_sums import bound_sums
from affinity_bandits.testing import check_bias

MODELS = [Root(0.5), Root(0.2), Step(0.3, 0.4, 0.9), Clipped(Step(0.6, 0.1), low=0.2)]


@pytest.mark.parametrize("bias", MODELS, ids=str)
def test_they_keep_the_contract_and_come_back(bias: Bias) -> None:
    check_bias(bias)
    assert bias.lipschitz == math.inf
    assert bias_from_json(json.loads(json.dumps(bias.to_json()))) == bias


@pytest.mark.parametrize("bias", MODELS, ids=str)
def test_theorems_refuse_them_by_name(bias: Bias) -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=bias)
    with pytest.raises(
        NotSupported, match=r"assume a Lipschitz constant, and the bias .* has none"
    ):
        theory.horizon_condition(bandit, 10**6)


@pytest.mark.parametrize("bias", MODELS, ids=str)
@pytest.mark.parametrize(("a", "b"), [(1.0, 101.0), (90.0, 100.0), (3.0, 10.0)])
def test_sums_over_a_round_are_those_of_its_terms(bias: Bias, a: float, b: float) -> None:
    """Shares that rise to 1/2 and fall to it, past the step and not."""
    pulls, k = 3000, 2.0
    sums = bound_sums(bias.kernel)
    found = sums(
        *(bias.code, bias.parameters, np.array(bias.breakpoints), bias.smooth, a, b, k, pulls)
    )
    terms = np.array([bias.weight((a + at) / (b + k * at)) for at in range(pulls)])
    assert found == pytest.approx((terms.sum(), (terms**2).sum()), rel=1e-9)


def test_settings_are_checked() -> None:
    for wrong in (0.0, 1.0, 2.0):
        with pytest.raises(InvalidInput, match="alpha must be"):
            Root(wrong)
    with pytest.raises(InvalidInput, match="high must be"):
        Step(0.5, 0.9, 0.1)
    with pytest.raises(InvalidInput, match="at must be"):
        Step(1.0)


def test_a_clip_holds_for_a_kernel_that_knows_nothing_of_clips() -> None:
    assert Clipped(MODELS[2], high=0.5).bounds == (0.4, 0.5)
