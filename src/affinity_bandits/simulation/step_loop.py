"""The compiled loop of single pulls, written once and bound to each policy, bias and noise.

`select`, `update`, `candidate`, `weight` and `feedback` are bound to a policy's, a bias's and a
noise's kernels, so the compiler sees plain calls, inlines them, and caches the result on disk.
`note_round` and `note_pull` do nothing here; `log_loop` binds those that write a log, so that a run
and its log are the same pulls.
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
    bound_feedback,
    key_words,
    share_of,
    take_seat,
)
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
    noise: FloatArray,
    gates: FloatArray,
    joins: FloatArray,
    leaves: FloatArray,
    log: Any,
) -> bool:
    """Pull once for each number in `noise`; return False if the policy chose an unknown arm."""
    arms = len(committee.pulls)
    total = float(arena.total_initial + committee.clock[0])
    for i in range(len(noise)):
        if (arena.seating.counted or rounds_noted) and opens(state):
            if arena.seating.counted:
                seat_judges(arena.seating, committee.members, committee.judges, fewest_seats(state))
                meet(state, committee.judges[:arms])
            note_round(log, committee.judges)
        arm = select(state, rng)
        if arm < 0 or arm >= arms:
            return False
        share = share_of(arena, committee, total, arm)
        seen = feedback(arena, arm, weight(arena.code, arena.parameters, share), noise[i], gates[i])
        joined = not arena.seating.counted or joins_committee(arena.seating, seen, joins[i])
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
                leaves[i],
            )
        total += 1.0
    committee.clock[0] += len(noise)
    return True


def step_segment(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    tape: NoiseBuffer,
    draws: int,
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
        stop = min(until, clock + CHUNK)
        if record < len(checkpoints):
            stop = min(stop, checkpoints[record])
        length = stop - clock
        draw_noise(draws, (tape, length, replicate, clock))
        if not pulls_of_chunk(
            arena,
            committee,
            state,
            rng,
            tape.noise[:length],
            tape.gates[:length],
            tape.joins[:length],
            tape.leaves[:length],
            0,
        ):
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
def bound_segment(
    kernels: StepKernels, bias_kernel: Function, noise_kernel: Function, own: str | None = None
) -> Function:
    """Return the compiled segment for a policy's kernels, a bias and a noise.

    Args:
        kernels: of the policy.
        bias_kernel: of the bias.
        noise_kernel: of the noise.
        own: a digest of the user's own code in them (`own_code`): a function that is the same
            object may read a global that is not.
    """
    models = (bias_kernel, noise_kernel)
    chunk = bound_chunk(kernels, *models, note_round=no_round, note_pull=no_pull)
    loop = bind(
        step_segment,
        pulls_of_chunk=chunk,
        candidate=kernels.candidate,
        draw_noise=caller(noise_types()),
    )
    return compiled(loop, inlined=False)


def bound_chunk(
    kernels: StepKernels, bias_kernel: Function, noise_kernel: Function, **noted: Any
) -> Function:
    """Return `pull_chunk` compiled for a policy's kernels, a bias and a noise.

    Args:
        kernels: of the policy.
        bias_kernel: of the bias.
        noise_kernel: of the noise.
        noted: the kernels that note rounds and pulls, and whether rounds are noted at all.
    """
    chunk = bind(
        pull_chunk,
        select=kernels.select,
        update=kernels.update,
        weight=bias_kernel,
        feedback=bound_feedback(noise_kernel),
        opens=kernels.opens,
        meet=kernels.meet,
        fewest_seats=kernels.fewest_seats,
        **noted,
    )
    return compiled(chunk, called=False)


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
    return Shared(compiled(drawn, allocates=True, called=False), noise_types())
