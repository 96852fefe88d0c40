"""The compiled loop of single pulls, written once and bound to each policy.

`select`, `update` and `candidate` are bound to a policy's kernels, so the compiler sees plain
calls, inlines them, and caches the result on disk; `weight` and `feedback` are those of `models`.
Where everybody judges who was ever chosen, a pull has less to do, and there is less to compile
(`plain_chunk`). `note_round` and `note_pull` do nothing here; `log_loop` binds those that write a
log, so that a run and its log are the same pulls.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.noise.laws import is_normal, reads_gate
from affinity_bandits.policies.step import StepKernels
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Words, fill_normal, fill_uniform
from affinity_bandits.simulation.environment import (
    BanditArrays,
    Committee,
    key_words,
    share_of,
    take_seat,
)
from affinity_bandits.simulation.models import loop_models
from affinity_bandits.simulation.pointers import Shared, Types, caller, types_of
from affinity_bandits.simulation.seating import change_members, joins_committee, seat_judges

select: Function = unbound
update: Function = unbound
candidate: Function = unbound
weight: Function = unbound
feedback: Function = unbound
pulls_of_chunk: Function = unbound
draw_noise: Function = unbound
fill_noise: Function = unbound
opens: Function = unbound
meet: Function = unbound
fewest_seats: Function = unbound
note_round: Function = unbound
note_pull: Function = unbound
rounds_noted = False
"""Whether rounds are looked for where nobody is seated for them."""

CHUNK = 1024
"""Random numbers drawn at a time: enough to fill the pipeline, few enough for the first cache."""


class NoiseBuffer(NamedTuple):
    """The keys of a run's random numbers, and buffers to draw some of them into."""

    noise_key: Words
    gate_key: Words
    join_key: Words
    leave_key: Words
    noise: FloatArray
    gates: FloatArray
    joins: FloatArray
    leaves: FloatArray


def new_buffer(seed: int) -> NoiseBuffer:
    """Return the keys of a seed, and buffers."""
    keys = [key_words(seed, role) for role in ("noise", "gate", "join", "leave")]
    return NoiseBuffer(*keys, *(np.zeros(CHUNK) for _ in keys))


@cache
def noise_types() -> Types:
    """Return the types of the arguments of a kernel of `bound_noise`."""
    return types_of(new_buffer(0), 0, np.uint64(0), 0)


def uniform_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw uniform numbers for the pulls after `clock` of them; a kernel."""
    fill_uniform(tape.noise[:pulls], tape.noise_key, replicate, clock)


def normal_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw standard normal numbers for the pulls after `clock` of them; a kernel."""
    fill_normal(tape.noise[:pulls], tape.noise_key, replicate, clock)


def gated_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw the numbers of gates, too; a kernel."""
    fill_noise(tape, pulls, replicate, clock)
    fill_uniform(tape.gates[:pulls], tape.gate_key, replicate, clock)


def member_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw the numbers of who joins and who leaves, too; a kernel."""
    fill_noise(tape, pulls, replicate, clock)
    fill_uniform(tape.joins[:pulls], tape.join_key, replicate, clock)
    fill_uniform(tape.leaves[:pulls], tape.leave_key, replicate, clock)


def no_round(log: Any, judges: IntArray) -> None:
    """Note nothing of a round that begins; a kernel."""


def no_pull(
    log: Any,
    arena: BanditArrays,
    committee: Committee,
    total: float,
    place: int,
    arm: int,
    share: float,
    seen: float,
    joined: bool,
) -> None:
    """Note nothing of a pull; a kernel."""


def pull_chunk(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    tape: NoiseBuffer,
    length: int,
    log: Any,
) -> bool:
    """Pull `length` times; return False if the policy chose an unknown arm."""
    arms = len(committee.pulls)
    total = float(arena.total_initial + committee.clock[0])
    for i in range(length):
        if (arena.seating.counted or rounds_noted) and opens(state):
            if arena.seating.counted:
                seat_judges(arena.seating, committee.members, committee.judges, fewest_seats(state))
                meet(state, committee.judges[:arms])
            note_round(log, committee.judges)
        arm = select(state, rng)
        if arm < 0 or arm >= arms:
            return False
        share = share_of(arena, committee, total, arm)
        seen = feedback(arena, arm, weight(arena, share), tape.noise[i], tape.gates[i])
        joined = not arena.seating.counted or joins_committee(arena.seating, seen, tape.joins[i])
        update(state, arm, seen)
        # Before the committee changes: those who were not chosen are judged by it, too.
        note_pull(log, arena, committee, total, i, arm, share, seen, joined)
        committee.pulls[arm] += 1
        if arena.memory > 0:
            take_seat(arena.memory, committee, arm)
        if arena.seating.counted:
            change_members(
                arena.seating,
                committee.members,
                committee.judges,
                arm,
                joined,
                tape.leaves[i],
            )
        total += 1.0
    committee.clock[0] += length
    return True


def plain_chunk(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    tape: NoiseBuffer,
    length: int,
    log: Any,
) -> bool:
    """Do the same where everybody judges who was ever chosen, and nothing is noted."""
    arms = len(committee.pulls)
    total = float(arena.total_initial + committee.clock[0])
    for i in range(length):
        arm = select(state, rng)
        if arm < 0 or arm >= arms:
            return False
        share = (arena.initial[arm] + committee.pulls[arm]) / total
        seen = feedback(arena, arm, weight(arena, share), tape.noise[i], tape.gates[i])
        update(state, arm, seen)
        committee.pulls[arm] += 1
        total += 1.0
    committee.clock[0] += length
    return True


def step_segment(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    tape: NoiseBuffer,
    draws: int,
    rng: np.random.Generator,
    replicate: np.uint64,
    until: int,
    checkpoints: IntArray,
    out: IntArray,
    candidates: IntArray,
) -> bool:
    """Pull until the clock stands at `until`; return False if the policy chose an unknown arm.

    Writes the pulls at each checkpoint passed, and in the end who is still a candidate. `draws` is
    the address of what fills the buffers.
    """
    clock = committee.clock[0]
    record = 0
    while record < len(checkpoints) and checkpoints[record] <= clock:
        record += 1
    while clock < until:
        stop = clock + CHUNK  # `min` would be a function more to compile
        stop = min(stop, until)
        if record < len(checkpoints) and checkpoints[record] < stop:
            stop = checkpoints[record]
        length = stop - clock
        draw_noise(draws, (tape, length, replicate, clock))
        if not pulls_of_chunk(arena, committee, state, rng, tape, length, 0):
            return False
        clock = stop
        if record < len(checkpoints) and checkpoints[record] == clock:
            for arm in range(len(committee.pulls)):
                out[record, arm] = committee.pulls[arm]
            record += 1
    for arm in range(len(candidates)):
        candidates[arm] = 1 if candidate(state, arm) else 0
    return True


@lru_cache(maxsize=256)  # telling kernels apart takes a millisecond or two
def bound_segment(kernels: StepKernels, plain: bool, own: str | None = None) -> Function:
    """Return the segment for a policy's kernels, yet to be compiled.

    Args:
        kernels: of the policy.
        plain: whether everybody judges who was ever chosen.
        own: a digest of the user's own code in them (`own_code`): a function that is the same
            object may read a global that is not.
    """
    notes = {"note_round": no_round, "note_pull": no_pull}
    chunk = bound_chunk(kernels, **({} if plain else notes))
    return bind(
        step_segment,
        pulls_of_chunk=chunk,
        candidate=kernels.candidate,
        draw_noise=caller(noise_types()),
    )


def bound_chunk(kernels: StepKernels, **noted: Any) -> Function:
    """Return the pulls of a chunk, compiled for a policy's kernels.

    Args:
        kernels: of the policy.
        noted: the kernels that note rounds and pulls, and whether rounds are noted at all; none
            for `plain_chunk`.
    """
    policy = {"select": kernels.select, "update": kernels.update, **loop_models()}
    if not noted:
        return compiled(bind(plain_chunk, **policy), called=False)
    seated = {name: getattr(kernels, name) for name in ("opens", "meet", "fewest_seats")}
    return compiled(bind(pull_chunk, **policy, **seated, **noted), called=False)


@cache
def bound_noise(law: int, members: bool) -> Shared:
    """Return the compiled draws of random numbers for `step_segment`.

    Args:
        law: of feedback.
        members: whether it is a matter of chance who joins or leaves.
    """
    noise = normal_noise if is_normal(law) else uniform_noise
    drawn = bind(gated_noise, fill_noise=noise) if reads_gate(law) else noise
    if members:
        drawn = bind(member_noise, fill_noise=drawn)
    return Shared(compiled(drawn, allocates=True, shared=True), noise_types())
