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
class AnswerTimes:
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


def find_standstill(times: AnswerTimes) -> Standstill | None:
    """Return how a round stands still; None if it does not."""
    if times.outstanding <= 0:
        return None
    if times.gaps is None:
        if (
            times.outstanding < FEWEST_UNANSWERED
            or times.silent <= FIRST_LEASES * times.lease_seconds
        ):
            return None
        return Standstill(times.silent, None, times.outstanding)
    usual = sum(times.gaps) / len(times.gaps) if times.gaps else 0.0
    if times.silent <= longest_usual(times):
        return None
    return Standstill(times.silent, usual, times.outstanding)


def longest_usual(times: AnswerTimes) -> float:
    """Return the longest silence, in seconds, that a round's own pace and lease explain."""
    if not times.gaps:
        return math.inf  # one tell alone has no pace
    least = max(LEASES * times.lease_seconds, LONGEST_TIMES * max(times.longest, *times.gaps, 0.0))
    number = len(times.gaps)
    tries = times.events * (times.events + 1) / LEVEL
    factor = number * math.expm1(math.log(tries) / number)
    return max(least, factor * sum(times.gaps) / number)
