"""Verdicts: a claim holds if a confidence bound says so, not if an average does.

Every bound is one-sided at the level 0.995, so that of some fifty claims that just fail to be
true, one in four runs would wrongly pass a single one; seeds are fixed, so a verdict is the same
at every run.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
    sentence: str, label: str, samples: npt.ArrayLike, threshold: float, unit: str = ""
) -> Claim:
    """Claim that a mean exceeds a threshold: its lower Student bound does."""
    mean, low, _ = mean_interval(samples, TWO_SIDED)
    return Claim(
        sentence,
        label,
        f"Student's lower bound of the mean above {threshold:g}, level {LEVEL:.1%}",
        f"mean {float(mean):.4g}{unit} of {np.size(samples)}, lower bound {float(low):.4g}",
        bool(low > threshold),
    )


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
