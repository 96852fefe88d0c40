"""What a log is like at a glance: rows, scores and choices of each group, and shares over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.log import BoolArray
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.audit.seating import Seats, let_wait, seat_waiting, seats_of
from affinity_bandits.kernels import FloatArray, IntArray

MOST_MOMENTS = 400
"""At which shares are kept; when there are so many, every other one is dropped."""


class Course(NamedTuple):
    """The share of each group in the committee, at some rows evenly apart.

    Attributes:
        rows: their numbers, from 0; the last one is that of all rows, after which the log ends.
        shares: rows by groups, before each row is decided.
    """

    rows: IntArray
    shares: FloatArray


class Tally(NamedTuple):
    """Of each group.

    Attributes:
        rows: how many.
        mean: of their scores, from 0 to 1; nan if there are none.
        chosen: how many joined the committee.
    """

    rows: IntArray
    mean: FloatArray
    chosen: IntArray


class Overview:
    """A tally and a course that are being made, from rows that come in parts of any length.

    Args:
        initial: the initial committee.
    """

    def __init__(self, initial: IntArray) -> None:
        groups = len(initial)
        self._seats = seats_of(initial)
        self._rows = np.zeros(groups, dtype=np.int64)
        self._sums = np.zeros(groups)
        self._chosen = np.zeros(groups, dtype=np.int64)
        self._kept = np.zeros((MOST_MOMENTS, groups), dtype=np.int64)
        self._clock = np.array([0, 1, 0], dtype=np.int64)

    def add(self, group: IntArray, score: FloatArray, chosen: BoolArray, opens: BoolArray) -> None:
        """Count rows that follow those before."""
        code_for_rows(tally)(
            (group, score, chosen, opens),
            self._seats,
            (self._rows, self._sums, self._chosen),
            self._kept,
            self._clock,
        )

    def tally(self) -> Tally:
        """Return what each group has had so far."""
        mean = np.full(len(self._rows), np.nan)
        np.divide(self._sums, self._rows, out=mean, where=self._rows > 0)
        return Tally(self._rows.copy(), mean, self._chosen.copy())

    def course(self) -> Course:
        """Return the shares so far."""
        row, every, used = self._clock.tolist()
        members = np.vstack([self._kept[:used], self._seats.members + self._seats.waiting])
        rows = np.append(np.arange(used) * every, row)
        return Course(rows, members / members.sum(axis=1, keepdims=True))


def tally(
    log: tuple[IntArray, FloatArray, BoolArray, BoolArray],
    seats: Seats,
    totals: tuple[IntArray, FloatArray, IntArray],
    kept: IntArray,
    clock: IntArray,
) -> None:
    """Add up rows, scores and choices, and keep some committees; a kernel.

    The clock has the number of the next row, how far apart the kept ones are and how many they are.
    """
    group, score, chosen, opens = log
    rows, sums, joined = totals
    for row in range(len(group)):
        if opens[row]:
            seat_waiting(seats)
        one = group[row]
        if clock[0] == clock[1] * clock[2]:
            if clock[2] == len(kept):
                for place in range(len(kept) // 2):
                    for of in range(len(rows)):
                        kept[place, of] = kept[2 * place, of]
                clock[1] *= 2
                clock[2] = len(kept) // 2
            for of in range(len(rows)):
                kept[clock[2], of] = seats.members[of]
            clock[2] += 1
        rows[one] += 1
        sums[one] += score[row]
        if chosen[row]:
            joined[one] += 1
            let_wait(seats, one)
        clock[0] += 1
