"""Whether one rater gives nearly all scores.

If rater r gives the next score with probability `SHARE` at most, whatever came before, then the
factor p / SHARE for a score of r's and (1 - p) / (1 - SHARE) for another's is at most 1 on average,
for every p above `SHARE`. The product needs no more than the counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from affinity_bandits import checks
from affinity_bandits.service.health.evidence import threshold

SHARE = 0.8
"""The part of all scores from which on they are nearly all: four of five."""
NEARLY_ALL = (0.85, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class OneRater:
    """One rater gives nearly all scores.

    Attributes:
        rater: who.
        scores: how many that rater gave.
        total: how many there are.
    """

    rater: str
    scores: int
    total: int


def find_one_rater(scores: Mapping[str, int]) -> OneRater | None:
    """Return the rater who gives more than four of five scores; None if nobody does.

    It may be called at any time; the probability of ever finding a rater who gives each score with
    probability `SHARE` at most, whatever came before, is at most `LEVEL`.

    Args:
        scores: how many each rater gave, in the order in which they gave their first.
    """
    for rater, count in scores.items():
        checks.integer(f"scores of {rater}", count, low=0)
    total = sum(scores.values())
    for place, (rater, own) in enumerate(scores.items(), start=1):
        wealth = sum(_wealth(one, own, total) for one in NEARLY_ALL) / len(NEARLY_ALL)
        # A union over raters, who are not known before they come: the k-th has 1 / (k (k + 1)).
        if wealth > 0 and math.log(wealth) >= threshold() + math.log(place * (place + 1)):
            return OneRater(rater, own, total)
    return None


def _wealth(assumed: float, own: int, total: int) -> float:
    if assumed == 1.0 and own < total:
        return 0.0
    others = (total - own) * math.log((1.0 - assumed) / (1.0 - SHARE)) if own < total else 0.0
    return math.exp(min(700.0, own * math.log(assumed / SHARE) + others))
