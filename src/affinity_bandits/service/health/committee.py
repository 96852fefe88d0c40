"""Whether a committee that was told fits the one before it and the joins and leaves told since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from affinity_bandits import checks


@dataclass(frozen=True)
class Misfit:
    """A group whose members are not those that follow from what was told.

    Attributes:
        group: the group.
        told: its members, as they were told.
        expected: as they follow from those before, joins and leaves; may be below 0.
    """

    group: str
    told: int
    expected: int


def find_misfits(
    before: Mapping[str, int],
    joins: Mapping[str, int],
    leaves: Mapping[str, int],
    after: Mapping[str, int],
) -> tuple[Misfit, ...]:
    """Return the groups of which a committee does not fit; empty if all do.

    A group that is left out of one of these has 0 there.

    Args:
        before: members of each group.
        joins: how many joined since.
        leaves: how many left since.
        after: members as they are told now.

    Raises:
        InvalidInput: a number is not whole, or below 0.
    """
    parts = {"before": before, "joins": joins, "leaves": leaves, "after": after}
    for name, counts in parts.items():
        for group, count in counts.items():
            checks.integer(f"{name} of {group}", count, low=0)
    groups = dict.fromkeys(group for counts in parts.values() for group in counts)
    found = (
        Misfit(
            group,
            after.get(group, 0),
            before.get(group, 0) + joins.get(group, 0) - leaves.get(group, 0),
        )
        for group in groups
    )
    return tuple(one for one in found if one.told != one.expected)
