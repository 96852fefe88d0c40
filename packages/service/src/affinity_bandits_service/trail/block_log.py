"""Recompute the blocks of a campaign from its audit trail; see `replay`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from affinity_bandits.policies.blocks import BlockRound
from affinity_bandits_service.core.blocks import by_lot

Row = Mapping[str, Any]
Note = Callable[[str, object, object], None]
"""Notes what an event says, and what follows from those before it, if they differ."""


@dataclass
class GivenBlock:
    """A block as it was given, and what became of it; as `affinity.blocks` has it."""

    round: int
    block: int
    kind: int
    arms: list[int]
    rater: str | None
    actor: str
    expires_at: datetime
    released: bool = False
    owed: bool = True
    units: list[int] | None = None
    counted: bool = False


class BlockLog:
    """The blocks of a campaign so far.

    Args:
        names: of the groups.
        lease_seconds: time to answer a block.

    Attributes:
        given: all blocks that were given, by the number of the event.
    """

    def __init__(self, names: Sequence[str], lease_seconds: float) -> None:
        self._names = names
        self._seconds = lease_seconds
        self._number = 0
        self._planned: BlockRound | None = None
        self._raters: dict[str, int] = {}
        self._open_round: list[GivenBlock] = []
        self.given: dict[int, GivenBlock] = {}

    def open(self, number: int, planned: BlockRound | None) -> None:
        """Open a round."""
        self._number, self._planned, self._open_round = number, planned, []

    def give(self, event: Row, campaign: UUID, same: Note) -> int:
        """Take a block that was given; return how many of its scores nobody was asked for before.

        Raises:
            ValueError: the round has no blocks for such a rater.
        """
        detail, at = event["detail"], event["at"]
        if self._planned is None:
            raise ValueError("gave a block of a round without blocks")
        group, rater = detail["rater_group"], detail["rater"]
        kind = len(self._names) if group is None else list(self._names).index(group)
        if kind not in self._planned.raters:
            raise ValueError(f"gave a block to a rater of {group}, who has none in this round")
        if rater is not None:
            same("group of the rater", kind, self._raters.setdefault(rater, kind))
        block, again = self._next(kind, at)
        if block is None:
            raise ValueError("gave a block although all were with raters or answered")
        same("block", detail["block"], block)
        arms = list(by_lot(campaign, self._number, block, self._planned.block(block)[1]))
        same("order of the block", detail["arms"], arms)
        if again is not None:
            again.owed = False
        until = at + timedelta(seconds=self._seconds)
        given = GivenBlock(self._number, block, kind, arms, rater, event["actor"], until)
        self.given[event["number"]] = given
        self._open_round.append(given)
        return len(arms) if again is None else 0

    def _next(self, kind: int, at: datetime) -> tuple[int | None, GivenBlock | None]:
        """Return the next block for a kind of rater, and who had it before, if anybody had."""
        assert self._planned is not None
        own = [one for one in self._open_round if one.kind == kind]
        had = {one.block for one in own}
        first, step = self._planned.raters.index(kind), len(self._planned.raters)
        for block in range(first, self._planned.blocks, step):
            if block not in had:
                return block, None
        for back in (True, False):
            for one in own:
                if one.owed and one.released is back and (back or self._is_past(one, at)):
                    return one.block, one
        return None, None

    def tell(self, event: Row, same: Note) -> GivenBlock | None:
        """Take the scores of a block; return the block if they count.

        Raises:
            ValueError: there is no such block, it was answered before, or scores are missing.
        """
        detail = event["detail"]
        one = self.given.get(detail["lease"])
        if one is None:
            raise ValueError(f"told of block {detail['lease']}, which was not given")
        if one.units is not None:
            raise ValueError(f"told of block {detail['lease']}, which was answered before")
        if len(detail["units"]) != len(one.arms):
            raise ValueError(f"told {len(detail['units'])} scores of a block of {len(one.arms)}")
        in_time = not one.released and not self._is_past(one, event["at"])
        counts = one.owed and in_time and one.round == self._number
        one.units, one.counted = list(detail["units"]), counts
        one.owed = one.owed and not counts
        size = len(one.arms)
        told = (detail["counted"], detail["late"])
        same("counted and late", told, (size, 0) if counts else (0, size))
        return one if counts else None

    def release(self, number: int, actor: str) -> int | None:
        """Give back a block; return how many scores it owed, None if it was not theirs to give."""
        one = self.given.get(number)
        if one is None or one.actor != actor:
            return None
        if one.released or not one.owed:
            return 0
        one.released = True
        return len(one.arms)

    def scored(self) -> list[dict[str, Any]]:
        """Return the blocks of the open round that count, in its order."""
        counted = (one for one in self._open_round if one.counted)
        return [vars(one) for one in sorted(counted, key=lambda one: one.block)]

    def _is_past(self, one: GivenBlock, at: datetime) -> bool:
        """Return whether the time for a block is over; see the SQL function of this name."""
        return not at < one.expires_at <= at + timedelta(seconds=2 * self._seconds)
