"""The compiled loop of single pulls that writes down each of them.

It is the loop of `step_loop` with other notes, so the pulls are the same to the bit. What those
who were not chosen would have scored is drawn from streams of its own: the run does not see it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies.step import StepKernels
from affinity_bandits.simulation.environment import (
    BanditArrays,
    Committee,
    key_words,
    share_of,
)
from affinity_bandits.simulation.models import loop_models
from affinity_bandits.simulation.pointers import caller
from affinity_bandits.simulation.step_loop import (
    CHUNK,
    NoiseBuffer,
    bound_chunk,
    noise_types,
)

BoolArray = npt.NDArray[np.bool_]

weight: Function = unbound
feedback: Function = unbound
pulls_of_chunk: Function = unbound
draw_noise: Function = unbound


class Notes(NamedTuple):
    """Room for rows of a log, and for the panels of all rounds of the run."""

    written: IntArray  # [0]: rows; [1]: rounds of the run so far
    arm: IntArray
    score: FloatArray
    share: FloatArray
    joined: BoolArray
    round: IntArray
    panels: IntArray  # [round, arm]; empty where all members judge
    scores: FloatArray  # [row, arm]; empty unless everybody is scored
    others: NoiseBuffer  # of the scores of those who were not chosen


def other_noise(seed: int, arms: int) -> NoiseBuffer:
    """Return the keys and buffers of the scores of those who are not chosen.

    Args:
        seed: of the run.
        arms: of the bandit; 0 if nobody else is scored.
    """
    size = max(CHUNK, arms) if arms else 0
    noise, gate = (key_words(seed, role) for role in ("unchosen noise", "unchosen gate"))
    # Of who joins and leaves nothing is drawn here.
    return NoiseBuffer(noise, gate, noise, gate, *(np.zeros(size) for _ in range(4)))


def keep_round(log: Notes, judges: IntArray) -> None:
    """Write down that a round begins, and its panel; a kernel."""
    if len(log.panels) > 0:
        for arm in range(log.panels.shape[1]):
            log.panels[log.written[1], arm] = judges[arm]
    log.written[1] += 1


def keep_pull(
    log: Notes,
    arena: BanditArrays,
    committee: Committee,
    total: float,
    place: int,
    arm: int,
    share: float,
    seen: float,
    joined: bool,
) -> None:
    """Write down a pull, before anybody joins or leaves; a kernel.

    `place` is that of its random numbers in their buffers.
    """
    row = log.written[0]
    log.arm[row] = arm
    log.score[row] = seen
    log.share[row] = share
    log.joined[row] = joined
    log.round[row] = log.written[1] - 1
    if len(log.scores) > 0:
        arms = len(committee.pulls)
        for other in range(arms):
            value = seen
            if other != arm:
                part = share_of(arena, committee, total, other)
                at = place * arms + other
                value = feedback(
                    arena,
                    other,
                    weight(arena, part),
                    log.others.noise[at],
                    log.others.gates[at],
                )
            log.scores[row, other] = value
    log.written[0] = row + 1


def log_segment(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    tape: NoiseBuffer,
    draws: int,
    other_draws: int,
    rng: np.random.Generator,
    replicate: np.uint64,
    until: int,
    log: Notes,
) -> bool:
    """Pull until the clock stands at `until`; return False if the policy chose an unknown arm.

    `draws` and `other_draws` are the addresses of what fills the buffers.
    """
    clock = committee.clock[0]
    arms = len(committee.pulls)
    while clock < until:
        length = until - clock
        length = min(length, CHUNK)
        if len(log.scores) > 0:
            length = min(length, len(log.others.noise) // arms)
            draw_noise(other_draws, (log.others, length * arms, replicate, clock * arms))
        draw_noise(draws, (tape, length, replicate, clock))
        if not pulls_of_chunk(arena, committee, state, rng, tape, length, log):
            return False
        clock += length
    return True


@lru_cache(maxsize=64)  # telling kernels apart takes a millisecond or two
def bound_log(kernels: StepKernels, own: str | None = None) -> Function:
    """Return `log_segment` for a policy's kernels, yet to be compiled.

    Args:
        kernels: of the policy.
        own: a digest of the user's own code in them (`own_code`).
    """
    keep = bind(keep_pull, **loop_models())
    noted = {"note_round": keep_round, "note_pull": keep, "rounds_noted": True}
    return bind(
        log_segment,
        pulls_of_chunk=bound_chunk(kernels, **noted),
        draw_noise=caller(noise_types()),
    )
