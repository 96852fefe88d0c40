"""The verdict of the checker."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_COMPLAINTS = 12
"""Complaints of a kind that are written out; the rest is only counted."""


@dataclass
class Verdict:
    """What the checker found wrong, counted by kind, and what it saw.

    Attributes:
        lost: acknowledged requests that the events do not have.
        doubled: slots leased to two at once or counted twice, and event numbers, keys and closings
            that are there twice.
        gaps: event numbers and slots that were left out.
        wrong: contents, outcomes, sums and states that are not what they should be.
        refused: requests that got neither an answer nor "try again".
        asks: acknowledged leases.
        tells: acknowledged tells.
        repeats: acknowledgments of a request that had been acknowledged before.
        counted: answers that entered the sums.
        late: answers on record that came too late to count.
        duplicate: answers on record to slots that had one.
        late_counted: answers that counted though their lease had expired.
        slept_over: pauses during which a lease expired that the client then answered.
        rounds: rounds that were closed.
        disturbed_rounds: those that were closed before it became quiet.
    """

    lost: int = 0
    doubled: int = 0
    gaps: int = 0
    wrong: int = 0
    refused: int = 0
    asks: int = 0
    tells: int = 0
    repeats: int = 0
    counted: int = 0
    late: int = 0
    duplicate: int = 0
    late_counted: int = 0
    slept_over: int = 0
    rounds: int = 0
    disturbed_rounds: int = 0
    complaints: dict[str, list[str]] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not any((self.lost, self.doubled, self.gaps, self.wrong, self.refused))

    def complain(self, kind: str, text: str, times: int = 1) -> None:
        """Count something wrong, with words for it."""
        setattr(self, kind, getattr(self, kind) + times)
        complaints = self.complaints.setdefault(kind, [])
        if len(complaints) < MOST_COMPLAINTS:
            complaints.append(text[:400])

    def expect(self, holds: bool, kind: str, text: str) -> None:
        """Complain unless the condition holds."""
        if not holds:
            self.complain(kind, text)
