"""Whether slots of one group lapse more often, or less often, than those of the others.

A slot lapses if its first lease expires before its answer comes. Let X_i be 1 if group i's slot of
a pass lapses, and M_i the mean of the others' X in that pass. If all groups of a pass are equally
likely to lapse, a bet of part s on the difference, 1 + s (X_i - M_i), is fair. It is at least
(1 + s)^X_i (1 - s)^M_i, since the logarithm is concave, and the product of these over passes needs
no more than the counts of each round. docs/health.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affinity_bandits.service.health.evidence import (
    Array,
    by_arm,
    evidence,
    log_sum,
    threshold,
)

STAKES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.55, 0.75, 0.95)
"""Parts that are bet: each finds differences of about its own size, relative to the rate."""
FACES, SIDES = 2, 2
"""What is counted, slots that lapsed or slots that did not; and whether a group has more or less.

Counting what did not lapse finds the same difference sooner where most slots lapse."""


@dataclass(frozen=True)
class RoundLapses:
    """How many slots of a round lapsed.

    Attributes:
        number: of the round.
        arms: those that take turns in it.
        lapsed: slots of each arm that lapsed, in the same order.
        passes: how many passes were begun.
        whole: whether all slots of these passes are known to have lapsed or not to.
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
        round: at whose end, or during which, it was found.
        own: the part of the group's slots that lapsed, in all rounds with others.
        others: the same of the other groups in these rounds.
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
    """Return the group whose answers are missing at a rate of its own; None if there is none.

    It may be called at any time; the probability of ever finding one, if all groups of every pass
    are equally likely to lapse, is at most `LEVEL`. What was found once is found ever after.

    Args:
        rounds: in increasing order; the last one may be open.
        arms: how many the campaign has.
    """
    told = [one for one in rounds if len(one.arms) > 1]
    if not any(any(one.lapsed) for one in told):
        return None
    steps = _steps(told, arms)
    after = evidence(steps, [one.number for one in told])
    after -= math.log(steps[0].size)  # every bet has the same part of the prior
    found = np.flatnonzero(log_sum(after, (1, 2, 3, 4)) >= threshold())
    if not len(found):
        return None
    first = int(found[0])
    by_side = log_sum(after[first], (0, 2))
    side, arm = np.unravel_index(int(by_side.argmax()), by_side.shape)
    return _described(told, int(arm), more=side == 0, round_=told[first].number)


def _steps(told: Sequence[RoundLapses], arms: int) -> Array:
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
