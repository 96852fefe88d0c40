"""The samples of the printed coupling have the wrong law, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from affinity_bandits.paper.paths import SMALL as SMALL_WORLD
from affinity_bandits.paper.paths import walks, world_of


@pytest.mark.slow
def test_the_wrong_law_of_the_printed_samples_shows_in_exact_arithmetic() -> None:
    """Every path of the first five pulls, with fractions, by Algorithm 3 line by line.

    Given the frozen environment's own past and choice, its sample of arm 2 should be Bernoulli
    with the frozen mean, 4/9; after the past below it is not. Nor are the biased environment's
    samples right: of arm 1, given its own past and choice, too high after one past and too low
    after another. Samples that do not come from a queue are, in both.
    """
    means, initial, frozen_initial = (Fraction(9, 10), Fraction(8, 10)), SMALL_WORLD[1], 8
    share = Fraction(frozen_initial, frozen_initial + initial[1])
    frozen = (means[0] * share, means[1] * (1 - share))
    paths: dict[tuple[Any, Any, Any], Fraction] = {((), (), ()): Fraction(1)}
    seen: dict[Any, list[Fraction]] = {}
    seen_biased: dict[Any, list[Fraction]] = {}
    deviation = Fraction(0)
    for t in range(1, 6):
        longer: dict[tuple[Any, Any, Any], Fraction] = {}
        for (past_biased, past_frozen, queue), chance in paths.items():
            a, b = _ucb(t, past_biased), _ucb(t, past_frozen)
            pulled = [sum(arm == i for arm, _ in past_biased) for i in (0, 1)]
            biased = [
                means[i] * Fraction(initial[i] + pulled[i], sum(initial) + t - 1) for i in (0, 1)
            ]
            left = queue
            if a == b == 0:
                draws = _thinned(frozen[0], biased[0], swap=True)
            elif a == b == 1:
                draws = _thinned(biased[1], frozen[1], swap=False)
            elif a == 1:
                draws = _free(biased[1], frozen[0])
            else:
                (old_biased, old_frozen, mean), *rest = queue
                left = tuple(rest)
                draws = _free(biased[0] / frozen[0] * old_frozen, frozen[1] / mean * old_biased)
            for (y, z), p in draws.items():
                after = (*left, (y, z, biased[1])) if (a, b) == (1, 0) else left
                key = ((*past_biased, (a, y)), (*past_frozen, (b, z)), after)
                longer[key] = longer.get(key, Fraction(0)) + chance * p
                tally = seen.setdefault((past_frozen, b), [Fraction(0), Fraction(0)])
                tally[z] += chance * p
                own = seen_biased.setdefault(
                    (past_biased, a, biased[a]), [Fraction(0), Fraction(0)]
                )
                own[y] += chance * p
                deviation += chance * p * (z - frozen[1]) if b == 1 else 0
        paths = longer
    assert sum(paths.values()) == 1
    no, yes = seen[((0, 1), (1, 0), (0, 0), (0, 0)), 1]
    assert yes / (yes + no) == Fraction(72257, 225225) < frozen[1] - Fraction(1, 10)
    chances = {
        (past, arm): (yes / (yes + no), mean)
        for (past, arm, mean), (no, yes) in seen_biased.items()
    }
    assert chances[((0, 0), (1, 1), (1, 0), (1, 0)), 0] == (Fraction(1671, 12625), Fraction(3, 25))
    assert chances[((0, 1), (1, 1), (0, 1), (1, 1)), 0] == (Fraction(18, 125), Fraction(9, 50))
    wrong = [(past, arm) for (past, arm), (found, mean) in chances.items() if found != mean]
    assert len(wrong) == 7
    # Only arm 1 comes from a queue here, and the queues are empty before the fifth pull.
    assert all(arm == 0 and len(past) == 4 for past, arm in wrong)
    walked = [
        path.deviation[1, 1]
        for path in walks(world_of(SMALL_WORLD, 5, 1.0), 10_000, 0, 0, queues=True)
    ]
    spread = np.std(walked) / np.sqrt(len(walked))
    assert abs(np.mean(walked) - float(deviation)) < 4 * spread
    assert float(deviation) < -0.04


def _ucb(t: int, past: Any) -> int:
    if t <= 2:
        return t - 1
    indices = []
    for i in (0, 1):
        values = [y for arm, y in past if arm == i]
        indices.append(sum(values) / len(values) + math.sqrt(2 * math.log(t) / len(values)))
    return 0 if indices[0] >= indices[1] else 1


def _thinned(high: Fraction, low: Fraction, *, swap: bool) -> dict[tuple[int, int], Fraction]:
    """The law of (Y biased, Y frozen) when the one with the lower mean is thinned."""
    law = {(1, 1): low, (1, 0): high - low, (0, 0): 1 - high}
    return {(pair[::-1] if swap else pair): p for pair, p in law.items()}


def _free(biased: Fraction, frozen: Fraction) -> dict[tuple[int, int], Fraction]:
    return {
        (y, z): (biased if y else 1 - biased) * (frozen if z else 1 - frozen)
        for y in (0, 1)
        for z in (0, 1)
    }
