"""Who sits on the committee and who of it judges, where that is not everybody ever chosen: kernels.

`members` has how many of each arm sit. `judges` has how many of each arm judge the round and, in
its last place, how many judge in all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.committee import WHO
from affinity_bandits.errors import NotSupported
from affinity_bandits.kernels import IntArray

COMMITTEE, PANEL, STRANGERS = range(len(WHO))


class Seating(NamedTuple):
    """Who joins, who leaves and who judges, as numbers; see `Joining` and `Judges`."""

    counted: bool  # whether members are counted at all
    part: float
    above: float
    at_once: bool
    leaving: float
    who: int
    seats: int
    as_wanted: bool


def seating_of(bandit: AffinityBandit, told_judges: bool) -> Seating:
    """Return a bandit's rules of who joins and who judges.

    Args:
        bandit: the instance.
        told_judges: whether members are counted even where it is enough to count pulls.

    Raises:
        NotSupported: memory is bounded and a policy is to be told who judges.
    """
    if told_judges and bandit.memory is not None:
        raise NotSupported("a policy cannot be told who judges where memory is bounded")
    joining, judges = bandit.joining, bandit.judges
    return Seating(
        counted=bandit.memory is None and (told_judges or not bandit.counts_pulls),
        part=joining.part,
        above=-math.inf if joining.above is None else joining.above,
        at_once=joining.when == "at once",
        leaving=joining.leaving,
        who=WHO.index(judges.who),
        seats=judges.seats or 0,
        as_wanted=judges.seating == "as wanted",
    )


def why_shares_move(bandit: AffinityBandit) -> str | None:
    """Return why shares may change during a round; None if they do not, or as in the paper."""
    if bandit.memory is not None:
        return "with bounded memory a share depends on who left, not only on counts"
    if bandit.counts_pulls:
        return None
    if bandit.joining.when == "at once" and bandit.judges.who == "committee":
        return "who joins at once changes shares during a round"
    return None


def why_no_joining(bandit: AffinityBandit) -> str | None:
    """Return why who joins and leaves in a round cannot be drawn at once; None if it can."""
    if bandit.joining.leaving > 0.0:
        return "who leaves depends on who is left"
    if bandit.joining.above is not None:
        return "who joins depends on every single score"
    return None


def seat_judges(seating: Seating, members: IntArray, judges: IntArray, fewest: int) -> None:
    """Seat those who judge a round; the arm `fewest` is to have no more than any other."""
    arms = len(members)
    sitting = 0
    for arm in range(arms):
        sitting += members[arm]
    least = seating.seats
    for arm in range(arms):
        seats = members[arm]
        if seating.who == STRANGERS:
            seats = 0
        elif seating.who == PANEL and seating.as_wanted:
            seats = min(seats, seating.seats // arms)
        elif seating.who == PANEL and sitting > seating.seats:
            seats = int(seating.seats * (members[arm] / sitting))
        judges[arm] = seats
        if arm != fewest:
            least = min(least, seats)
    if seating.who == PANEL and seating.as_wanted and fewest >= 0:
        judges[fewest] = min(judges[fewest], least)
    total = 0
    for arm in range(arms):
        total += judges[arm]
    judges[arms] = total


def joins_committee(seating: Seating, seen: float, joins: float) -> bool:
    """Return whether whoever was chosen joins; `joins` is a uniform number, read if need be."""
    return bool(seen >= seating.above and (seating.part == 1.0 or joins < seating.part))


def change_members(
    seating: Seating,
    members: IntArray,
    judges: IntArray,
    arm: int,
    joined: bool,
    leaves: float,
) -> None:
    """Seat whoever joined, and let a member leave, or not.

    `leaves` is a uniform number, read where it is a matter of chance.
    """
    sit_at_once = seating.at_once and seating.who == COMMITTEE
    if joined:
        members[arm] += 1
        if sit_at_once:
            judges[arm] += 1
            judges[len(members)] += 1
    if seating.leaving > 0.0 and leaves < seating.leaving:
        sitting = 0
        for other in range(len(members)):
            sitting += members[other]
        # What is left of the number, once it has said that somebody leaves, says who.
        place = int(leaves / seating.leaving * sitting)
        for other in range(len(members)):
            if sitting > 1 and place < members[other]:
                members[other] -= 1
                if sit_at_once:
                    judges[other] -= 1
                    judges[len(members)] -= 1
                break
            place -= members[other]
