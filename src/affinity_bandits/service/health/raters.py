"""Whether one rater gives nearly all scores.

If rater r gives the next score with probability `SHARE` at most, whatever came before, then the
factor p / SHARE for a score of r's and (1 - p) / (1 - SHARE) for another's is at most 1 on average,
for every p above `SHARE`. The product needs no more than the counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from affinity_bandits import checks
from affinity_bandits.service.health.evidence import threshold

SHARE = 0.8
"""The part of all scores from which on they are nearly all: four of five."""
NEARLY_ALL = (0.85, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class OneRater:
    """The rater who gave most scores.

    Attributes:
        rater: who.
        scores: how many that rater gave.
        total: how many all raters gave.
        place: which rater it was to give a first score, from 1.
    """

    rater: str
    scores: int
    total: int
    place: int


def gives_nearly_all(one: OneRater) -> bool:
    """Return whether a rater gives more than four of five scores.

    It may be asked at any time, of whoever gave most by then: the probability of ever being told so
    of anybody, if each gives the next score with probability `SHARE` at most, whatever came before,
    is at most `LEVEL`. Whoever gave `SHARE` or less has no wealth above 1.
    """
    place = checks.integer("place", one.place, low=1)
    own = checks.integer("scores", one.scores, low=0)
    total = checks.integer("total", one.total, low=own)
    wealth = sum(_wealth(each, own, total) for each in NEARLY_ALL) / len(NEARLY_ALL)
    # A union over raters, who are not known before they come: the k-th has 1 / (k (k + 1)).
    return wealth > 0 and math.log(wealth) >= threshold() + math.log(place * (place + 1))


def _wealth(assumed: float, own: int, total: int) -> float:
    if assumed == 1.0 and own < total:
        return 0.0
    others = (total - own) * math.log((1.0 - assumed) / (1.0 - SHARE)) if own < total else 0.0
    return math.exp(min(700.0, own * math.log(assumed / SHARE) + others))
