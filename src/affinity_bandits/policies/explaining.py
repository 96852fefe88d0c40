"""What pages may ask of a round policy: how it decides, in words and in odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

LEADER = "{leader}"
"""Placeholder in `RoundExplanation.purpose` for the leader's name."""


@dataclass(frozen=True)
class PlayedRound:
    """A finished round that a policy is asked to explain.

    Attributes:
        number: from 0.
        arms: those that took part.
        candidates: arms that could still be the best when it began.
        dropped: arms that it dropped.
    """

    number: int
    arms: tuple[int, ...]
    candidates: frozenset[int]
    dropped: tuple[int, ...]


@dataclass(frozen=True)
class RoundExplanation:
    """A policy's explanation of a finished round; all parts are optional.

    Texts are for laypeople: an arm is a "group" and feedback an "answer".

    Attributes:
        compares: whether the means of the round were compared.
        purpose: the use of a round that compares nothing, such as "they get a head start over
            {leader}". `LEADER` stands for the leader's name.
        leader: the arm that the others are compared with; None for the best of the round.
        tolerance: an arm is dropped if its mean lags the best by more than this.
        dropped_because: why arms were dropped, to be followed by ", so X was dropped".
        none_dropped_because: why all arms stayed, as a sentence.
    """

    compares: bool = True
    purpose: str = ""
    leader: int | None = None
    tolerance: float | None = None
    dropped_because: str = ""
    none_dropped_because: str = ""


@dataclass(frozen=True)
class Evidence:
    """The evidence against each arm as natural logarithms of odds.

    Attributes:
        against: the log-odds against each arm, in their order; above 0 if there is evidence. For a
            dropped arm, those when it was dropped; None if unknown.
        needed: the log-odds at which an arm is dropped now, above 0.
        leader: the arm that the others are compared with, if there is one.
        meaning: the meaning of such odds, in one or two sentences for laypeople.
    """

    against: tuple[float | None, ...]
    needed: float
    leader: int | None = None
    meaning: str = ""


class Explains(Protocol):
    """What pages tell of a policy. Every default makes no claim.

    Attributes:
        rule: how it drops arms ("groups"), in one or two sentences for laypeople.
    """

    rule: ClassVar[str] = ""

    @property
    def judging(self) -> str:
        """Who judges and how that affects comparisons, in one or two sentences for laypeople."""
        return ""

    @property
    def warm_up_rounds(self) -> int:
        """The number of rounds at the beginning whose feedback is ignored."""
        return 0

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        """Explain a finished round; the default gives no reasons."""
        return RoundExplanation()

    def evidence(self, state: Any) -> Evidence | None:
        """Return the evidence against each arm after the last finished round; by default None."""
        return None
