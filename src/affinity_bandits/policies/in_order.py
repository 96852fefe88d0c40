"""What campaigns and streams may ask of a round policy: how far out of order slots may be."""

from __future__ import annotations

from typing import Protocol, Self


class InOrder(Protocol):
    """A policy that may limit how far out of order slots are answered; by default it does not."""

    @property
    def order_window(self) -> int | None:
        """The window of slots that may be answered out of order; None for any order.

        With a window of w, slot s may be handed out as soon as all slots up to s - w are answered.
        """
        return None

    def with_order_window(self, slots: int) -> Self:
        """Return the policy for that window; itself if any order will do."""
        return self
