"""What feedback is like, given the past: what a bandit produces, or what a theorem assumes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput

LAWS = ("bernoulli", "normal")
SAME = 1e-9
"""Relative difference up to which two constants count as equal: no theorem depends on it, and
products of rounded numbers differ by less."""


@dataclass(frozen=True)
class Feedback:
    """What is known of feedback, given the past. `Feedback()` says nothing.

    Args:
        low: it is at least this.
        high: it is at most this.
        sigma: it is sigma-subGaussian around its mean: E[exp(l (Y - E Y))] is at most
            exp(l**2 sigma**2 / 2) for every l. What lies in an interval is so with half of its
            width, which is put in where it is less.
        law: "bernoulli": it is 0 or 1. "normal": it is normal, and its standard deviation is
            sigma at every pull. None: neither is known.

    >>> Feedback(low=0.0, high=1.0).covers(Feedback(sigma=0.1))
    False
    >>> Feedback(sigma=1.0).covers(Feedback(low=0.0, high=1.0))
    True
    """

    low: float = -math.inf
    high: float = math.inf
    sigma: float = math.inf
    law: str | None = None

    def __post_init__(self) -> None:
        if not self.low <= self.high:  # also where one is nan
            raise InvalidInput("high", f"at least low ({self.low:g})", self.high)
        if not self.sigma >= 0.0:
            raise InvalidInput("sigma", "at least 0", self.sigma)
        if self.law is not None:
            checks.choice("law", self.law, LAWS)
        if self.law == "bernoulli":
            object.__setattr__(self, "low", max(self.low, 0.0))
            object.__setattr__(self, "high", min(self.high, 1.0))
        object.__setattr__(self, "sigma", min(self.sigma, 0.5 * (self.high - self.low)))

    @property
    def bounded(self) -> bool:
        """Whether it lies in an interval."""
        return self.high - self.low < math.inf

    def covers(self, produced: Feedback) -> bool:
        """Return whether everything that holds of this holds of the other as well."""
        return not self.missing(produced)

    def missing(self, produced: Feedback) -> str:
        """Return what of this does not hold of the other, to follow "feedback"; "" if all does."""
        slack = SAME * max(1.0, abs(self.low), abs(self.high))
        # Without an end there is nothing to exceed: inf + slack is inf, and so is slack.
        if produced.low < self.low - slack or produced.high > self.high + slack:
            return f"lies in {_interval(produced)}" if produced.bounded else "has no bounds"
        if self.law is not None and produced.law != self.law:
            return "is not only 0 or 1" if self.law == "bernoulli" else "is not normal"
        heavier = produced.sigma > self.sigma * (1.0 + SAME)
        if heavier and produced.sigma == math.inf:
            return "may have tails of any weight"
        if heavier or (self.law == "normal" and produced.sigma < self.sigma * (1.0 - SAME)):
            found = _told_apart(produced.sigma, self.sigma)
            return f"has sigma {found}" if self.law == "normal" else f"is {found}-subGaussian"
        return ""

    def __str__(self) -> str:
        """Return what is known, as a table shows it."""
        if self.law == "bernoulli":
            return "0 or 1"
        if self.law == "normal":
            return f"normal, sigma {self.sigma:.4g}"
        if self.bounded:
            return f"in {_interval(self)}"
        return "any" if self.sigma == math.inf else f"{self.sigma:.4g}-subGaussian"

    @property
    def in_words(self) -> str:
        """What is known, with the word "feedback", for a sentence."""
        if self.law == "bernoulli":
            return "feedback of 0 or 1"
        if self.law == "normal":
            return f"normal feedback with standard deviation {self.sigma:.4g}"
        return f"feedback {self}" if self.bounded else f"{self} feedback"


ANYTHING = Feedback()
"""Nothing is said of it."""
UNIT_INTERVAL = Feedback(low=0.0, high=1.0)


def _interval(feedback: Feedback) -> str:
    return f"[{feedback.low:.4g}, {feedback.high:.4g}]"


def _told_apart(value: float, other: float) -> str:
    """Return a number with as many digits as it takes to tell it from the other."""
    for digits in range(4, 17):
        text = f"{value:.{digits}g}"
        if float(text) != float(f"{other:.{digits}g}"):
            return text
    return repr(value)
