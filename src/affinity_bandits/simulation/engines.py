"""The engines behind `simulate`: rounds, steps, or steps in plain Python."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from affinity_bandits.base import registry
from affinity_bandits.base.errors import AffinityError, NotSupported
from affinity_bandits.kernels.compile import (
    as_python,
    cacheable,
    compile_kernel,
    function_pointer,
    points_fast,
    prepare_kernel,
    prepares_fast,
)
from affinity_bandits.kernels.kernel import Function, IntArray, bind, unbound
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import KNOWN, quick_weight
from affinity_bandits.model.noise.base import no_quantile
from affinity_bandits.model.streams import policy_generator
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.policies.kernel_rules import check_own, is_own_policy
from affinity_bandits.policies.live import as_steps
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.compile_errors import compile_errors
from affinity_bandits.simulation.environment import (
    NO_FORMULA,
    BanditArrays,
    Committee,
    arena_of,
    bound_feedback,
    committee_of,
    key_words,
)
from affinity_bandits.simulation.rounds import (
    bound_draws,
    bound_rounds,
    node_split,
    round_room,
    round_support,
    signature_of_draws,
)
from affinity_bandits.simulation.run import StepRun
from affinity_bandits.simulation.steps import (
    CHUNK,
    bound_chunk,
    new_buffer,
    no_pull,
    no_round,
    noise_kernel,
)

bias: Function = unbound


class PythonEngine:
    """Pull by pull in plain Python, for policies that numba cannot compile.

    It runs the source of the compiled loop on the same random numbers.
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
        self._told = policy.told_judges
        self._arena = arena_of(bandit, self._told)
        self._in_lists = not self._arena.seating.counted
        if self._in_lists:
            self._arena = _in_lists(self._arena, bandit)
        self._tape = new_buffer(seed)
        by_chance = bandit.joining.part < 1.0 or bandit.joining.leaving > 0.0
        self._draw = compile_kernel(noise_kernel(self._arena.law, by_chance), allocates=True)
        self._kernels = self._played.kernels()
        self._pull = bound_chunk(
            self._kernels,
            weight=bind(weight_of, bias=bandit.bias.kernel),
            feedback=bound_feedback(bandit.noise.kernel),
            note_round=no_round,
            note_pull=no_pull,
        )

    def compile(self) -> None:
        """Do nothing: this engine runs uncompiled code."""

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Any) -> None:
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
                    f"policy {self._policy} raised {registry.cause(error)} at pull {pulled + 1:,} "
                    f"of replicate {first + j}"
                ) from error

    def _replicate(
        self, replicate: int, committee: Committee, out: IntArray, candidates: IntArray, tick: Any
    ) -> None:
        state = self._played.start(self._bandit.arms, self._horizon)
        rng = policy_generator(self._seed, self._played.to_json(), replicate)
        clock = 0
        for record, stop in enumerate(self._checkpoints):
            while clock < stop:
                # The compiled loop draws at the same places: a chunk begins anew at a checkpoint.
                length = min(CHUNK, stop - clock)
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
        candidates[-1] = committee.clock[1]


def weight_of(arena: BanditArrays, share: float) -> float:
    """Return the weight of a share by the bias's own kernel."""
    return float(bias(arena.code, arena.parameters, share))


def _in_lists(arena: BanditArrays, bandit: AffinityBandit) -> BanditArrays:
    """Return the arena with lists for arrays, which plain Python reads faster.

    Arrays that a user's own kernel reads stay arrays.
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


Tick = Callable[[float], None]
"""Called after every slice of work with the number of replicates that it was worth."""


class Engine(Protocol):
    """Runs replicates of one policy, a slice of work at a time.

    Results depend on the replicate's number, never on how replicates are grouped. A row of
    `candidates` has 1 for each final candidate, then the pulls after which one was left.
    """

    name: str

    def compile(self) -> None:
        """Compile all that `run` needs."""

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Tick) -> None:
        """Run replicates `first`, `first` + 1, ... into the entries of `out`."""


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

    def compile(self) -> None:
        self._run.compile()

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Tick) -> None:
        for done in self._run.play_rows(first, self._checkpoints, out, candidates):
            tick(done)


class _PatienceEndedError(Exception):
    """Plain Python has run for `PATIENCE` seconds."""


class _Patience:
    """How long this process goes on running rounds in plain Python, in seconds of CPU time."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def limit(self, draws: Function) -> Function:
        """Return a function that raises an error once the time is spent."""
        before = time.thread_time()

        def limited(*arguments: Any) -> None:
            nonlocal before
            draws(*arguments)
            now = time.thread_time()
            self.left -= now - before
            before = now
            if self.left <= 0.0:
                raise _PatienceEndedError

        return limited


PATIENCE = 2.0
"""A small study is done by then, and compiling a loop takes three times as long."""
_patience = _Patience(PATIENCE)


def compile_at_once() -> None:
    """Let this process compile rounds before it plays them, however few they are."""
    _patience.left = 0.0


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
        self._checked = is_own_policy(policy)
        self._state = pack(policy.start(bandit.arms, horizon))
        arena = arena_of(bandit)
        # Code of one's own is compiled at once, so that its mistakes are reported at once.
        known = arena.code in KNOWN and bandit.noise.kernel is no_quantile
        self._may_wait = known and not self._checked
        split = node_split(arena, policy.nodes)
        room = round_room(arena, split, policy.told_judges)
        self._drawn_from = (
            arena,
            np.array(bandit.bias.breakpoints, dtype=np.float64),
            bool(bandit.bias.smooth),
            split,
        )
        self._fixed = (
            room,
            cacheable(self._state.state),
            self._state.whole,
            self._state.whole.copy(),
            self._state.real,
            self._state.real.copy(),
            key_words(seed, "round"),
            horizon,
            checkpoints,
        )
        # Most runs need no more of it, and it is a third of what is compiled of their draws.
        weight = bandit.bias.kernel if arena.formula == NO_FORMULA else quick_weight
        self._draws = bound_draws(arena.law, bool(policy.nodes), weight)
        self._loop = bound_rounds(policy.kernels(), len(room.judges) > 0)
        self._compiled: Function | None = None
        self._in_python = False

    @property
    def state(self) -> Any:
        """The policy's state at the end of the last replicate run."""
        return self._state.state

    def compile(self) -> None:
        """Compile the loop, unless it is worth running it in plain Python first."""
        with compile_errors(self._policy, self._bandit):
            self._in_python = self._may_wait and _patience.left > 0.0 and self._takes_long()
            if not self._in_python:
                self._prepare()

    def _takes_long(self) -> bool:
        """Return whether compiling takes seconds, because nobody has done it yet."""
        if not points_fast(self._draws, signature_of_draws):
            return True
        return not prepares_fast(self._loop, self._arguments(), inlined=False)

    def _arguments(self) -> tuple[Any, ...]:
        """Return the loop's arguments, with the compiled draws and no replicates to play."""
        arms, times = self._bandit.arms, len(self._fixed[-1])
        idle = (0, np.empty((0, times, arms), np.int64), np.empty((0, arms + 1), np.int64))
        draws = function_pointer(self._draws, signature_of_draws)
        return (*self._drawn_from, draws, *self._fixed, *idle)

    def _prepare(self) -> None:
        arguments = self._arguments()
        loop = prepare_kernel(self._loop, arguments, inlined=False, checked=self._checked)
        self._compiled = partial(loop, *arguments[:-3])

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Tick) -> None:
        if self._compiled is None and not self._in_python:
            self.compile()
        assert candidates.shape == (len(out), self._bandit.arms + 1)  # the loop checks no bounds
        start = 0
        while start < len(out):
            stop = min(start + (1 if self._in_python else self.GROUP), len(out))
            with compile_errors(self._policy, self._bandit):
                sound = self._play(first + start, out[start:stop], candidates[start:stop])
            if not sound:
                raise NotSupported(
                    f"policy {self._policy} planned a round with no arms, with unknown ones, or "
                    f"with no repetitions"
                )
            tick(float(stop - start))
            start = stop

    def _play(self, first: int, out: IntArray, candidates: IntArray) -> bool:
        """Play replicates; compile the loop first if plain Python has taken too long."""
        if self._in_python:
            arguments = (*self._drawn_from, _patience.limit(self._draws), *self._fixed)
            try:
                return bool(as_python(self._loop)(*arguments, first, out, candidates))
            except _PatienceEndedError:  # the replicate is played again from its first round
                self._in_python = False
                self._prepare()
        assert self._compiled is not None
        return bool(self._compiled(first, out, candidates))


def engine_for(
    bandit: AffinityBandit,
    policy: StepPolicy | RoundPolicy,
    horizon: int,
    seed: int,
    checkpoints: IntArray,
    wanted: str,
) -> tuple[Engine, str]:
    """Return the engine for a policy, and why a round policy is run by steps.

    Raises:
        NotSupported: `wanted` is "rounds", but the policy or the bandit needs steps.
    """
    if wanted == "python" or (policy.in_python and wanted != "rounds"):
        return PythonEngine(bandit, policy, horizon, seed, checkpoints), ""
    check_own(policy, bandit.arms, horizon)
    reason = (
        "it runs in plain Python, pull by pull"
        if policy.in_python
        else round_support(bandit, policy)
        if isinstance(policy, RoundPolicy)
        else f"{policy} chooses after every single feedback"
    )
    if wanted == "rounds" and reason is not None:
        raise NotSupported(f"engine 'rounds' cannot run {policy}: {reason}")
    with compile_errors(policy, bandit):  # of a state that no loop can take, too
        if wanted == "steps" or reason is not None:
            note = reason if isinstance(policy, RoundPolicy) and wanted == "auto" else None
            return StepEngine(bandit, policy, horizon, seed, checkpoints), note or ""
        assert isinstance(policy, RoundPolicy)
        return RoundEngine(bandit, policy, horizon, seed, checkpoints), ""
