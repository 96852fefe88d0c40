"""What a round policy says of a finished round and of its evidence, which pages put into words."""

from __future__ import annotations

from dataclasses import dataclass

LEADER = "{leader}"
"""Stands in `RoundExplanation.purpose` for the name of the leader, which a policy cannot know."""


@dataclass(frozen=True)
class PlayedRound:
    """A finished round, as a policy is shown it to explain.

    Attributes:
        number: from 0.
        arms: those that took part.
        candidates: arms that could still be the best when it began.
        dropped: arms that could no longer be the best when it had ended.
    """

    number: int
    arms: tuple[int, ...]
    candidates: frozenset[int]
    dropped: tuple[int, ...]


@dataclass(frozen=True)
class RoundExplanation:
    """What a policy says of a finished round; what it leaves out is not shown.

    Words are plain text for people who never heard of bandits: an arm is a "group" there and
    feedback an "answer". Numbers are on the policy's own scale, feedback in [0, 1].

    Attributes:
        compares: whether the means of the round were compared.
        purpose: what a round is for that compares nothing, as a clause that goes on after a
            colon: "they get a head start over {leader}". `LEADER` stands for the leader's name.
        leader: the arm that the others are compared with; None for the best of the round.
        tolerance: an arm is dropped if its mean lags the best by more than this, where there is
            such a number.
        dropped_because: why arms were dropped, as the first half of a sentence that ends ", so X
            was dropped". Not needed where `tolerance` says it.
        none_dropped_because: why no arm was, as a sentence. Not needed where `tolerance` says it.
    """

    compares: bool = True
    purpose: str = ""
    leader: int | None = None
    tolerance: float | None = None
    dropped_because: str = ""
    none_dropped_because: str = ""


@dataclass(frozen=True)
class Evidence:
    """How much speaks against each arm by now, as odds: "19 to 1 against" is odds of 19.

    Odds may be too large for a number, so they are given by their natural logarithms.

    Attributes:
        against: the logarithm of the odds against each arm, in their order; 0 or less if nothing
            speaks against it. Of an arm that was dropped, when it was; None where nothing is known.
        needed: the logarithm of the odds at which an arm is dropped now, above 0.
        leader: the arm that the others are compared with, if there is one.
        meaning: what such odds mean, in a sentence or two for people.
    """

    against: tuple[float | None, ...]
    needed: float
    leader: int | None = None
    meaning: str = ""
