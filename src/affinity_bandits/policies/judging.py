"""What may be asked of a policy about judges: whether it must know them, and which it wants."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from affinity_bandits.kernels.kernel import Function, IntArray, kernel


@kernel
def meet_nobody(state: Any, judges: IntArray) -> None:
    """Update the state with how many of each arm judge the next round; by default, ignore it.

    Where people were chosen who are still to begin, two more numbers of each arm follow: how many
    of them may begin during the round, and how many will begin later.
    """


@kernel
def anybody(state: Any) -> int:
    """Return the arm that should have the fewest judges in the next round, ties allowed.

    -1, the default: any number will do.
    """
    return -1


class MeetsJudges(Protocol):
    """How a policy with `told_judges` is told who judges each round, by kernels."""

    @property
    def judging_body(self) -> str:
        """Who the judges in `meet` are: a "panel", or the whole "committee"."""
        return "panel"

    meet: ClassVar[Function] = staticmethod(meet_nobody)
    fewest_seats: ClassVar[Function] = staticmethod(anybody)
