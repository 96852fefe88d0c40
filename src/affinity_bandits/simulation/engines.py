"""The engines behind `simulate`: whole rounds at once, or pull by pull, compiled or in Python."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias.weights import quick_weight
from affinity_bandits.digests import own_code
from affinity_bandits.errors import NotSupported
from affinity_bandits.kernels import IntArray
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.compiled import explained
from affinity_bandits.simulation.entries import Call
from affinity_bandits.simulation.environment import NO_FORMULA, arena_of, key_words
from affinity_bandits.simulation.layouts import laid_out
from affinity_bandits.simulation.python_engine import PythonEngine
from affinity_bandits.simulation.round_draws import bound_draws, round_room
from affinity_bandits.simulation.round_loop import bound_rounds, round_support
from affinity_bandits.simulation.run import StepRun
from affinity_bandits.simulation.tallies import node_split

SLICE_WORK = 5e7
"""Rough work of one compiled call, in arms looked at: a tenth of a second, so that progress moves
and an interrupt is heard."""


class Engine(Protocol):
    """Runs replicates of one policy, a slice of work at a time.

    Results depend on the replicate's number alone, never on how replicates are grouped.
    """

    name: str

    def compile(self) -> None:
        """Compile all that `run` needs."""

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Tick) -> None:
        """Run replicates `first`, `first` + 1, ... into the entries of `out`."""


class Tick(Protocol):
    """Called after every slice of work with the number of replicates it was worth."""

    def __call__(self, replicates: float) -> None: ...


class StepEngine:
    """Pull by pull, for every policy and bandit."""

    name = "steps"

    def __init__(
        self,
        bandit: AffinityBandit,
        policy: StepPolicy | RoundPolicy,
        horizon: int,
        seed: int,
        checkpoints: IntArray,
    ) -> None:
        self._run = StepRun(bandit, policy, horizon, seed)
        self._checkpoints = checkpoints
        self._slice = int(SLICE_WORK / (bandit.arms + 20))

    def compile(self) -> None:
        """Compile all that `run` needs."""
        self._run.compile()

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Tick) -> None:
        """Run replicates `first`, `first` + 1, ... into the entries of `out`."""
        run = self._run
        for j in range(len(out)):
            run.restart(first + j)
            while run.clock < run.horizon:
                before = run.clock
                run.advance(min(run.horizon, before + self._slice), self._checkpoints, out[j])
                tick((run.clock - before) / run.horizon)
            candidates[j] = run.candidates


class RoundEngine:
    """Whole rounds at once, exact in distribution, for round policies."""

    name = "rounds"
    GROUP = 64
    """Replicates in one compiled call."""

    def __init__(
        self,
        bandit: AffinityBandit,
        policy: RoundPolicy,
        horizon: int,
        seed: int,
        checkpoints: IntArray,
    ) -> None:
        self._policy = policy
        self._bandit = bandit
        self._state = pack(policy.start(bandit.arms, horizon))
        arena = arena_of(bandit)
        self._drawn_from = (
            arena,
            np.array(bandit.bias.breakpoints, dtype=np.float64),
            bool(bandit.bias.smooth),
            node_split(arena, policy.nodes),
        )
        self._fixed = (
            round_room(arena, self._drawn_from[-1], policy.told_judges),
            laid_out(self._state.state),
            self._state.whole,
            self._state.whole.copy(),
            self._state.real,
            self._state.real.copy(),
            key_words(seed, "round"),
        )
        self._horizon = horizon
        self._checkpoints = checkpoints
        # Most runs need no more of it, and it is a third of what is compiled of their draws.
        weight = bandit.bias.kernel if arena.formula == NO_FORMULA else quick_weight
        kernels = policy.kernels()
        self._draws = bound_draws(
            arena.law, bool(policy.nodes), weight, own_code(weight, strict=False)
        )
        seated = len(self._fixed[0].judges) > 0
        self._loop = bound_rounds(kernels, seated, own_code(kernels, strict=False))
        self._called: Call | None = None

    @property
    def state(self) -> Any:
        """The policy's state at the end of the last replicate run."""
        return self._state.state

    def compile(self) -> None:
        """Compile all that `run` needs."""
        arms = self._bandit.arms
        out = np.empty((0, len(self._checkpoints), arms), dtype=np.int64)
        with explained(self._policy, self._bandit):
            self._call((0, out, np.empty((0, arms), dtype=np.int64))).compile()

    def _call(self, given: tuple[Any, ...]) -> Call:
        if self._called is None:
            fixed = (*self._drawn_from, self._draws.address, *self._fixed)
            self._called = Call(self._loop, (*fixed, self._horizon, self._checkpoints), given)
        return self._called

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Tick) -> None:
        """Run replicates `first`, `first` + 1, ... into the entries of `out`."""
        for start in range(0, len(out), self.GROUP):
            group = slice(start, min(start + self.GROUP, len(out)))
            given = (first + start, out[group], candidates[group])
            with explained(self._policy, self._bandit):
                sound = self._call(given)(*given)
            if not sound:
                raise NotSupported(
                    f"policy {self._policy} planned a round with no arms, with unknown ones, or "
                    f"with no repetitions"
                )
            tick(float(group.stop - group.start))


def engine_for(
    bandit: AffinityBandit,
    policy: StepPolicy | RoundPolicy,
    horizon: int,
    seed: int,
    checkpoints: IntArray,
    wanted: str,
) -> tuple[Engine, str]:
    """Return the engine for a policy and, where rounds had to be played by steps, why.

    Raises:
        NotSupported: `wanted` is "rounds" and it cannot be.
    """
    if wanted == "python" or (policy.in_python and wanted != "rounds"):
        return PythonEngine(bandit, policy, horizon, seed, checkpoints), ""
    reason = (
        "it runs in plain Python, pull by pull"
        if policy.in_python
        else round_support(bandit, policy)
        if isinstance(policy, RoundPolicy)
        else f"{policy} chooses after every single feedback"
    )
    if wanted == "rounds" and reason is not None:
        raise NotSupported(f"engine 'rounds' cannot run {policy}: {reason}")
    if wanted == "steps" or reason is not None:
        note = reason if isinstance(policy, RoundPolicy) and wanted == "auto" else None
        return StepEngine(bandit, policy, horizon, seed, checkpoints), note or ""
    assert isinstance(policy, RoundPolicy)
    return RoundEngine(bandit, policy, horizon, seed, checkpoints), ""
