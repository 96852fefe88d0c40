"""Wrong noises."""

from __future__ import annotations

import math
from collections.abc import Callable

from affinity_bandits import (
    AffinityBandit,
    Beta,
    Constant,
    CustomNoise,
    Empirical,
    Ordinal,
    noise_from_json,
)
from tests.base.errors.table import invalid, unknown


def even(mean: float, u: float) -> float:
    return mean + (2.0 * u - 1.0) * min(mean, 1.0 - mean)


def closure() -> Callable[[float, float], float]:
    offset = 0.0
    return lambda mean, u: mean + offset


NOISES = [
    # Ordinal.
    invalid("ordinal-one-score", lambda: Ordinal(1), "scores | from 2 to 100 | got 1"),
    invalid("ordinal-half-a-score", lambda: Ordinal(2.5), "scores | whole | 2.5"),
    invalid("ordinal-text", lambda: Ordinal("five"), "scores | list | 'five'"),
    invalid("ordinal-too-many", lambda: Ordinal(list(range(101))), "scores | 2 to 100 | got 101"),
    invalid("ordinal-falling", lambda: Ordinal([1, 3, 2]), "scores | ascending | [1.0, 3.0, 2.0]"),
    invalid("ordinal-nan", lambda: Ordinal([1, math.nan]), "scores[1] | nan"),
    invalid("shape-short", lambda: Ordinal(3, shape=[0.5, 0.5]), "shape | scores (3) | 2 entries"),
    invalid("shape-sum", lambda: Ordinal(2, shape=[0.5, 0.4]), "shape | add up to 1 | 0.9"),
    invalid("shape-negative", lambda: Ordinal(2, shape=[1.5, -0.5]), "shape[0] | 1.5"),
    invalid(
        "shape-and-probabilities",
        lambda: Ordinal(2, shape=[0.5, 0.5], probabilities=[[0.5, 0.5]]),
        "shape | left out | [0.5, 0.5]",
    ),
    invalid(
        "probabilities-one-row-short",
        lambda: Ordinal(2, probabilities=[[0.5, 0.5], [1.0]]),
        "probabilities[1] | as long as scores (2) | 1 entries",
    ),
    invalid(
        "probabilities-not-rows",
        lambda: Ordinal(2, probabilities=[0.5, 0.5]),
        "probabilities[0] | list | 0.5",
    ),
    invalid(
        "probabilities-of-other-arms",
        lambda: AffinityBandit([0.5], noise=Ordinal(2, probabilities=[[0.5, 0.5]] * 2)),
        "true_means | 2 arms | 1 entries",
    ),
    invalid(
        "probabilities-of-another-mean",
        lambda: AffinityBandit([0.6], noise=Ordinal(2, probabilities=[[0.5, 0.5]])),
        "true_means[0] | 0.5, the mean of probabilities[0] | 0.6",
    ),
    invalid("true-means-without-probabilities", lambda: Ordinal().true_means, "probabilities"),
    invalid(
        "means-in-stars",
        lambda: AffinityBandit([3.2, 3.8], noise="ordinal"),
        "true_means[0] | [0, 1] | scores 1 to 5 | noise.mapped | 3.2",
    ),
    invalid(
        "means-beyond-the-shape",
        lambda: AffinityBandit([0.9], noise=Ordinal(3, shape=[0.5, 0.5, 0.0])),
        "true_means[0] | [0, 0.5] | 0.9",
    ),
    invalid("mapped-text", lambda: Ordinal().mapped("three"), "scores | number | 'three'"),
    invalid("scores-of-text", lambda: Ordinal().as_scores(["a"]), "values | number | ['a']"),
    # Beta.
    invalid("beta-zero", lambda: Beta(0.0), "concentration | (0, 10000] | 0.0"),
    invalid("beta-too-sharp", lambda: Beta(1e5), "concentration | 100000"),
    invalid("beta-range", lambda: Beta(2.0, 5.0, 5.0), "highest | (5, 1e+09] | 5.0"),
    invalid("beta-lowest-text", lambda: Beta(2.0, "1"), "lowest | '1'"),
    # Empirical.
    invalid("column-empty", lambda: Empirical([]), "column | 1 to 100,000 | got 0"),
    invalid("column-out-of-range", lambda: Empirical([0.5, 1.5]), "column[1] | [0, 1] | 1.5"),
    invalid("column-text", lambda: Empirical("0.5"), "column | list | '0.5'"),
    invalid("column-range", lambda: Empirical([1.0], 2.0, 1.0), "highest | 1.0"),
    invalid(
        "column-mean-beyond-it",
        lambda: AffinityBandit([0.8], noise=Empirical([0.2, 0.6])),
        "true_means[0] | [0.2, 0.6] | 0.8",
    ),
    invalid(
        "column-too-many-laws",
        lambda: AffinityBandit([0.5] * 300, noise=Empirical([i / 1e4 for i in range(10_001)])),
        "true_means | at most 199 | got 300",
    ),
    # Samplers.
    invalid("sampler-number", lambda: CustomNoise(3), "sampler | got 3"),
    invalid("sampler-builtin", lambda: CustomNoise(math.pow), "sampler | plain"),
    invalid("sampler-closure", lambda: CustomNoise(closure()), "sampler | enclosing"),
    invalid("sampler-of-one-argument", lambda: CustomNoise(lambda mean: mean), "sampler | raised"),
    invalid("sampler-none", lambda: CustomNoise(lambda mean, u: None), "sampler | number | None"),
    invalid("sampler-nan", lambda: CustomNoise(lambda mean, u: math.nan), "sampler | nan"),
    invalid(
        "sampler-out-of-range",
        lambda: CustomNoise(lambda mean, u: mean + u - 0.5),
        "sampler | [0, 1] | at mean 0",
    ),
    invalid(
        "sampler-of-another-mean",
        lambda: CustomNoise(lambda mean, u: mean * mean),
        "sampler | the mean that it is given | at mean 0.0625",
    ),
    invalid("sampler-label", lambda: CustomNoise(even, label=3), "label | 3"),
    # Weights and mechanisms.
    invalid(
        "weights-beyond-1",
        lambda: AffinityBandit([0.4], Constant(1.5), noise="ordinal", mechanism="scaled"),
        "bias | at most 1 | scaled | 1.5",
    ),
    unknown(
        "mechanism-of-another-noise",
        lambda: AffinityBandit([0.4], noise="ordinal", mechanism="shifted"),
        "mechanism | gated, scaled | 'shifted'",
    ),
    unknown(
        "mechanism-redrawn-coin",
        lambda: AffinityBandit([0.4], mechanism="redrawn"),
        "mechanism | gated, scaled, shifted | 'redrawn'",
    ),
    # Saved descriptions.
    unknown("noise-misspelled", lambda: noise_from_json("ordnal"), "noise | mean 'ordinal'?"),
    invalid("noise-none", lambda: noise_from_json(None), "noise | 'name' | None"),
    unknown(
        "ordinal-unknown-key",
        lambda: noise_from_json({"name": "ordinal", "score": 5}),
        "parameter of noise ordinal | did you mean 'scores'?",
    ),
    invalid("empirical-without-column", lambda: noise_from_json("empirical"), "column | given"),
    invalid(
        "sampler-not-handed-in",
        lambda: noise_from_json(CustomNoise(even, label="mine").to_json()),
        "noise label | samplers={'mine': f}",
    ),
    unknown(
        "sampler-of-another-label",
        lambda: noise_from_json(CustomNoise(even, label="mine").to_json(), {"mein": even}),
        "noise label | did you mean 'mein'?",
    ),
]
