"""What Figures 8 and 9 share: Algorithm 1 on two arms, the gap between them varied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels import FloatArray
from affinity_bandits.noise import Gaussian
from affinity_bandits.paper.item import CellRunner, Data
from affinity_bandits.policies import Elimination
from affinity_bandits.policies.schedule import PublishedSchedule, Schedule

ARMS = 2
NOTES = (
    "Two Gaussian arms with variance 1, f(x) = x, mean of the suboptimal arm fixed and that of the "
    "optimal arm varied, 3 runs, as published. The paper gives no numbers: mu_1 = .2, T0 = (1, 1), "
    "n = 10^12, which every run decides long before, and Delta/K over the five octaves around "
    "2^-2, ..., 2^-6, sixteen gaps an octave, evenly spaced in the logarithm, none on a power of "
    "two."
)


@dataclass(frozen=True)
class Settings:
    """Gaps as exponents: Delta/K = 2**-x for x between these, so many an octave."""

    replicates: int
    bias: Bias = field(default_factory=Power)
    schedule: Schedule = field(default_factory=PublishedSchedule)
    first_mean: float = 0.2
    exponents: Sequence[float] = (1.5, 6.5)
    per_octave: int = 16
    horizon: int = 10**12


SETTINGS = {"quick": Settings(50), "full": Settings(1000), "as-published": Settings(3)}


def run(settings: Settings, runner: CellRunner) -> Data:
    """Count the pulls of the suboptimal arm, run by run and gap by gap."""
    low, high = settings.exponents
    count = round((high - low) * settings.per_octave)
    effective = 2.0 ** -(low + (np.arange(count) + 0.5) / settings.per_octave)
    cells = []
    for one in effective.tolist():
        means = (settings.first_mean, settings.first_mean + ARMS * one)
        bandit = AffinityBandit(means, settings.bias, noise=Gaussian())
        cells.append(Cell(bandit, Elimination(settings.schedule), settings.horizon))
    results = runner.results(cells, settings.replicates)
    # What the paper says happens is a matter of the published schedule, whatever is run.
    said = [expected(one, settings.horizon) for one in effective.tolist()]
    runs = settings.replicates
    return {
        "effective_gap": np.repeat(effective, runs),
        "gap": np.repeat(ARMS * effective, runs),
        "run": np.tile(np.arange(runs), count),
        "pulls": np.concatenate([result.pulls[0, :, -1, 0] for result in results]),
        "expected_pulls": np.repeat([pulls for pulls, _ in said], runs),
        "distance": np.repeat([distance for _, distance in said], runs),
    }


def expected(effective: float, horizon: int) -> tuple[int, float]:
    """Return what the paper says of a gap, and how sure that is.

    If the observed means are the true ones divided by K, the suboptimal arm is dropped after the
    first round r with 2**-r < Delta/K, after 1 + m_1 + ... + m_r pulls of it. The difference of
    two means of m_r feedbacks has the standard deviation sqrt(2 / m_r), which blurs the step: the
    second number says how many of those the nearest threshold is away.
    """
    schedule = PublishedSchedule()
    pulls, number, nearest = 1, 0, math.inf
    dropped = False
    while not dropped:
        number += 1
        repetitions = schedule.repetitions(number, ARMS, horizon)
        pulls += repetitions
        lag = effective - schedule.threshold(number)
        nearest = min(nearest, abs(lag) / math.sqrt(2.0 / repetitions))
        dropped = lag > 0.0
    return pulls, nearest


def by_run(data: Data, name: str) -> FloatArray:
    """Return a column as [gap, run]."""
    values = np.asarray(data[name], dtype=np.float64)
    return values.reshape(-1, len(np.unique(np.asarray(data["run"]))))
