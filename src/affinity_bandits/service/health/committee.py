"""Whether a committee that was told fits the one before it and those who were chosen since.

Members join because they were chosen, so from one round to the next a group cannot grow by more
than were chosen of it, and those of earlier rounds who had not joined yet. Nobody tells who leaves,
so what is found is too much growth alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class RoundCommittee:
    """A committee as it was told before a round, and what came of that round.

    Attributes:
        round: its number.
        members: of each arm.
        chosen: of each arm in the round, at most: answers, and slots whose first lease expired,
            since whoever had them may have chosen somebody, too.
        left: arms that could still be the best when it began.
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
        round: the one before which it was told.
        ever: whether it has more members than were ever chosen. Otherwise they are more than were
            chosen in the round before, so some had been chosen earlier.
        groups: those with too many members.
    """

    round: int
    ever: bool
    groups: tuple[Grown, ...]


def find_misfit(committees: Sequence[RoundCommittee]) -> Misfit | None:
    """Return the last committee with more members than were ever chosen, or else than in one round.

    Where the first is not of round 0, who was chosen before it is not known, and what
    could have been found from that is not.
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
