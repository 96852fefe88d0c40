"""What plans may ask of a round policy."""

from __future__ import annotations

from typing import Protocol, Self


class Planned(Protocol):
    """A policy that plans can be made with.

    Plans run one only if its `judged_by` fits the assumed judges and it has a `failure` of at most
    the tolerated probability, which they state as proven.
    """

    def aimed_at(self, choices: int) -> Self:
        """Return the policy that is to decide by so many choices; by default the same."""
        return self
