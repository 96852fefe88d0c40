"""The power of a log: the probability of "shown", computed from who judged whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from affinity_bandits.audit.differences import Differences
from affinity_bandits.audit.evidence import RATIO, THRESHOLD, log_evidence

DRAWS = 100
WORK = 2_000_000
"""Simulated differences per favor, from which on fewer logs are simulated."""
FEWEST_DRAWS = 10


def compute_power(
    differences: list[Differences], deviation: float, favors: tuple[float, ...], draws: int = DRAWS
) -> tuple[float, ...]:
    """Return, for each favor, how often bets would have reached 20 to 1.

    Args:
        differences: who judged whom, and how much more lenient one group's judges are than the
            other's, which the bets allow for (`RATIO`) and pay for. Their favor is ignored.
        deviation: standard deviation of a single score, as a fraction of the scale.
        favors: as fractions of the scale, the smallest first.
        draws: simulated logs per favor; fewer for a long log.
    """
    if not differences or not len(differences[0]):
        return (0.0,) * len(favors)
    one = differences[0]
    draws = min(draws, max(FEWEST_DRAWS, WORK // len(one)))
    generator = np.random.default_rng(0)
    noise = deviation * np.sqrt(one.information / 2.0)
    lenience = np.zeros(len(one))
    for number in np.unique(one.kind):
        rows = one.kind == number
        lenience[rows] = (one.x + one.z)[rows].sum() / one.information[rows].sum() / 2.0
    level = lenience * one.information
    found: list[float] = []
    for favor in favors:
        if found and found[-1] == 1.0:  # a larger favor is seen as well
            found.append(1.0)
            continue
        shift = favor * one.information / 2.0
        reached = 0
        for _ in range(draws):
            first, second = generator.normal(0.0, 1.0, (2, len(one))) * noise
            drawn = replace(one, x=level + shift + first, z=level - shift + second)
            reached += log_evidence([drawn], ratio=RATIO) >= THRESHOLD
        found.append(reached / draws)
    return tuple(found)
