"""Wrong biases, bandits and noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    Clipped,
    Constant,
    Custom,
    Gaussian,
    InGroupBonus,
    Joining,
    Judges,
    PiecewisePower,
    Plateau,
    Power,
    Sigmoid,
)
from affinity_bandits.model.bias import bias_from_json
from tests.base.errors.table import BANDIT, HUGE, UNPRINTABLE, invalid, refused, unknown


def identity(share: float) -> float:
    return share


def closure() -> Callable[[float], float]:
    slope = 0.5
    return lambda share: slope * share


BIASES = [
    # Numbers: out of range, not finite, too large for a float, not numbers at all.
    invalid("power-below-1", lambda: Power(0.5), "alpha | at least 1 | 0.5"),
    invalid("power-nan", lambda: Power(math.nan), "alpha | finite | nan"),
    invalid("power-infinite", lambda: Power(math.inf), "alpha | finite | inf"),
    # In single precision the largest double is infinite, too, and so no bound.
    invalid("power-infinite-single", lambda: Power(np.float32("inf")), "alpha | finite | inf"),
    invalid("power-huge", lambda: Power(HUGE), "alpha | finite | 1000000"),
    invalid("power-unprintable", lambda: Power(UNPRINTABLE), "alpha | finite"),
    invalid("power-boolean", lambda: Power(True), "alpha | True"),
    invalid("power-text", lambda: Power("2"), "alpha | '2'"),
    invalid("power-none", lambda: Power(None), "alpha | None"),
    invalid("power-complex", lambda: Power(2j), "alpha | 2j"),
    # The representation of a matrix has line breaks; a message has none.
    invalid("power-matrix", lambda: Power(np.ones((2, 2))), "alpha | array"),
    invalid("constant-negative", lambda: Constant(-0.1), "value | at least 0 | -0.1"),
    invalid("constant-fraction-too-large", lambda: Constant(Fraction(HUGE, 3)), "value"),
    invalid("plateau-one-arm", lambda: Plateau(1), "arms | from 2 | got 1"),
    invalid("plateau-half-an-arm", lambda: Plateau(2.5), "arms | whole | 2.5"),
    invalid("plateau-beta-zero", lambda: Plateau(3, 0.0), "beta | (0, 3] | 0.0"),
    invalid("plateau-beta-beyond-arms", lambda: Plateau(3, 4.0), "beta | (0, 3] | 4"),
    invalid("bonus-negative", lambda: InGroupBonus(-0.1), "bonus | [0, 1e+09] | -0.1"),
    invalid("bonus-text", lambda: InGroupBonus("0.1"), "bonus | '0.1'"),
    # Powers through points.
    invalid("points-none", lambda: PiecewisePower([], []), "shares | 1 to 100 | got 0"),
    invalid(
        "points-too-many",
        lambda: PiecewisePower(np.linspace(0.1, 1.0, 101), [1.0] * 101),
        "shares | 1 to 100 | got 101",
    ),
    invalid("points-number", lambda: PiecewisePower(0.5, [1.0]), "shares | 0.5"),
    invalid("points-text", lambda: PiecewisePower([0.5], "1"), "weights | '1'"),
    invalid("points-share-text", lambda: PiecewisePower(["a"], [1.0]), "shares[0] | 'a'"),
    invalid("points-share-zero", lambda: PiecewisePower([0.0], [1.0]), "shares[0] | 0.0"),
    invalid("points-share-beyond-1", lambda: PiecewisePower([0.5, 1.5], [1, 1]), "shares[1] | 1.5"),
    invalid("points-share-nan", lambda: PiecewisePower([math.nan], [1.0]), "shares[0] | nan"),
    invalid("points-weight-zero", lambda: PiecewisePower([0.5], [0.0]), "weights[0] | 0.0"),
    invalid("points-weight-huge", lambda: PiecewisePower([0.5], [HUGE]), "weights[0]"),
    invalid(
        "points-weight-infinite", lambda: PiecewisePower([0.5], [math.inf]), "weights[0] | inf"
    ),
    invalid(
        "points-fewer-weights",
        lambda: PiecewisePower([0.1, 0.2], [1.0]),
        "weights | as long as shares (2) | got 1",
    ),
    invalid(
        "points-not-ascending",
        lambda: PiecewisePower([0.2, 0.2], [1.0, 1.0]),
        "shares | ascending | [0.2, 0.2]",
    ),
    invalid(
        "points-decreasing",
        lambda: PiecewisePower([0.1, 0.2], [1.0, 0.5]),
        "weights | nondecreasing | [1.0, 0.5]",
    ),
    # Clips.
    invalid("clipped-without-clip", lambda: Clipped(Power()), "low | high"),
    invalid("clipped-crossed", lambda: Clipped(Power(), 0.5, 0.2), "low | 0.2 | 0.5"),
    invalid("clipped-negative", lambda: Clipped(Power(), low=-1.0), "low | -1.0"),
    invalid("clipped-high-nan", lambda: Clipped(Power(), high=math.nan), "high | nan"),
    invalid("clipped-name", lambda: Clipped("power", 0.1), "base | 'power'"),
    invalid("clipped-class", lambda: Clipped(Power, 0.1), "base | bias model"),
    # Shares.
    invalid("share-beyond-1", lambda: Power().weight(1.5), "share | [0, 1] | 1.5"),
    invalid("share-nan", lambda: Sigmoid().weight(math.nan), "share | nan"),
    invalid("share-in-array", lambda: Power().weight([0.1, -1.0]), "share | -1.0"),
    invalid("share-text", lambda: Power().weight("half"), "share | 'half'"),
    invalid("share-huge", lambda: Power().weight(HUGE), "share | [0, 1]"),
]

CUSTOM_BIASES = [
    invalid("custom-number", lambda: Custom(3, 1.0), "function | got 3"),
    invalid("custom-builtin", lambda: Custom(math.sqrt, 1.0), "function | plain"),
    invalid("custom-method", lambda: Custom(Power().weight, 1.0), "function | plain"),
    invalid("custom-closure", lambda: Custom(closure(), 1.0), "function | enclosing"),
    invalid(
        "custom-that-raises",
        lambda: Custom(lambda x: 1.0 / x, 1.0),
        "function | at 0 it raised | ZeroDivisionError",
    ),
    invalid(
        "custom-that-raises-in-two-lines",
        lambda: Custom(lambda x: [][int("one\ntwo")], 1.0),
        "function | ValueError",
    ),
    invalid("custom-of-two-arguments", lambda: Custom(lambda x, y: x, 1.0), "function | argument"),
    invalid("custom-nan", lambda: Custom(lambda x: math.nan, 1.0), "function | nan"),
    invalid("custom-unbounded", lambda: Custom(lambda x: math.inf, 1.0), "function"),
    invalid(
        "custom-none", lambda: Custom(lambda x: None, 1.0), "function | returns a number | None"
    ),
    # float("1.0") is a number, but the compiled loop would not call float.
    invalid("custom-text", lambda: Custom(lambda x: "1.0", 1.0), "function"),
    invalid(
        "custom-decreasing",
        lambda: Custom(lambda x: 1.0 - x, 1.0),
        "function | nondecreasing | f(0) = 1",
    ),
    invalid("custom-negative", lambda: Custom(lambda x: x - 1.0, 1.0), "function | -1"),
    invalid(
        "custom-too-steep",
        lambda: Custom(lambda x: 3.0 * x, 2.0),
        "lipschitz_constant | at least 3 | 2.0",
    ),
    invalid("custom-lipschitz-nan", lambda: Custom(identity, math.nan), "lipschitz_constant | nan"),
    invalid("custom-label-number", lambda: Custom(identity, 1.0, 7), "label | 7"),
]

BIASES_FROM_DATA = [
    invalid(
        "points-without-weights",
        lambda: bias_from_json({"name": "piecewise-power", "shares": [0.5]}),
        "weights must be given",
    ),
    unknown(
        "points-unknown-key",
        lambda: bias_from_json({"name": "piecewise-power", "share": [0.5], "weights": [1]}),
        "piecewise-power | did you mean 'shares'?",
    ),
    invalid("bias-none", lambda: bias_from_json(None), "bias | 'name' | None"),
    invalid("bias-without-name", lambda: bias_from_json({"alpha": 2}), "bias | 'name'"),
    unknown(
        "bias-unknown", lambda: bias_from_json({"name": "powr"}), "bias | did you mean 'power'?"
    ),
    invalid("bias-name-number", lambda: bias_from_json({"name": 3}), "bias | 3"),
    invalid("bias-name-list", lambda: bias_from_json({"name": ["power"]}), "bias"),
    unknown(
        "bias-unknown-key",
        lambda: bias_from_json({"name": "power", "alfa": 2}),
        "parameter of bias power | did you mean 'alpha'?",
    ),
    unknown(
        "bias-key-of-a-model-without-any",
        lambda: bias_from_json({"name": "sigmoid", "alpha": 2}),
        "parameter of bias sigmoid | 'alpha'",
    ),
    invalid(
        "bias-clipped-without-base",
        lambda: bias_from_json({"name": "clipped", "low": 0.1}),
        "base | given",
    ),
    invalid(
        "bias-clipped-inner-value",
        lambda: bias_from_json({"name": "clipped", "base": {"name": "power", "alpha": 0}}),
        "alpha | got 0",
    ),
    invalid(
        "bias-custom-without-functions",
        lambda: bias_from_json(Custom(identity, 1.0, "mine").to_json()),
        "bias label | functions={'mine': f}",
    ),
    unknown(
        "bias-custom-of-another-label",
        lambda: bias_from_json(Custom(identity, 1.0, "mine").to_json(), {"mein": identity}),
        "bias label | did you mean 'mein'?",
    ),
    unknown(
        "bias-custom-unknown-key",
        lambda: bias_from_json(
            {**Custom(identity, 1.0, "mine").to_json(), "slope": 1}, {"mine": identity}
        ),
        "parameter of bias custom | 'slope'",
    ),
]

BANDITS = [
    # True means.
    invalid("means-empty", lambda: AffinityBandit([]), "true_means | 1 to 100,000"),
    invalid("means-too-many", lambda: AffinityBandit([0.5] * 100_001), "true_means | 100001"),
    invalid("means-text", lambda: AffinityBandit("0.4,0.6"), "true_means | list"),
    invalid("means-number", lambda: AffinityBandit(0.4), "true_means | list | 0.4"),
    invalid("means-array-without-axis", lambda: AffinityBandit(np.array(0.4)), "true_means | list"),
    invalid("means-matrix", lambda: AffinityBandit(np.eye(2)), "true_means | array"),
    invalid("means-beyond-1", lambda: AffinityBandit([0.4, 1.2]), "true_means[1] | 1.2"),
    invalid("means-nan", lambda: AffinityBandit([math.nan]), "true_means[0] | nan"),
    invalid("means-boolean", lambda: AffinityBandit([0.4, True]), "true_means[1]"),
    invalid(
        "means-gaussian-infinite",
        lambda: AffinityBandit([math.inf], noise=Gaussian()),
        "true_means[0] | 1e+09 | inf",
    ),
    # Bias.
    unknown(
        "bandit-bias-unknown",
        lambda: AffinityBandit([0.4], "powr"),
        "bias | constant | sigmoid | did you mean 'power'?",
    ),
    invalid("bandit-bias-number", lambda: AffinityBandit([0.4], 2.0), "bias | Power | name | 2.0"),
    invalid("bandit-bias-class", lambda: AffinityBandit([0.4], Power), "bias | Power(1.0)"),
    invalid("bandit-bias-incomplete", lambda: AffinityBandit([0.4], "clipped"), "base | given"),
    invalid(
        "bandit-gated-beyond-1",
        lambda: AffinityBandit([0.4, 0.6], bias=Constant(2.0)),
        "bias | gated | 2.0",
    ),
    invalid(
        "bandit-gaussian-gated-beyond-1",
        lambda: AffinityBandit([0.4], Constant(1.5), noise="gaussian", mechanism="gated"),
        "bias | at most 1 | 1.5",
    ),
    # Initial pulls.
    invalid(
        "pulls-too-few",
        lambda: AffinityBandit([0.4, 0.6], initial_pulls=[1]),
        "initial_pulls | as long as true_means (2) | 1 entries",
    ),
    invalid(
        "pulls-zero",
        lambda: AffinityBandit([0.4, 0.6], initial_pulls=[1, 0]),
        "initial_pulls[1] | from 1 | got 0",
    ),
    invalid(
        "pulls-fraction",
        lambda: AffinityBandit([0.4], initial_pulls=[1.5]),
        "initial_pulls[0] | whole | 1.5",
    ),
    invalid(
        "pulls-infinite-half-precision",
        lambda: AffinityBandit([0.4], initial_pulls=[np.float16("inf")]),
        "initial_pulls[0] | whole | inf",
    ),
    invalid(
        "pulls-number",
        lambda: AffinityBandit([0.4], initial_pulls=3),
        "initial_pulls | list | got 3",
    ),
    invalid(
        "pulls-sum-too-large",
        lambda: AffinityBandit([0.4, 0.6], initial_pulls=[10**15, 1]),
        "initial_pulls | 1000000000000001",
    ),
    # Noise and mechanism.
    unknown(
        "noise-unknown",
        lambda: AffinityBandit([0.4], noise="gausian"),
        "noise | did you mean 'gaussian'?",
    ),
    invalid("noise-number", lambda: AffinityBandit([0.4], noise=3), "noise | got 3"),
    invalid("noise-class", lambda: AffinityBandit([0.4], noise=Bernoulli), "noise"),
    invalid(
        "noise-name-list", lambda: AffinityBandit([0.4], noise={"name": ["gaussian"]}), "noise"
    ),
    unknown(
        "noise-unknown-key",
        lambda: AffinityBandit([0.4], noise={"name": "gaussian", "sgma": 1}),
        "parameter of noise gaussian | did you mean 'sigma'?",
    ),
    invalid("sigma-negative", lambda: Gaussian(-1.0), "sigma | at least 0 | -1.0"),
    invalid("sigma-nan", lambda: Gaussian(math.nan), "sigma | nan"),
    unknown(
        "mechanism-unknown",
        lambda: AffinityBandit([0.4], mechanism="scald"),
        "mechanism | did you mean 'scaled'?",
    ),
    unknown("mechanism-number", lambda: AffinityBandit([0.4], mechanism=1), "mechanism"),
    # Memory.
    invalid("memory-zero", lambda: AffinityBandit([0.4], memory=0), "memory | from 1"),
    invalid("memory-boolean", lambda: AffinityBandit([0.4], memory=True), "memory"),
    invalid("memory-too-large", lambda: AffinityBandit([0.4], memory=10**9), "memory"),
    refused("leaving-order-without-memory", BANDIT.leaving_order, "memory"),
    # Who joins and who judges.
    invalid("joining-part-above-one", lambda: Joining(1.01), "joining.part | [0, 1]"),
    invalid("joining-part-negative", lambda: Joining(-0.01), "joining.part | [0, 1]"),
    invalid("joining-leaving", lambda: Joining(leaving=1.01), "joining.leaving | [0, 1]"),
    invalid("joining-above-huge", lambda: Joining(above=1.1e9), "joining.above"),
    invalid("joining-above-tiny", lambda: Joining(above=-1.1e9), "joining.above"),
    invalid("joining-above-nan", lambda: Joining(above=math.nan), "joining.above"),
    unknown("joining-when", lambda: Joining(when="never"), "joining.when"),
    unknown("judges-unknown", lambda: Judges("everybody"), "judges.who"),
    invalid("judges-seats-zero", lambda: Judges("panel", seats=0), "judges.seats | from 1"),
    unknown(
        "judges-seating", lambda: Judges("panel", seats=2, seating="by rank"), "judges.seating"
    ),
    # Questions about a bandit.
    invalid("feedback-arm", lambda: BANDIT.expected_feedback(2, 0.5), "arm | 0 to 1"),
    invalid("feedback-share", lambda: BANDIT.expected_feedback(0, 1.5), "share | 1.5"),
    invalid("regret-of-three-arms", lambda: BANDIT.regret([1, 2, 3]), "pulls"),
    # Saved descriptions.
    invalid("bandit-none", lambda: AffinityBandit.from_json(None), "bandit | None"),
    invalid("bandit-without-means", lambda: AffinityBandit.from_json({}), "true_means"),
    unknown(
        "bandit-unknown-key",
        lambda: AffinityBandit.from_json({"true_meens": [0.4]}),
        "parameter of the bandit | did you mean 'true_means'?",
    ),
]
