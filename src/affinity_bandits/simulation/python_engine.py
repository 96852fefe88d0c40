"""The engine that runs policies in plain Python, pull by pull: the same pulls, uncompiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from affinity_bandits import names
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias.weights import KNOWN
from affinity_bandits.errors import AffinityError, NotSupported
from affinity_bandits.kernels import Function, IntArray, bind, unbound
from affinity_bandits.noise.base import no_quantile
from affinity_bandits.noise.laws import is_normal, reads_gate
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.policies.as_steps import as_steps
from affinity_bandits.simulation.code_cache import for_python
from affinity_bandits.simulation.draws import fill_normal, fill_uniform
from affinity_bandits.simulation.environment import (
    BanditArrays,
    Committee,
    arena_of,
    bound_feedback,
    committee_of,
)
from affinity_bandits.simulation.step_loop import (
    CHUNK,
    gated_noise,
    member_noise,
    new_buffer,
    no_pull,
    no_round,
    normal_noise,
    pull_chunk,
    uniform_noise,
)
from affinity_bandits.streams import policy_generator

bias: Function = unbound


class PythonEngine:
    """Pull by pull in plain Python, for policies that no compiler can translate.

    The loop is the compiled one's source, run as it is on the same random numbers, so a policy
    that computes the same makes the same pulls.
    """

    name = "python"

    def __init__(
        self,
        bandit: AffinityBandit,
        policy: StepPolicy | RoundPolicy,
        horizon: int,
        seed: int,
        checkpoints: IntArray,
    ) -> None:
        self._policy = policy
        self._played = as_steps(policy)
        self._bandit = bandit
        self._horizon = horizon
        self._seed = seed
        self._checkpoints = [int(time) for time in checkpoints]
        self._told = isinstance(policy, RoundPolicy) and policy.told_judges
        self._arena = arena_of(bandit, self._told)
        self._in_lists = not self._arena.seating.counted
        if self._in_lists:
            self._arena = _in_lists(self._arena, bandit)
        self._tape = new_buffer(seed)
        self._draw = _draws(self._arena.law, bandit)
        self._kernels = self._played.kernels()
        kernels = self._kernels
        self._pull = bind(
            pull_chunk,
            select=kernels.select,
            update=kernels.update,
            weight=bind(weight_of, bias=bandit.bias.kernel),
            feedback=bound_feedback(bandit.noise.kernel),
            opens=kernels.opens,
            meet=kernels.meet,
            fewest_seats=kernels.fewest_seats,
            note_round=no_round,
            note_pull=no_pull,
        )

    def compile(self) -> None:
        """Compile nothing: this is the engine for what cannot be."""

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Any) -> None:
        """Run replicates `first`, `first` + 1, ... into the entries of `out`."""
        for j in range(len(out)):
            committee = committee_of(self._bandit, self._told)
            if self._in_lists:
                committee = Committee(*(part.tolist() for part in committee))
            try:
                self._replicate(first + j, committee, out[j], candidates[j], tick)
            except (AffinityError, MemoryError):
                raise
            except Exception as error:
                pulled = sum(int(count) for count in committee.pulls)
                raise NotSupported(
                    f"policy {self._policy} raised {names.cause(error)} at pull {pulled + 1:,} of "
                    f"replicate {first + j}"
                ) from error

    def _replicate(
        self, replicate: int, committee: Committee, out: IntArray, candidates: IntArray, tick: Any
    ) -> None:
        state = self._played.start(self._bandit.arms, self._horizon)
        rng = policy_generator(self._seed, self._played.to_json(), replicate)
        clock = 0
        for record, time in enumerate(self._checkpoints):
            while clock < time:
                # The compiled loop draws at the same places: a chunk begins anew at a checkpoint.
                length = min(CHUNK, time - clock)
                self._draw(self._tape, length, np.uint64(replicate), clock)
                listed: Any = {
                    name: getattr(self._tape, name)[:length].tolist()
                    for name in ("noise", "gates", "joins", "leaves")
                }
                tape = self._tape._replace(**listed)
                if not self._pull(self._arena, committee, state, rng, tape, length, 0):
                    raise NotSupported(
                        f"policy {self._policy} chose an arm outside 0 to {self._bandit.arms - 1}"
                    )
                clock += length
                tick(length / self._horizon)
            out[record] = committee.pulls
        for arm in range(self._bandit.arms):
            candidates[arm] = 1 if self._kernels.candidate(state, arm) else 0


def weight_of(arena: BanditArrays, share: float) -> float:
    """Return the weight of a share by the bias's own kernel."""
    return float(bias(arena.code, arena.parameters, share))


def _in_lists(arena: BanditArrays, bandit: AffinityBandit) -> BanditArrays:
    """Return the arena with lists for arrays, which plain Python reads several times as fast.

    What a user's own kernel reads stays an array.
    """
    changed: dict[str, Any] = {
        "means": arena.means.tolist(),
        "initial": arena.initial.tolist(),
    }
    if arena.code in KNOWN:
        changed["parameters"] = arena.parameters.tolist()
    if bandit.noise.kernel is no_quantile:
        changed["noise"] = arena.noise.tolist()
    return arena._replace(**changed)


def _draws(law: int, bandit: AffinityBandit) -> Function:
    """Return what fills the buffers with random numbers."""
    uniform, normal = for_python(fill_uniform), for_python(fill_normal)
    if is_normal(law):
        drawn = bind(normal_noise, fill_normal=normal)
    else:
        drawn = bind(uniform_noise, fill_uniform=uniform)
    if reads_gate(law):
        drawn = bind(gated_noise, fill_noise=drawn, fill_uniform=uniform)
    if bandit.joining.part < 1.0 or bandit.joining.leaving > 0.0:
        drawn = bind(member_noise, fill_noise=drawn, fill_uniform=uniform)
    return drawn
