"""Figure 12's claims hold in the paper's world and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits import Power
from affinity_bandits.paper.figure_12 import ITEM, bias_models, claims, exponents, run

from .cell_runner import runner_in

SMALL = replace(ITEM.settings["quick"], arms=(2, 4, 8, 16, 32), replicates=10)


@pytest.mark.slow
def test_claims_hold(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert all(claim.holds for claim in claims(run(SMALL, runner_in(tmp_path))))


def test_two_linear_biases_do_not_differ(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: x in the place of x^2."""
    wrong = replace(SMALL, biases={**bias_models(), "square": Power(1.0)})
    larger, pronounced, fourth, *_ = claims(run(wrong, runner_in(tmp_path)))
    assert not any(claim.holds for claim in (larger, pronounced, fourth))


def test_an_unbiased_sigmoid_is_not_above(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: no bias where the sigmoid should be, and one where none should."""
    models = bias_models()
    wrong = replace(
        SMALL,
        biases={**models, "sigmoid": models["unbiased"], "unbiased": models["sigmoid"]},
    )
    *_, above, _ = claims(run(wrong, runner_in(tmp_path)))
    assert not above.holds


def test_a_steep_sigmoid_depends_on_the_number_of_arms(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The planted wrong world: x where the sigmoid should be."""
    wrong = replace(SMALL, biases={**bias_models(), "sigmoid": Power(1.0)})
    *_, flat = claims(run(wrong, runner_in(tmp_path)))
    assert not flat.holds


def test_the_exponent_of_a_known_power() -> None:
    arms = [2, 4, 8]
    logs = [np.log(12 / np.pi**2 * k**2 * 1e6) for k in arms]
    data = {
        "bias": ["linear"] * 6,
        "arms": [k for k in arms for _ in range(2)],
        "replicate": [0, 1] * 3,
        "regret": [
            scale * (k - 1) * log * k**2
            for k, log in zip(arms, logs, strict=True)
            for scale in (1, 5)
        ],
        "horizon": [10**6] * 6,
    }
    assert exponents(data, "linear") == pytest.approx([2.0, 2.0])
