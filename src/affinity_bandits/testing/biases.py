"""The contract of bias models."""

from __future__ import annotations

import json

import numpy as np

from affinity_bandits.bias import BIASES, Bias, Custom, bias_from_json
from affinity_bandits.testing.catalogues import known


def check_bias(bias: Bias, points: int = 2001) -> None:
    """Check that a bias model keeps the rules of `assump:multBias` and of this package.

    Raises:
        AssertionError: it is not nonnegative, nondecreasing, bounded or L-Lipschitz on a grid,
            or does not come back from its JSON form, or is not what its kernel computes.
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
    if not isinstance(bias, Custom):
        data = json.loads(json.dumps(bias.to_json(), allow_nan=False))
        with known(bias, BIASES):
            again = bias_from_json(data)
        assert again == bias, f"{bias} does not come back from JSON"
