"""What a tell says, checked and laid out for the database."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.idempotency import check_key

MOST_ANSWERS = 10_000
LARGEST = 2**63 - 2
"""Largest slot or lease: the end of a range of slots still fits eight bytes."""


@dataclass(frozen=True)
class Tell:
    """Answers to slots of one lease.

    Either one score a slot, or, for a lease of which nothing was told yet, the number of answers
    and their sum for each arm; of an arm with fewer answers than slots, the lowest slots count as
    answered.

    Args:
        lease: the lease's number.
        key: the idempotency key.
        actor: who tells.
        told: the slots; or the arms, where `counts` is given.
        units: the score of each slot, or the sum of each arm, in units of 1e-9.
        counts: the number of answers of each arm.
    """

    lease: int
    key: str
    actor: str
    told: tuple[int, ...]
    units: tuple[int, ...]
    counts: tuple[int, ...] | None = None
    digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        check_key(self.key)
        what = "answers" if self.counts is None else "totals"
        if not 1 <= len(self.told) <= MOST_ANSWERS:
            raise InvalidInput(what, f"1 to {MOST_ANSWERS:,} of them", len(self.told))
        if len(set(self.told)) < len(self.told):
            part = "slots" if self.counts is None else "arms"
            raise InvalidInput(what, f"for different {part}", sorted(self.told)[:20])
        for name, values in (("lease", (self.lease,)), (what, self.told)):
            if not all(0 <= value <= LARGEST for value in values):
                raise InvalidInput(name, f"from 0 to {LARGEST:,}", values)
        if self.counts is not None and not all(0 <= n <= MOST_ANSWERS for n in self.counts):
            raise InvalidInput("count", f"from 0 to {MOST_ANSWERS:,}", self.counts)
        content = repr((self.lease, self.told, self.counts, self.units))
        object.__setattr__(self, "digest", hashlib.sha256(content.encode()).digest())


def flattened(tells: Sequence[Tell]) -> tuple[list[Any], ...]:
    """Return the arguments of the database's function: ragged lists laid end to end."""
    told: list[int] = []
    counts: list[int] = []
    units: list[int] = []
    for one in tells:
        told += one.told
        counts += one.counts or (0,) * len(one.told)
        units += one.units
    return (
        [one.actor for one in tells],
        [one.key for one in tells],
        [one.digest for one in tells],
        [one.lease for one in tells],
        ["answers" if one.counts is None else "totals" for one in tells],
        [len(one.told) for one in tells],
        told,
        counts,
        units,
    )
