"""Retries: which replies are retried, how often, and after what pauses."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TRANSIENT = frozenset({429, 502, 503, 504})
"""Statuses that say nothing against the request itself."""
FIRST_PAUSE, LARGEST_BACKOFF = 0.1, 10.0
LONGEST_PAUSE = 60.0
"""Seconds; a service that asks for more patience than that is given up."""


@dataclass(frozen=True)
class Reply:
    """What came back: of the service, or of something in between."""

    status: int
    content: bytes
    retry_after: str | None = None


@dataclass(frozen=True)
class Lost:
    """Nothing came back; the request may have been carried out all the same."""

    reason: str


@dataclass(frozen=True)
class Retries:
    """A bounded number of tries with growing pauses.

    Args:
        attempts: tries at most.
        spread: a number between two others, for pauses that do not keep step with other clients'.
    """

    attempts: int
    spread: Callable[[float, float], float] = random.uniform

    def pause(self, tries: int, outcome: Reply | Lost, *, transient: bool) -> float | None:
        """Return how long to wait before the next try; None if there is to be none.

        Args:
            tries: made so far.
            outcome: of the last one.
            transient: whether it may go better the next time.
        """
        if not transient or tries >= self.attempts:
            return None
        backoff = min(LARGEST_BACKOFF, FIRST_PAUSE * 2.0 ** (tries - 1))
        asked = seconds_of(outcome.retry_after) if isinstance(outcome, Reply) else 0.0
        if asked > LONGEST_PAUSE:
            return None
        return max(asked, backoff / 2) + self.spread(0.0, backoff / 2)


def seconds_of(retry_after: str | None) -> float:
    """Return the seconds that a Retry-After header asks for; 0 where it says nothing sensible.

    >>> seconds_of("3"), seconds_of(None), seconds_of("soon")
    (3.0, 0.0, 0.0)
    """
    if retry_after is None:
        return 0.0
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            until = parsedate_to_datetime(retry_after)
        except ValueError:
            return 0.0
        zoned = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
        seconds = (zoned - datetime.now(UTC)).total_seconds()
    return seconds if seconds > 0.0 else 0.0  # also where it is not a number
