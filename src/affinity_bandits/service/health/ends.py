"""Whether nearly all scores of a group are at one end of the scale.

Let D be how far a score is from an end, as a part of the range. If D is `NEAR` or more on average,
whatever came before, then exp(-t D) / (1 - (1 - exp(-t)) NEAR) is at most 1 on average, for every
t > 0, since the exponential is convex. The product over all answers needs no more than their number
and their sum. docs/health.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from affinity_bandits.service.health.evidence import (
    Array,
    by_arm,
    evidence,
    log_sum,
    start_prior,
    threshold,
)

NEAR = 0.05
"""How near to an end a group's scores are on average if it is at that end, in parts of the range.

Where all groups are at the same end, no two of them differ by more than this. Plans are made for
differences of about 0.05, so a comparison of such scores sees next to nothing of what it is for."""
RATES = (1.0, 2.0, 4.0, 6.0)
ENDS = ("lowest", "highest")


@dataclass(frozen=True)
class RoundScores:
    """The scores of a round.

    Attributes:
        number: of the round.
        arms: those that have scores.
        answers: how many each has, in the same order.
        totals: the sum of each arm's scores, mapped to [0, 1].
    """

    number: int
    arms: tuple[int, ...]
    answers: tuple[int, ...]
    totals: tuple[float, ...]


@dataclass(frozen=True)
class AtEnd:
    """Nearly all scores of some groups are at one end.

    Attributes:
        end: "lowest" or "highest".
        arms: the groups.
        all: whether these are all groups that are compared.
        round: from which on.
        answers: of these groups since then.
        distance: how far their scores were from the end, on average, in parts of the range.
    """

    end: Literal["lowest", "highest"]
    arms: tuple[int, ...]
    all: bool
    round: int
    answers: int
    distance: float


def find_at_end(
    rounds: Sequence[RoundScores], arms: int, compared: Collection[int]
) -> AtEnd | None:
    """Return the groups whose scores are at one end now; None if there are none.

    It may be called at any time; the probability of ever finding a group of which scores are
    `NEAR` or more from the end, on average and whatever came before, is at most `LEVEL`.

    Args:
        rounds: in increasing order; the last one may be open.
        arms: how many the campaign has.
        compared: those that may still be the best.
    """
    if not rounds:
        return None
    steps = _steps(rounds, arms)
    numbers = [one.number for one in rounds]
    now = evidence(steps, numbers)[-1] - math.log(steps[0].size)
    strong = log_sum(now, (1,)) >= threshold()
    found = [
        [arm for arm in range(arms) if strong[end, arm] and arm in compared]
        for end in range(len(ENDS))
    ]
    end = max(range(len(ENDS)), key=lambda one: len(found[one]))
    if not found[end]:
        return None
    best = steps[:, end, :, found[end][0]]
    beginnings = best[::-1].cumsum(axis=0)[::-1].max(axis=1) + np.log(
        [start_prior(number) for number in numbers]
    )
    first = int(beginnings.argmax())
    chosen = set(found[end])
    told = [
        (answers, total if end == 0 else answers - total)
        for one in rounds[first:]
        for arm, answers, total in zip(one.arms, one.answers, one.totals, strict=True)
        if arm in chosen
    ]
    answers = sum(count for count, _ in told)
    return AtEnd(
        end="lowest" if end == 0 else "highest",
        arms=tuple(found[end]),
        all=chosen >= set(compared),
        round=numbers[first],
        answers=answers,
        distance=max(0.0, sum(far for _, far in told)) / max(1, answers),
    )


def _cost(rate: float) -> float:
    return math.log1p(-(1.0 - math.exp(-rate)) * NEAR)


def _steps(rounds: Sequence[RoundScores], arms: int) -> Array:
    """Return what rounds multiply each bet by, as logarithms: by round, end, rate and arm."""
    answers = by_arm(rounds, arms, [one.answers for one in rounds])
    low = by_arm(rounds, arms, [one.totals for one in rounds])
    rates = np.array(RATES)[:, np.newaxis]
    cost = np.array([_cost(rate) for rate in RATES])[:, np.newaxis]
    steps = np.empty((len(rounds), len(ENDS), len(RATES), arms))
    for end, far in enumerate((low, answers - low)):
        steps[:, end] = -rates * far[:, np.newaxis] - cost * answers[:, np.newaxis]
    return steps
