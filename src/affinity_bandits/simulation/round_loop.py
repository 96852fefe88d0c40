"""The compiled loop of whole rounds: exact in distribution, at a cost that does not grow with them.

`plan`, `absorb` and `candidate` are bound to a policy's kernels. The feedback of a round comes from
`round_draws`, through a pointer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies.round import RoundKernels, RoundPolicy
from affinity_bandits.simulation.draws import Stream, Words
from affinity_bandits.simulation.environment import BanditArrays
from affinity_bandits.simulation.pointers import caller
from affinity_bandits.simulation.round_draws import RoundRoom, draw_types
from affinity_bandits.simulation.seating import seat_judges, why_no_joining, why_shares_move
from affinity_bandits.simulation.tallies import why_no_tallies

plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound
draw_round: Function = unbound
seat: Function = unbound
meet: Function = unbound
fewest_seats: Function = unbound


def round_support(bandit: AffinityBandit, policy: RoundPolicy) -> str | None:
    """Return why whole rounds cannot be drawn at once for this policy, or None if they can."""
    reason = why_shares_move(bandit) or why_no_joining(bandit)
    if reason is not None:
        return reason
    if policy.nodes:
        return why_no_tallies(bandit)
    return bandit.noise.why_no_rounds(str(bandit.mechanism))


def round_batch(
    arena: BanditArrays,
    breakpoints: FloatArray,
    smooth: bool,
    split: FloatArray,
    draws: int,
    room: RoundRoom,
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    key: Words,
    horizon: int,
    checkpoints: IntArray,
    first: int,
    out: IntArray,
    candidates: IntArray,
) -> bool:
    """Run replicates `first`, `first` + 1, ... to the horizon, one an entry of `out`.

    `split` has how each score of a tally is counted at the policy's nodes, [score, node]; nothing
    if it is told sums. `draws` is the address of what draws a round. `state` is laid over `whole`
    and `real`, which are reset from their starts for each replicate. Returns False if a plan has
    no arms, unknown arms or no repetitions.
    """
    arms = len(arena.initial)
    chosen, pulls, tally, seen = room.chosen, room.pulls, room.tally, room.seen
    each = split.shape[1] if split.shape[1] > 0 else 1
    # Arrays are copied number by number throughout: assigning a slice makes the compiler build
    # the texts of errors that cannot happen, which takes seconds.
    for j in range(len(out)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        for arm in range(arms):
            pulls[arm] = 0
        for arm in range(len(room.members)):
            room.members[arm] = arena.initial[arm]
        stream = Stream(key, np.uint64(first + j), room.read)
        room.read[0] = np.uint64(0)
        clock = 0
        record = 0
        while clock < horizon:
            seat(arena, room, state)
            planned = plan(state)
            size = len(planned.arms)
            repetitions = planned.repetitions
            if size < 1 or size > arms or repetitions < 1:
                return False
            for position in range(size):
                chosen[position] = planned.arms[position]
                if chosen[position] < 0 or chosen[position] >= arms:
                    return False
            # Divided, not multiplied: a round that lasts forever would overflow the product.
            finished = repetitions <= (horizon - clock) // size
            length = size * repetitions if finished else horizon - clock
            while record < len(checkpoints) and checkpoints[record] <= clock + length:
                passes = (checkpoints[record] - clock) // size
                extra = (checkpoints[record] - clock) % size
                for arm in range(arms):
                    out[j, record, arm] = pulls[arm]
                for position in range(size):
                    out[j, record, chosen[position]] += passes + (1 if position < extra else 0)
                record += 1
            if finished:
                draw_round(
                    draws,
                    (
                        arena,
                        breakpoints,
                        smooth,
                        split,
                        stream,
                        chosen,
                        size,
                        repetitions,
                        clock,
                        pulls,
                        tally,
                        seen,
                        room.members,
                        room.shares,
                    ),
                )
                for position in range(size):
                    pulls[chosen[position]] += repetitions
                absorb(state, seen[: size * each])
            clock += length
        for arm in range(arms):
            candidates[j, arm] = 1 if candidate(state, arm) else 0
    return True


def seat_nobody(arena: BanditArrays, room: RoundRoom, state: Any) -> None:
    """Leave it at counts of pulls, where nobody asks who judges; a kernel."""


def seat_round(arena: BanditArrays, room: RoundRoom, state: Any) -> None:
    """Seat those who judge a round, and tell the policy; a kernel."""
    open_round(arena, room, fewest_seats(state))
    meet(state, room.judges[: len(arena.initial)])


def open_round(arena: BanditArrays, room: RoundRoom, fewest: int) -> None:
    """Seat those who judge a round, of whom the arm `fewest` should have the fewest seats."""
    arms = len(arena.initial)
    if len(room.members) == 0:  # everybody who was ever chosen judges
        for arm in range(arms):
            room.judges[arm] = arena.initial[arm] + room.pulls[arm]
        return
    seat_judges(arena.seating, room.members, room.judges, fewest)
    for arm in range(arms):
        room.shares[arm] = room.judges[arm] / max(1, room.judges[arms])


@lru_cache(maxsize=256)  # telling kernels apart takes a millisecond or two
def bound_rounds(kernels: RoundKernels, seated: bool, own: str | None = None) -> Function:
    """Return the round loop for a policy's kernels, yet to be compiled.

    Args:
        kernels: of the policy.
        seated: whether there is room for who judges.
        own: a digest of the user's own code in the kernels (`own_code`): a function that is the
            same object may read a global that is not.
    """
    told = bind(seat_round, meet=kernels.meet, fewest_seats=kernels.fewest_seats)
    return bind(
        round_batch,
        seat=told if seated else seat_nobody,
        draw_round=caller(draw_types()),
        plan=kernels.plan,
        absorb=kernels.absorb,
        candidate=kernels.candidate,
    )
