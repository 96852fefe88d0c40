"""Verdicts: a claim holds if a confidence bound says so, not if an average does.

Every bound is one-sided at the level 0.995, so that of some fifty claims that just fail to be
true, one in four runs would wrongly pass a single one; seeds are fixed, so a verdict is the same
at every run.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from affinity_bandits.kernels import FloatArray
from affinity_bandits.paper.item import Claim
from affinity_bandits.simulation.intervals import mean_interval, proportion_interval

LEVEL = 0.995
TWO_SIDED = 2.0 * LEVEL - 1.0
"""The two-sided level whose ends are one-sided bounds at LEVEL."""


def proportion_above(sentence: str, label: str, hits: int, trials: int, threshold: float) -> Claim:
    """Claim that a probability exceeds a threshold: its lower Clopper-Pearson bound does."""
    rate, low, _ = proportion_interval(int(hits), int(trials), TWO_SIDED)
    return Claim(
        sentence,
        label,
        f"exact lower bound of the probability above {threshold:g}, level {LEVEL:.1%}",
        f"{hits} of {trials} ({rate:.4g}), lower bound {low:.4g}",
        low > threshold,
    )


def proportion_below(sentence: str, label: str, hits: int, trials: int, threshold: float) -> Claim:
    """Claim that a probability is below a threshold: its upper Clopper-Pearson bound is."""
    rate, _, high = proportion_interval(int(hits), int(trials), TWO_SIDED)
    return Claim(
        sentence,
        label,
        f"exact upper bound of the probability below {threshold:g}, level {LEVEL:.1%}",
        f"{hits} of {trials} ({rate:.4g}), upper bound {high:.4g}",
        high < threshold,
    )


def mean_above(
    sentence: str,
    label: str,
    samples: npt.ArrayLike,
    threshold: float,
    possible: tuple[float, float],
    unit: str = "",
) -> Claim:
    """Claim that the mean of a bounded quantity exceeds a threshold: its lower bound does.

    The bound is valid for every law between the ends of what is possible.
    """
    mean, low, _ = mean_interval(samples, *possible, TWO_SIDED)
    return Claim(
        sentence,
        label,
        f"lower bound of the mean above {threshold:g}, valid for every law between "
        f"{possible[0]:g} and {possible[1]:g}, level {LEVEL:.1%}",
        f"mean {float(mean):.4g}{unit} of {np.size(samples)}, lower bound {float(low):.4g}",
        bool(low > threshold),
    )


def student_interval(
    samples: npt.ArrayLike, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, lower and upper end of Student's interval.

    It takes the mean for Gaussian. That is nothing to go by for regret or pulls, which are bimodal.
    It is used for what has no bounded range (log-likelihood ratios) and for logarithms of pulls and
    exponents fitted to them, where a run that goes astray counts for a few times the others and not
    for thousands of them.
    """
    from scipy.special import stdtrit

    values = np.asarray(samples, dtype=np.float64)
    count = len(values)
    mean = values.mean()
    half = stdtrit(count - 1, 0.5 + level / 2.0) * values.std(ddof=1) / np.sqrt(count)
    return mean, mean - half, mean + half


def number_within(
    sentence: str, label: str, value: float, low: float, high: float, what: str
) -> Claim:
    """Claim that a number computed without chance, or fitted, lies in an interval."""
    return Claim(
        sentence,
        label,
        f"{what} in [{low:g}, {high:g}]",
        f"{what} is {value:.4g}",
        bool(low <= value <= high),
    )


def always(sentence: str, label: str, failures: int, cases: int, what: str) -> Claim:
    """Claim that something holds in every case looked at."""
    return Claim(
        sentence,
        label,
        f"every one of the {what} looked at",
        f"{cases - failures:,} of {cases:,} {what}",
        failures == 0 and cases > 0,
    )
