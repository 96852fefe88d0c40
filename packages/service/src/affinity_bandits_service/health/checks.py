"""Health checks of campaigns as pure functions of counts; `CHECKS` lists them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affinity_bandits.base.words import duration, listed
from affinity_bandits_service.health.words import MOST_NAMED, Words, percent, quote, words_for

LEVEL = 0.001
"""The probability, over a whole campaign, with which a check may find a fault where none is."""
THRESHOLD = -math.log(LEVEL)
"""The logarithm of the evidence from which on a check says something."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SeenRound:
    """A round as checks see it. Numbers by arm are in the order of `arms`.

    Attributes:
        number: of the round.
        arms: those that take turns in it.
        answers: of each arm.
        totals: the sum of each arm's scores, mapped to [0, 1].
        lapsed: slots of each arm whose first lease expired before they were answered.
        passes: passes over the arms that were begun.
        whole: whether the fate of all slots of these passes is known.
        closed: whether the round is over.
        judges: how many of each group were in the committee before it; empty if unstated.
        left: groups that could still be the best.
        blocks: whether raters scored blocks, in which groups have unequal numbers by design.
    """

    number: int
    arms: tuple[int, ...]
    answers: Sequence[int]
    totals: Sequence[float]
    lapsed: Sequence[int]
    passes: int = 0
    whole: bool = True
    closed: bool = True
    judges: Sequence[int] = ()
    left: Collection[int] = ()
    blocks: bool = False


@dataclass(frozen=True)
class AnswerTimes:
    """When answers came, and how many are owed.

    Attributes:
        silent: seconds since the last counted tell or, if unknown, since the first known lease.
        gaps: seconds between the last counted tells, in order, if any.
        events: of the campaign so far.
        outstanding: unanswered slots.
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
class Facts:
    """The data that the checks of a campaign read.

    Attributes:
        names: of the groups.
        rounds: the last ones, oldest first, with the open one.
        compared: groups that are compared.
        ends: the lowest and the highest score.
        times: when answers came, while some are awaited.
        busiest: the rater who gave more than `SHARE` of the scores, if any: the pseudonym, `scores`
            of the `total`, and the `place` in the order of first scores, from 1.
    """

    names: Sequence[str]
    rounds: Sequence[SeenRound] = ()
    compared: Collection[int] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    times: AnswerTimes | None = None
    busiest: Mapping[str, Any] | None = None


def start_prior(number: int) -> float:
    """Return the weight of the hypothesis that a fault begins with this round.

    Half of it is on the first round; the weights of all rounds sum to 1.

    >>> start_prior(0), start_prior(1), start_prior(2)
    (0.5, 0.25, 0.08333333333333333)
    """
    return 0.5 if number == 0 else 0.5 / (number * (number + 1))


def by_arm(rounds: Sequence[SeenRound], arms: int, values: Sequence[Sequence[float]]) -> Array:
    """Return values of rounds and arms as a table; 0 for arms outside a round."""
    table = np.zeros((len(rounds), arms))
    for place, (one, own) in enumerate(zip(rounds, values, strict=True)):
        table[place, list(one.arms)] = own
    return table


def evidence(steps: Array, rounds: Sequence[SeenRound]) -> Array:
    """Return the log evidence of each bet after each round, mixed over all possible beginnings.

    Every bet has the same part of the prior. Leaving out earlier rounds can only lower it.

    Args:
        steps: log factors of each bet by round; rounds first.
        rounds: in order.
    """
    held = np.full(steps.shape[1:], -np.inf)
    after = np.empty_like(steps)
    for place, one in enumerate(rounds):
        held = np.logaddexp(held, np.log(start_prior(one.number))) + steps[place]
        after[place] = held
    return after - math.log(held.size)


def log_sum(values: Array, axes: tuple[int, ...]) -> Array:
    """Return the logarithm of the sum of exponentials over some axes."""
    top = values.max(axis=axes, keepdims=True)
    total = np.exp(values - top).sum(axis=axes, keepdims=True)
    found: Array = np.squeeze(top + np.log(total), axis=axes)
    return found


STAKES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.55, 0.75, 0.95)
"""Parts that are bet: each finds differences of about its own size, relative to the rate."""
FACES, SIDES = 2, 2
"""What is counted, slots that lapsed or slots that did not; and whether a group has more or less.

Counting what did not lapse finds the same difference sooner where most slots lapse."""


def find_missing(facts: Facts) -> Words | None:
    """Find a group whose answers are missing at another rate than the others'.

    It may be called at any time. If all groups of every pass are equally likely to lapse, the
    probability of ever finding one is at most `LEVEL`. A finding stays found.
    """
    told = [one for one in facts.rounds if len(one.arms) > 1]
    if not any(any(one.lapsed) for one in told):
        return None
    after = evidence(missing_steps(told, len(facts.names)), told)
    found = np.flatnonzero(log_sum(after, (1, 2, 3, 4)) >= THRESHOLD)
    if not len(found):
        return None
    by_side = log_sum(after[found[0]], (0, 2))
    less, arm = (int(one) for one in np.unravel_index(int(by_side.argmax()), by_side.shape))
    took_part = [one for one in told if arm in one.arms]
    lapsed = sum(one.lapsed[one.arms.index(arm)] for one in took_part)
    slots = sum(one.passes for one in took_part)
    others = sum(sum(one.lapsed) for one in took_part) - lapsed
    other_slots = sum(one.passes * (len(one.arms) - 1) for one in took_part)
    name = quote(facts.names[arm])
    return words_for(
        "missing",
        (arm,),
        name=name,
        often="less often" if less else "more often",
        own=percent(lapsed / max(1, slots)),
        slots=slots,
        others=percent(others / max(1, other_slots)),
        left_out="the others" if less else name,
    )


def missing_steps(told: Sequence[SeenRound], arms: int) -> Array:
    """Return the log factors by which rounds multiply bets on missing answers.

    By round, count (of lapsed or of other slots), side, stake and arm.
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


def find_uneven(facts: Facts) -> Words | None:
    """Find a closed round whose groups have different numbers of answers."""
    for one in facts.rounds:
        if one.closed and not one.blocks and max(one.answers) - min(one.answers) > 1:
            return words_for("uneven", round=one.number + 1)
    return None


NEAR = 0.05
"""How near to an end a group's scores are on average if it is at that end, in parts of the range.

Where all groups are at the same end, no two of them differ by more than this. Plans are made for
differences of about 0.05, so a comparison of such scores sees next to nothing of what it is for."""
RATES = (1.0, 2.0, 4.0, 6.0)
COSTS = tuple(math.log1p(-(1.0 - math.exp(-rate)) * NEAR) for rate in RATES)
ENDS = ("lowest", "highest")


def find_at_end(facts: Facts) -> Words | None:
    """Find groups whose scores are nearly all at one end now.

    It may be called at any time. The probability of ever finding a group whose mean distance from
    the end is `NEAR` or more is at most `LEVEL`.
    """
    told = [one for one in facts.rounds if any(one.answers)]
    if not told:
        return None
    answers, far = distances(told, len(facts.names))
    steps = end_steps(answers, far)
    strong = log_sum(evidence(steps, told)[-1], (1,)) >= THRESHOLD
    found = [
        [arm for arm in np.flatnonzero(own).tolist() if arm in facts.compared] for own in strong
    ]
    end = max(range(len(ENDS)), key=lambda one: len(found[one]))
    arms = found[end]
    if not arms:
        return None
    # Since when: the most likely beginning for the first of them.
    likely = steps[::-1, end, :, arms[0]].cumsum(axis=0)[::-1].max(axis=1)
    first = int((likely + np.log([start_prior(one.number) for one in told])).argmax())
    number = int(answers[first:, arms].sum())
    distance = max(0.0, float(far[end, first:, arms].sum())) / max(1, number)
    width = facts.ends[1] - facts.ends[0]
    everybody = set(arms) >= set(facts.compared)
    return words_for(
        "ends of all groups" if everybody else "ends of some groups",
        () if everybody else tuple(arms),
        which=listed([quote(facts.names[arm]) for arm in arms], MOST_NAMED),
        end=ENDS[end],
        score=facts.ends[end],
        far=distance * width,
        near=NEAR * width,
        answers=number,
    )


def distances(rounds: Sequence[SeenRound], arms: int) -> tuple[Array, Array]:
    """Return answers by round and arm; and by end, round and arm, how far scores are from it."""
    answers = by_arm(rounds, arms, [one.answers for one in rounds])
    low = by_arm(rounds, arms, [one.totals for one in rounds])
    return answers, np.stack([low, answers - low])


def end_steps(answers: Array, far: Array) -> Array:
    """Return the log factors by which rounds multiply bets on an end: by round, end, rate, arm.

    See `distances` for the arguments.
    """
    rates, costs = (np.array(one)[:, np.newaxis] for one in (RATES, COSTS))
    return (
        -rates * far.swapaxes(0, 1)[:, :, np.newaxis] - costs * answers[:, np.newaxis, np.newaxis]
    )


SHARE = 0.8
"""The part of all scores from which on they are nearly all: four of five."""
NEARLY_ALL = (0.85, 0.9, 0.95, 0.99, 1.0)


def find_one_rater(facts: Facts) -> Words | None:
    """Find a rater who gives more than four of five scores.

    It may be called at any time. If every rater gives the next score with probability at most
    `SHARE`, the probability of ever finding somebody is at most `LEVEL`.
    """
    if facts.busiest is None:
        return None
    scores, total, place = (facts.busiest[name] for name in ("scores", "total", "place"))
    wealth = rater_wealth(scores, total)
    # A union over raters, who are not known before they come: the k-th has 1 / (k (k + 1)).
    if wealth <= 0 or math.log(wealth) < THRESHOLD + math.log(place * (place + 1)):
        return None
    rater, part = quote(facts.busiest["rater"]), percent(scores / total)
    return words_for("rater", rater=rater, scores=scores, total=total, part=part)


def rater_wealth(own: int, total: int) -> float:
    """Return the evidence that a rater gives more than `SHARE` of the scores, given how many."""
    found = 0.0
    for assumed in NEARLY_ALL:
        others = (1.0 - assumed) / (1.0 - SHARE)
        if others > 0.0 or own == total:
            logs = own * math.log(assumed / SHARE) + (total - own) * math.log(others or 1.0)
            found += math.exp(min(700.0, logs))
    return found / len(NEARLY_ALL)


def find_misfit(facts: Facts) -> Words | None:
    """Find the last committee with more members than were ever chosen, or else than in one round.

    If the first committee is later than round 0, only growth in one round can be found.
    """
    told = [one for one in facts.rounds if one.judges]
    values = [np.add(one.answers, one.lapsed).tolist() for one in told]
    chosen = by_arm(told, len(facts.names), values)
    to_come = [math.inf if told and told[0].number else 0.0] * len(facts.names)
    last: dict[str, Words] = {}
    for (before, now), joining in zip(pairwise(told), chosen, strict=False):
        fit: dict[str, dict[int, int]] = {}
        for arm in sorted(now.left):
            most = before.judges[arm] + int(joining[arm])
            beyond = now.judges[arm] - most
            if beyond > to_come[arm]:
                fit.setdefault("committee grown ever", {})[arm] = most + int(to_come[arm])
            elif beyond > 0:
                fit.setdefault("committee grown in a round", {})[arm] = most
            to_come[arm] = max(0.0, to_come[arm] - beyond)
        for text, grown in fit.items():
            parts = [
                f"{quote(facts.names[arm])} has {now.judges[arm]:,}, where at most {most:,} fit"
                for arm, most in grown.items()
            ]
            named = listed(parts, MOST_NAMED)
            last[text] = words_for(text, tuple(grown), round=now.number + 1, grown=named)
    return last.get("committee grown ever") or last.get("committee grown in a round")


LEASES = 2.0
"""A round does not stand still until this many leases have passed without an answer."""
LONGEST_TIMES = 2.0
"""Nor until it has been silent so many times as long as it ever was before it went on."""
FEWEST_UNANSWERED = 14
"""Slots without an answer that it takes where no pace is known: 0.6^14 is below `LEVEL`."""
FIRST_LEASES = 3.0


def find_standstill(facts: Facts) -> Words | None:
    """Find that a round stands still."""
    times = facts.times
    if times is None or times.outstanding <= 0 or times.silent <= longest_usual(times):
        return None
    pace = ""
    if times.gaps:
        usual = duration(sum(times.gaps) / len(times.gaps))
        pace = f"; before that, tells came {usual} apart on average"
    slots = f"{times.outstanding:,} {'slot' if times.outstanding == 1 else 'slots'}"
    return words_for("standstill", silent=duration(times.silent), pace=pace, slots=slots)


def longest_usual(times: AnswerTimes) -> float:
    """Return the longest silence, in seconds, that a round's own pace and lease explain."""
    if times.gaps is None and times.outstanding >= FEWEST_UNANSWERED:
        return FIRST_LEASES * times.lease_seconds
    if not times.gaps:
        return math.inf  # one tell alone has no pace
    least = max(LEASES * times.lease_seconds, LONGEST_TIMES * max(times.longest, *times.gaps, 0.0))
    number = len(times.gaps)
    tries = times.events * (times.events + 1) / LEVEL
    factor = number * math.expm1(math.log(tries) / number)
    return max(least, factor * sum(times.gaps) / number)


CHECKS: tuple[Callable[[Facts], Words | None], ...] = (
    find_missing,
    find_uneven,
    find_at_end,
    find_one_rater,
    find_misfit,
    find_standstill,
)
