"""The contract of round policies: announce a whole round, then decide from its sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from affinity_bandits.kernels import FloatArray, Function, IntArray
from affinity_bandits.policies.policy import Policy
from affinity_bandits.policies.state import copy_state

FOREVER = 2**62
"""Repetitions of a round that never ends: what a policy plans once it has made up its mind."""


class Round(NamedTuple):
    """A round: each arm is pulled `repetitions` times, in turn, in the order given.

    Slot s of the round (from 0) belongs to `arms[s % len(arms)]`, so a round's pulls can be
    handed out from anywhere. `RoundPolicy.order_window` says how far out of order.
    """

    arms: IntArray
    repetitions: int


class RoundKernels(NamedTuple):
    """The functions an engine calls once a round."""

    plan: Function
    absorb: Function
    candidate: Function


@dataclass(frozen=True)
class RoundPolicy(Policy):
    """A policy that announces whole rounds and learns only from their sums.

    `plan`, `absorb` and `candidate` are kernels (see `affinity_bandits.kernels`). A run calls
    `plan`, `absorb`, `plan`, `absorb`, ...; a round that the horizon cuts short is not absorbed.
    `plan` reads the state and changes nothing, so it may be asked again at any time.
    """

    @property
    def order_window(self) -> int | None:
        """How far out of order a round may be answered without breaking a promise of the policy.

        With a window of w, slot s may be handed out only once every slot up to s - w has its
        answer; 1 is strictly one after the other. None: nothing it promises depends on the order.
        """
        return None

    def with_order_window(self, slots: int) -> Self:
        """Return the policy told to expect that window; itself where the order does not matter."""
        return self

    @staticmethod
    def plan(state: Any) -> Round:
        """Return the round to play next; its arms may be a view into the state."""
        raise NotImplementedError

    @staticmethod
    def absorb(state: Any, sums: FloatArray) -> None:
        """Take in the sum of each planned arm's feedback, in the plan's order, in place."""
        raise NotImplementedError

    def kernels(self) -> RoundKernels:
        """Return the three kernels, with everything they need bound."""
        return RoundKernels(self.plan, self.absorb, self.candidate)

    def absorbed(self, state: Any, sums: FloatArray) -> Any:
        """Return the state after a round, leaving the given one as it was."""
        after = copy_state(state)
        self.kernels().absorb(after, sums)
        return after
