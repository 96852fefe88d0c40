"""The compiled loop of single pulls, written once and bound to each policy and bias.

`select`, `update`, `candidate` and `weight` are bound to a policy's and a bias's kernels, so the
compiler sees plain calls, inlines them, and caches the result on disk.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies.step import StepKernels
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Words, fill_normal, fill_uniform
from affinity_bandits.simulation.environment import GATED, Arena, Committee, feedback, join

select: Function = unbound
update: Function = unbound
candidate: Function = unbound
weight: Function = unbound
pulls_of_chunk: Function = unbound

OUT_OF_RANGE = -1
CHUNK = 1024
"""Random numbers drawn at a time: enough to fill the pipeline, few enough for the first cache."""


class Tape(NamedTuple):
    """Where a run's random numbers come from, and room to lay some of them out."""

    noise_key: Words
    gate_key: Words
    noise: FloatArray
    gates: FloatArray


def pull_chunk(
    arena: Arena,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    noise: FloatArray,
    gates: FloatArray,
    checkpoints: IntArray,
    record: int,
    out: IntArray,
) -> int:
    """Pull once for each number in `noise`; return the index of the next checkpoint.

    Or OUT_OF_RANGE, if the policy chose an arm that there is none of.
    """
    clock = committee.clock[0]
    upcoming = checkpoints[record] if record < len(checkpoints) else -1
    gated_normal = arena.mechanism == GATED and not arena.bernoulli
    gate = 0.0
    arms = len(committee.members)
    for i in range(len(noise)):
        arm = select(state, rng)
        if arm < 0 or arm >= arms:
            return OUT_OF_RANGE
        if gated_normal:
            gate = gates[i]
        share = committee.members[arm] / committee.total[0]
        seen = feedback(arena, arm, weight(arena.code, arena.parameters, share), noise[i], gate)
        update(state, arm, seen)
        join(arena.memory, committee, arm)
        clock += 1
        if clock == upcoming:
            for k in range(len(committee.pulls)):
                out[record, k] = committee.pulls[k]
            record += 1
            upcoming = checkpoints[record] if record < len(checkpoints) else -1
    return record


def step_segment(
    arena: Arena,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    tape: Tape,
    replicate: np.uint64,
    until: int,
    checkpoints: IntArray,
    out: IntArray,
    candidates: IntArray,
) -> bool:
    """Pull until the clock stands at `until`; return False if the policy chose an unknown arm.

    Writes the pulls at each checkpoint passed, and in the end who is still a candidate.
    """
    clock = committee.clock[0]
    record = 0
    while record < len(checkpoints) and checkpoints[record] <= clock:
        record += 1
    while clock < until:
        size = min(CHUNK, until - clock)
        if arena.bernoulli:
            fill_uniform(tape.noise[:size], tape.noise_key, replicate, clock)
        else:
            fill_normal(tape.noise[:size], tape.noise_key, replicate, clock)
            if arena.mechanism == GATED:
                fill_uniform(tape.gates[:size], tape.gate_key, replicate, clock)
        record = pulls_of_chunk(
            arena,
            committee,
            state,
            rng,
            tape.noise[:size],
            tape.gates[:size],
            checkpoints,
            record,
            out,
        )
        if record == OUT_OF_RANGE:
            return False
        clock += size
    for arm in range(len(candidates)):
        candidates[arm] = 1 if candidate(state, arm) else 0
    return True


@lru_cache(maxsize=256)  # telling kernels apart takes a tenth of a millisecond or two
def bound_segment(kernels: StepKernels, bias_kernel: Function) -> Function:
    """Return the compiled segment for a policy's kernels and a bias."""
    chunk = compiled(
        bind(pull_chunk, select=kernels.select, update=kernels.update, weight=bias_kernel)
    )
    return compiled(
        bind(step_segment, pulls_of_chunk=chunk, candidate=kernels.candidate), allocates=True
    )
