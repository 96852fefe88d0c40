"""Health checks of campaigns as pure functions of counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from affinity_bandits import checks


@dataclass(frozen=True)
class RoundCommittee:
    """A committee as it was told before a round, and who was chosen in that round.

    Attributes:
        round: its number.
        members: of each arm.
        chosen: of each arm at most: answers, and slots whose first lease expired.
        left: arms that could still be the best.
    """

    round: int
    members: Sequence[int]
    chosen: Sequence[int]
    left: Sequence[int]


@dataclass(frozen=True)
class Grown:
    """A group that has grown by more than fits.

    Attributes:
        arm: the group.
        members: as told.
        most: as fit.
    """

    arm: int
    members: int
    most: int


@dataclass(frozen=True)
class Misfit:
    """A committee that does not fit those before it.

    Attributes:
        round: the round after it.
        ever: whether it has more members than were ever chosen, not only in the round before.
        groups: those with too many members.
    """

    round: int
    ever: bool
    groups: tuple[Grown, ...]


def find_misfit(committees: Sequence[RoundCommittee]) -> Misfit | None:
    """Return the last committee with more members than were ever chosen, or else than in one round.

    If the first committee is not of round 0, only growth in one round can be found.
    """
    last: dict[bool, Misfit] = {}
    to_come = [math.inf if one.round else 0.0 for one in committees[:1] for _ in one.members]
    for before, now in pairwise(committees):
        grown: dict[bool, list[Grown]] = {True: [], False: []}
        for arm in now.left:
            most = before.members[arm] + before.chosen[arm]
            beyond = now.members[arm] - most
            if beyond > to_come[arm]:
                grown[True].append(Grown(arm, now.members[arm], most + int(to_come[arm])))
            elif beyond > 0:
                grown[False].append(Grown(arm, now.members[arm], most))
            to_come[arm] = max(0.0, to_come[arm] - beyond)
        for ever, groups in grown.items():
            if groups:
                last[ever] = Misfit(now.round, ever, tuple(groups))
    return last.get(True) or last.get(False)


LEVEL = 0.001
"""The probability, over a whole campaign, with which a check may find a fault where none is."""

Array = NDArray[np.float64]


def threshold() -> float:
    """Return the logarithm of the evidence from which on a check says something."""
    return -float(np.log(LEVEL))


def start_prior(number: int) -> float:
    """Return the weight of the hypothesis that a fault begins with this round.

    Half of it is on the first round; the weights of all rounds sum to 1.

    >>> start_prior(0), start_prior(1), start_prior(2)
    (0.5, 0.25, 0.08333333333333333)
    """
    return 0.5 if number == 0 else 0.5 / (number * (number + 1))


class HasArms(Protocol):
    """A round of some arms."""

    @property
    def arms(self) -> tuple[int, ...]: ...


def by_arm(rounds: Sequence[HasArms], arms: int, values: Sequence[Sequence[float]]) -> Array:
    """Return what each round has of each arm as a table; 0 where an arm took no part."""
    table = np.zeros((len(rounds), arms))
    for place, (one, own) in enumerate(zip(rounds, values, strict=True)):
        table[place, list(one.arms)] = own
    return table


def evidence(steps: Array, numbers: list[int]) -> Array:
    """Return the log evidence of each bet after each round, mixed over all possible beginnings.

    Leaving out earlier rounds can only lower it.

    Args:
        steps: log factors of each bet by round; rounds first.
        numbers: of the rounds, in increasing order.
    """
    held = np.full(steps.shape[1:], -np.inf)
    after = np.empty_like(steps)
    for place, number in enumerate(numbers):
        held = np.logaddexp(held, np.log(start_prior(number))) + steps[place]
        after[place] = held
    return after


def log_sum(values: Array, axes: tuple[int, ...]) -> Array:
    """Return the logarithm of the sum of exponentials over some axes."""
    top = values.max(axis=axes, keepdims=True)
    total = np.exp(values - top).sum(axis=axes, keepdims=True)
    found: Array = np.squeeze(top + np.log(total), axis=axes)
    return found


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
        all: whether these are all compared groups.
        round: since when.
        answers: of these groups since then.
        distance: mean distance from the end, as a part of the range.
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

    It may be called at any time. The probability of ever finding a group whose mean distance from
    the end is `NEAR` or more is at most `LEVEL`.
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


STAKES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.55, 0.75, 0.95)
"""Parts that are bet: each finds differences of about its own size, relative to the rate."""
FACES, SIDES = 2, 2
"""What is counted, slots that lapsed or slots that did not; and whether a group has more or less.

Counting what did not lapse finds the same difference sooner where most slots lapse."""


@dataclass(frozen=True)
class RoundLapses:
    """The lapsed slots of a round.

    Attributes:
        number: of the round.
        arms: those that take turns in it.
        lapsed: lapsed slots of each arm, in the same order.
        passes: passes that were begun.
        whole: whether all slots of these passes are known to have lapsed or not.
    """

    number: int
    arms: tuple[int, ...]
    lapsed: tuple[int, ...]
    passes: int
    whole: bool = True


@dataclass(frozen=True)
class Missing:
    """One group's answers are missing more often, or less often, than the others'.

    Attributes:
        arm: the group.
        more: whether more often.
        round: in which it was found.
        own: the part of the group's slots that lapsed.
        others: the same of the other groups in the same rounds.
        lapsed: the group's slots that lapsed.
        slots: the group's slots.
    """

    arm: int
    more: bool
    round: int
    own: float
    others: float
    lapsed: int
    slots: int


def find_missing(rounds: Sequence[RoundLapses], arms: int) -> Missing | None:
    """Return the group whose answers are missing at another rate; None if there is none.

    It may be called at any time. If all groups of every pass are equally likely to lapse, the
    probability of ever finding one is at most `LEVEL`. A finding stays found.
    """
    told = [one for one in rounds if len(one.arms) > 1]
    if not any(any(one.lapsed) for one in told):
        return None
    steps = _missing_steps(told, arms)
    after = evidence(steps, [one.number for one in told])
    after -= math.log(steps[0].size)  # every bet has the same part of the prior
    found = np.flatnonzero(log_sum(after, (1, 2, 3, 4)) >= threshold())
    if not len(found):
        return None
    first = int(found[0])
    by_side = log_sum(after[first], (0, 2))
    side, arm = np.unravel_index(int(by_side.argmax()), by_side.shape)
    return _described(told, int(arm), more=side == 0, round_=told[first].number)


def _missing_steps(told: Sequence[RoundLapses], arms: int) -> Array:
    """Return what rounds multiply each bet by, as logarithms.

    By round, what is counted, side, stake and arm.
    """
    lapsed = by_arm(told, arms, [one.lapsed for one in told])
    part = by_arm(told, arms, [(1.0,) * len(one.arms) for one in told])
    width = part.sum(axis=1, keepdims=True)
    others = (lapsed.sum(axis=1, keepdims=True) - lapsed) * part / (width - 1.0)
    passes = np.array([[one.passes] for one in told]) * part
    win, lose = np.log1p(STAKES)[:, np.newaxis], np.log1p(np.negative(STAKES))[:, np.newaxis]
    steps = np.empty((len(told), FACES, SIDES, len(STAKES), arms))
    # More that lapse are fewer that do not.
    for face, (own, rest) in enumerate(((lapsed, others), (passes - others, passes - lapsed))):
        steps[:, face, 0] = win * own[:, np.newaxis] + lose * rest[:, np.newaxis]
        steps[:, face, 1] = win * rest[:, np.newaxis] + lose * own[:, np.newaxis]
    for place, one in enumerate(told):
        if not one.whole:
            # In the last pass some slots may be known and others not: take off the most they add.
            steps[place] -= win * part[place]
    return steps


def _described(told: Sequence[RoundLapses], arm: int, *, more: bool, round_: int) -> Missing:
    lapsed = slots = others = other_slots = 0
    for one in told:
        if arm in one.arms:
            own = one.lapsed[one.arms.index(arm)]
            lapsed += own
            slots += one.passes
            others += sum(one.lapsed) - own
            other_slots += one.passes * (len(one.arms) - 1)
    return Missing(
        arm=arm,
        more=more,
        round=round_,
        own=lapsed / max(1, slots),
        others=others / max(1, other_slots),
        lapsed=lapsed,
        slots=slots,
    )


SHARE = 0.8
"""The part of all scores from which on they are nearly all: four of five."""
NEARLY_ALL = (0.85, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class OneRater:
    """The rater who gave most scores.

    Attributes:
        rater: the pseudonym.
        scores: of this rater.
        total: of all raters.
        place: the rater's position in order of first scores, from 1.
    """

    rater: str
    scores: int
    total: int
    place: int


def gives_nearly_all(one: OneRater) -> bool:
    """Return whether a rater gives more than four of five scores.

    It may be asked at any time about the busiest rater. If nobody gives the next score with
    probability above `SHARE`, the probability of ever returning True is at most `LEVEL`.
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


LEASES = 2.0
"""A round does not stand still until this many leases have passed without an answer."""
LONGEST_TIMES = 2.0
"""Nor until it has been silent so many times as long as it ever was before it went on."""
FEWEST_UNANSWERED = 14
"""Slots without an answer that it takes where no pace is known: 0.6^14 is below `LEVEL`."""
FIRST_LEASES = 3.0


@dataclass(frozen=True)
class AnswerTimes:
    """When answers came, and how many are owed.

    Attributes:
        silent: seconds since the last counted tell or, if unknown, since the first known lease.
        gaps: seconds between the last counted tells, in order; None if there are none.
        events: of the campaign so far.
        outstanding: slots without an answer.
        lease_seconds: how long a lease is.
        longest: the longest earlier silence, in seconds.
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
