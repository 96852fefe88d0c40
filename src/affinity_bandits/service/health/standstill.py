"""Whether a round stands still: no answer for much longer than its own pace and lease explain.

If times between tells are exponential with one mean, the next is more than c times the mean of the
last g with probability (1 + c/g)^-g. Making that `LEVEL` / (m (m + 1)) after the m-th event, of
which the sum over all m is `LEVEL`, gives c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from affinity_bandits.service.health.evidence import LEVEL

LEASES = 2.0
"""A round does not stand still until this many leases have passed without an answer."""
LONGEST_TIMES = 2.0
"""Nor until it has been silent so many times as long as it ever was before it went on."""
FEWEST_UNANSWERED = 14
"""Slots without an answer that it takes where no pace is known: 0.6^14 is below `LEVEL`."""
FIRST_LEASES = 3.0


@dataclass(frozen=True)
class Pace:
    """How answers have come, and what is still owed.

    Attributes:
        silent: seconds since the last tell that counted, or, if it is not among the last events,
            since the first lease that is.
        gaps: seconds between the tells among the last events that counted, in order; None if
            there are no such tells.
        events: of the campaign so far.
        outstanding: slots that were handed out and have no answer.
        lease_seconds: how long a lease is.
        longest: the longest silence, in seconds, after which answers came again.
    """

    silent: float
    gaps: Sequence[float] | None
    events: int
    outstanding: int
    lease_seconds: float
    longest: float = 0.0


@dataclass(frozen=True)
class Standstill:
    """A round that stands still.

    Attributes:
        silent: for how many seconds.
        usual: seconds between two tells before that; None if it is too long ago to know.
        outstanding: slots without an answer.
    """

    silent: float
    usual: float | None
    outstanding: int


def find_standstill(pace: Pace) -> Standstill | None:
    """Return how a round stands still; None if it does not."""
    if pace.outstanding <= 0:
        return None
    if pace.gaps is None:
        if pace.outstanding < FEWEST_UNANSWERED or pace.silent <= FIRST_LEASES * pace.lease_seconds:
            return None
        return Standstill(pace.silent, None, pace.outstanding)
    usual = sum(pace.gaps) / len(pace.gaps) if pace.gaps else 0.0
    if pace.silent <= longest_usual(pace):
        return None
    return Standstill(pace.silent, usual, pace.outstanding)


def longest_usual(pace: Pace) -> float:
    """Return the longest silence, in seconds, that a round's own pace and lease explain."""
    if not pace.gaps:
        return math.inf  # one tell alone has no pace
    least = max(LEASES * pace.lease_seconds, LONGEST_TIMES * max(pace.longest, *pace.gaps, 0.0))
    number = len(pace.gaps)
    tries = pace.events * (pace.events + 1) / LEVEL
    times = number * math.expm1(math.log(tries) / number)
    return max(least, times * sum(pace.gaps) / number)
