"""Bias models as JSON, as values that compare, and as text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits import Clipped, Constant, Custom, PiecewisePower, Plateau, Power, Sigmoid
from affinity_bandits.model.bias import Bias, bias_from_json
from tests.model.bias.examples import ONE_OF_EACH, clipped, kinked, unclipped


def through_json(model: Bias, **functions: Any) -> Bias:
    return bias_from_json(json.loads(json.dumps(model.to_json(), allow_nan=False)), functions)


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_survives_json(model: Bias) -> None:
    assert through_json(model, kinked=kinked) == model


@pytest.mark.slow
@given(st.recursive(unclipped.filter(lambda model: model.name != "custom"), clipped))
def test_any_settings_survive_json(model: Bias) -> None:
    assert through_json(model) == model


def test_settings_left_out_of_a_description_take_their_defaults() -> None:
    assert bias_from_json({"name": "power"}) == bias_from_json("power") == Power(1.0)
    assert bias_from_json({"name": "clipped", "base": {"name": "sigmoid"}, "low": 0.6}) == Clipped(
        Sigmoid(), low=0.6
    )


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Constant(), "1"),
        (Power(1.0), "x"),
        (Power(2.5), "x^2.5"),
        (Sigmoid(), "1/(1+e^-x)"),
        (Plateau(4, 1.0), "plateau to 0.25"),
        (PiecewisePower([0.3], [2.0]), "2"),
        (
            PiecewisePower([0.01, 0.1, 0.5], [0.1, 0.1, 1.0]),
            "from 0.1 to 1, at most as steep as x^1.43",
        ),
        (Custom(kinked, 2.0, "kinked"), "kinked"),
        (Clipped(Power(2.0), low=0.1, high=0.9), "max(0.1, min(0.9, x^2))"),
        (Clipped(Power(2.0), high=0.9), "min(0.9, x^2)"),
    ],
)
def test_reads_as_its_formula(model: Bias, text: str) -> None:
    assert str(model) == text
