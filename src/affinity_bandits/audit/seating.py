"""A committee while a log is read: who sits on it, and who will from the next moment on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from affinity_bandits.kernels import IntArray


class Seats(NamedTuple):
    """What kernels keep of a committee between the rows of a log.

    Attributes:
        members: of each group.
        waiting: of each group, those who were chosen in the moment that goes on.
        queue: the groups of whom somebody waits, in the order in which they came.
        sizes: of the committee, and of the queue.
    """

    members: IntArray
    waiting: IntArray
    queue: IntArray
    sizes: IntArray


def seats_of(initial: IntArray) -> Seats:
    """Return the seats of an initial committee."""
    members = initial.astype(np.int64)
    sizes = np.array([members.sum(), 0], dtype=np.int64)
    return Seats(members, np.zeros_like(members), np.zeros_like(members), sizes)


def seat_waiting(seats: Seats) -> None:
    """Let those who wait join the committee, for a moment begins; a kernel."""
    for place in range(seats.sizes[1]):
        one = seats.queue[place]
        seats.members[one] += seats.waiting[one]
        seats.sizes[0] += seats.waiting[one]
        seats.waiting[one] = 0
    seats.sizes[1] = 0


def let_wait(seats: Seats, group: int) -> None:
    """Note that somebody was chosen; a kernel."""
    if seats.waiting[group] == 0:
        seats.queue[seats.sizes[1]] = group
        seats.sizes[1] += 1
    seats.waiting[group] += 1
