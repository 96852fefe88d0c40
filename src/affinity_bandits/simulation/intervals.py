"""Confidence intervals of the result tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
from affinity_bandits.kernels import FloatArray


def mean_interval(
    samples: npt.ArrayLike, level: float = 0.95, axis: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, lower and upper end of Student's interval along an axis.

    With one sample the interval is infinite: nothing is known of the spread.
    """
    from scipy.special import stdtrit

    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    values = np.asarray(samples, dtype=np.float64)
    count = values.shape[axis]
    mean = values.mean(axis=axis)
    if count < 2:
        return mean, np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = stdtrit(count - 1, 0.5 + level / 2.0) * values.std(axis=axis, ddof=1) / np.sqrt(count)
    return mean, mean - half, mean + half


def proportion_interval(hits: int, trials: int, level: float = 0.95) -> tuple[float, float, float]:
    """Return the proportion and its exact (Clopper-Pearson) interval.

    >>> [round(x, 4) for x in proportion_interval(0, 100)]
    [0.0, 0.0, 0.0362]
    """
    from scipy.special import betaincinv

    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    tail = (1.0 - level) / 2.0
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1.0 - tail))
    return hits / trials, low, high
