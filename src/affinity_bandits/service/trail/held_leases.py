"""The leases of a campaign as its audit trail tells of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime


@dataclass
class HeldLease:
    """A lease: the slots it was granted and, while its round is open, those it still owes.

    `again` is whether others had them before.
    """

    round: int
    runs: tuple[range, ...]
    pending: set[int]
    expires_at: datetime
    again: bool
    actor: str

    def slots(self) -> set[int]:
        """Return the slots that the lease was granted."""
        return {slot for run in self.runs for slot in run}


@dataclass
class HeldLeases:
    """Leases by their number.

    Attributes:
        granted: all of them.
        owing: those of the open round that still owe answers.
    """

    granted: dict[int, HeldLease] = field(default_factory=dict)
    owing: dict[int, HeldLease] = field(default_factory=dict)

    def grant(self, number: int, lease: HeldLease) -> None:
        """Add a lease, which owes all its slots."""
        self.granted[number] = self.owing[number] = lease

    def settle(self, number: int, slots: Iterable[int]) -> None:
        """Remove slots from those that a lease still owes."""
        lease = self.granted[number]
        lease.pending.difference_update(slots)
        if not lease.pending:
            self.owing.pop(number, None)

    def holder(self, slot: int, number: int) -> int | None:
        """Return the lease that owes a slot, this one or a later one; None if no lease does."""
        if slot in self.granted[number].pending:
            return number
        return next((other for other, one in self.owing.items() if slot in one.pending), None)

    def oldest_owed(self, default: int) -> int:
        """Return the first slot that some lease owes."""
        return min((min(one.pending) for one in self.owing.values()), default=default)
