"""One replicate played pull by pull; it can be stopped, saved and resumed at any pull."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from operator import length_hint
from typing import Any

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, NotSupported, StateMismatch, shown
from affinity_bandits.kernels.compile import cacheable, callback, prepare_kernel
from affinity_bandits.kernels.kernel import Function, IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.streams import (
    policy_generator,
    resume_stream,
    stream_starts,
    stream_to_json,
)
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.policies.kernel_rules import check_own, is_own_policy, undeclared
from affinity_bandits.policies.live import as_steps
from affinity_bandits.policies.state import pack, read_saved, state_from_json, state_to_json
from affinity_bandits.simulation.caveats import caveat_of
from affinity_bandits.simulation.compile_errors import compile_errors
from affinity_bandits.simulation.environment import (
    Committee,
    arena_of,
    committee_of,
    require_bandit,
)
from affinity_bandits.simulation.steps import (
    Fresh,
    bound_batch,
    bound_noise,
    loop_functions,
    new_buffer,
)

FORMAT = 1
NO_CHECKPOINTS = np.empty(0, dtype=np.int64)
BATCH = 1024
"""Replicates in one compiled call: passing the arguments takes as long as thousands of pulls."""
SLICE_WORK = 5e7
"""Rough work of one compiled call, in arms looked at: a tenth of a second, so that progress moves
and an interrupt is heard."""


class StepRun:
    """One replicate of a policy on a bandit, by the compiled step loop.

    A run is a pure function of (bandit, policy, horizon, seed, replicate), however it is cut into
    segments, saved and loaded.

    Args:
        bandit: the instance.
        policy: a step policy, or a round policy, which is played one pull at a time.
        horizon: the declared number of pulls.
        seed: of all randomness.
        replicate: which of the independent runs of that seed.
    """

    def __init__(
        self,
        bandit: AffinityBandit,
        policy: StepPolicy | RoundPolicy,
        horizon: int,
        seed: int = 0,
        replicate: int = 0,
    ) -> None:
        self.bandit = require_bandit(bandit)
        self.policy = as_steps(policy)
        if self.policy.in_python:
            raise NotSupported(
                f"policy {policy} runs in plain Python only: simulate runs it, and Environment "
                f"pulls arms by hand, but nothing here can be compiled"
            )
        self.horizon = checks.integer("horizon", horizon, low=1)
        self._own = is_own_policy(policy)
        self._watched = self._own and not self.policy.randomized
        check_own(policy, bandit.arms, self.horizon)
        self.seed = checks.integer("seed", seed, low=0, high=2**128 - 1)
        told = policy.told_judges
        self._arena = arena_of(bandit, told)
        self._committee = pack(committee_of(bandit, told))
        self._state = pack(self.policy.start(bandit.arms, self.horizon))
        self._start = (
            self._committee.whole.copy(),
            self._state.whole.copy(),
            self._state.real.copy(),
        )
        self._tape = new_buffer(self.seed)
        self._batch: Function | None = None
        self._ends = np.ones((1, bandit.arms + 1), dtype=np.int64)
        self.restart(replicate)

    def restart(self, replicate: int) -> None:
        """Go back to before the first pull, of any replicate."""
        committee_whole, whole, real = self._start
        self._committee.whole[:] = committee_whole
        self._state.whole[:] = whole
        self._state.real[:] = real
        self._ends[:] = 1
        self.replicate = checks.integer("replicate", replicate, low=0, high=2**63 - 1)
        if self.policy.randomized or not hasattr(self, "_rng"):
            self._rng = policy_generator(self.seed, self.policy.to_json(), self.replicate)

    @property
    def caveat(self) -> str:
        """Which assumption of the policy feedback or judges violate, else empty."""
        return caveat_of(str(self.policy), self.policy, self.bandit)

    @property
    def clock(self) -> int:
        """The number of pulls made."""
        return int(self._committee.state.clock[0])

    @property
    def pulls(self) -> IntArray:
        """How often each arm has been pulled."""
        pulls: IntArray = self._committee.state.pulls.copy()
        return pulls

    @property
    def state(self) -> Any:
        """The policy's state; a view that moves with the run."""
        return self._state.state

    @property
    def candidates(self) -> IntArray:
        """1 for each arm that the policy still holds may be the best, 0 for the others."""
        return self._ends[0, :-1].copy()

    @property
    def decided_at(self) -> int:
        """After how many pulls only one candidate was left; 0 if several are."""
        return int(self._committee.state.clock[1])

    def advance(
        self, until: int, checkpoints: IntArray = NO_CHECKPOINTS, out: IntArray | None = None
    ) -> None:
        """Pull until the clock is `until`, writing the pulls at each checkpoint passed.

        Args:
            until: at most the horizon; a time in the past has no effect.
            checkpoints: ascending.
            out: room for the pulls, one row per checkpoint.
        """
        until = checks.integer("until", until, low=0, high=self.horizon)
        # The compiled loop checks no bounds.
        times = np.require(checkpoints, dtype=np.int64, requirements=("C", "A"))
        if times.ndim != 1 or np.any(np.diff(times) <= 0):
            raise InvalidInput("checkpoints", "ascending whole numbers", checkpoints)
        shape = (len(times), self.bandit.arms)
        rows = np.empty(shape, dtype=np.int64) if out is None else out
        if rows.shape != shape or rows.dtype != np.int64:
            found = f"{rows.dtype} of shape {rows.shape}"
            raise InvalidInput("out", f"int64 of shape {shape}", found)
        if not rows.flags.writeable:
            raise InvalidInput("out", "an array that can be written", "one that cannot")
        # It takes for granted that an array's numbers lie side by side, too.
        written = np.require(rows, requirements=("C", "A"))
        self.compile()
        begun = np.array([0, 1], dtype=np.int64)
        limits = (until, self.horizon + 1)
        same = callback(lambda: None)
        self._play(
            self._batch, self.replicate, same, begun, *limits, times, written[None], self._ends
        )
        if written is not rows:
            rows[:] = written

    def play_rows(
        self, first: int, checkpoints: IntArray, out: IntArray, ends: IntArray
    ) -> Iterator[float]:
        """Play replicates `first`, `first` + 1, ... from their first pull to the horizon.

        Yields the number of replicates that each slice of the work was worth. Afterwards the run
        stands at the end of the last replicate.

        Args:
            first: the number of the first replicate.
            checkpoints: ascending.
            out: room for the pulls, [replicate, checkpoint, arm].
            ends: room for the final candidates and when one was left, [replicate, arm].
        """
        # The compiled loop checks no bounds.
        shape = (len(ends), len(checkpoints), self.bandit.arms)
        assert out.shape == shape
        assert ends.shape == (len(ends), self.bandit.arms + 1)
        self.compile()
        for start in range(0, len(ends), BATCH):
            rows = slice(start, start + BATCH)
            yield from self._play_batch(first + start, checkpoints, out[rows], ends[rows])

    def _play_batch(
        self, first: int, checkpoints: IntArray, out: IntArray, ends: IntArray
    ) -> Iterator[float]:
        count = len(ends)
        at = np.zeros(2, dtype=np.int64)
        named = self.policy.to_json()
        starts = stream_starts(self.seed, named, first, count) if self.policy.randomized else []
        # An iterator without a line of Python: in one, an interrupt would be heard, and lost.
        sets = map(setattr, repeat(self._rng.bit_generator), repeat("state"), starts)
        begun = iter(range(count))
        next_stream = callback(zip(sets, begun, strict=True).__next__)
        pulls = int(SLICE_WORK / (self.bandit.arms + 20))
        done = 0
        while at[0] < count:
            limits = (self.horizon, pulls)
            self._play(self._batch, first, next_stream, at, *limits, checkpoints, out, ends)
            if starts and count - length_hint(begun) != at.sum():
                raise MemoryError("the random numbers of a replicate could not be set")
            before, done = done, int(at[0]) * self.horizon + int(at[1]) * self.clock
            yield (done - before) / self.horizon
        self.replicate = first + count - 1
        self._ends[0] = ends[-1]

    def compile(self) -> None:
        """Compile the loop that `advance` runs, which takes some seconds the first time."""
        if self._batch is None:
            plain = self.bandit.memory is None and not self._arena.seating.counted
            committee_start, whole_start, real_start = self._start
            fresh = Fresh(
                committee_start,
                self._committee.whole,
                whole_start,
                self._state.whole,
                real_start,
                self._state.real,
                bool(self.policy.randomized),
            )
            nothing = (np.empty((0, 0, self.bandit.arms), dtype=np.int64), self._ends[:0])
            at = np.zeros(2, dtype=np.int64)
            idle = (callback(lambda: None), at, 0, 0, NO_CHECKPOINTS, *nothing)
            self._batch = self._prepared(bound_batch(self.policy.kernels(), plain), (fresh,), idle)

    def _prepared(
        self, loop: Function, further: tuple[Any, ...], idle: tuple[Any, ...]
    ) -> Function:
        """Return a compiled loop with the arguments that stay the same in a run.

        `further` are those it takes after the draws; `idle` are last arguments that end it before
        the first pull.
        """
        bandit = self.bandit
        by_chance = bandit.joining.part < 1.0 or bandit.joining.leaving > 0.0
        with compile_errors(self.policy, bandit):
            fixed = (
                self._arena,
                self._committee.state,
                cacheable(self._state.state),
                self._tape,
                *loop_functions(self._arena, bandit),
                bound_noise(self._arena.law, by_chance),
                *further,
            )
            arguments = (*fixed, self._rng, np.uint64(0), *idle)
            made = prepare_kernel(loop, arguments, checked=self._own)
        return partial(made, *fixed)

    def _play(self, loop: Any, replicate: int, *changing: Any) -> None:
        """Call a loop of `_prepared` with the arguments that differ from call to call."""
        before = str(self._rng.bit_generator.state) if self._watched else ""
        with compile_errors(self.policy, self.bandit):
            sound = loop(self._rng, np.uint64(replicate), *changing)
        if self._watched and str(self._rng.bit_generator.state) != before:
            raise NotSupported(undeclared(self.policy))
        if not sound:
            raise NotSupported(
                f"policy {self.policy} chose an arm outside 0 to {self.bandit.arms - 1}"
            )

    def to_json(self) -> str:
        """Return everything needed to resume in another process, to the bit."""
        data = {
            "format": FORMAT,
            "bandit": self.bandit.to_json(),
            "seed": self.seed,
            "replicate": self.replicate,
            "committee": state_to_json(self._committee.state),
            "stream": stream_to_json(self._rng),
            **self.policy.save(self._state.state, self.bandit.arms, self.horizon),
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(
        cls, bandit: AffinityBandit, policy: StepPolicy | RoundPolicy, text: str
    ) -> StepRun:
        """Resume from `to_json`; bandit and policy must be those that wrote it."""
        data = read_saved(text, FORMAT, ("bandit", "seed", "replicate", "committee", "stream"))
        if data["bandit"] != bandit.to_json():
            raise StateMismatch(
                f"the run was saved on {shown(data['bandit'])}, not on {shown(bandit.to_json())}"
            )
        run = cls(bandit, policy, data["horizon"], data["seed"], data["replicate"])
        committee = state_from_json(run._committee.state, data["committee"])
        check_saved_committee(committee, bandit)
        run._committee.whole[:] = pack(committee).whole
        saved = pack(run.policy.load(data))
        run._state.whole[:] = saved.whole
        run._state.real[:] = saved.real
        resume_stream(run._rng, data["stream"])
        kernels = run.policy.kernels()
        for arm in range(bandit.arms):
            run._ends[0, arm] = kernels.candidate(run.state, arm)
        return run


def check_saved_committee(committee: Committee, bandit: AffinityBandit) -> None:
    """Check a saved committee, because the compiled loop does not check its memory accesses.

    Raises:
        StateMismatch: its counts are inconsistent, or name an unknown arm.
    """
    taken, oldest = committee.seats
    sitting = committee.ring[:taken]
    sound = (
        committee.clock[0] == committee.pulls.sum()
        and 0 <= committee.clock[1] <= committee.clock[0]
        and np.all(committee.pulls >= 0)
        and 0 <= taken <= len(committee.ring)
        and 0 <= oldest < max(1, len(committee.ring))
        and np.all((sitting >= 0) & (sitting < bandit.arms))
        and (
            np.array_equal(
                committee.members, np.bincount(sitting, minlength=len(committee.members))
            )
            if len(committee.judges) == 0
            else np.all(committee.members >= 0)
            and np.all(committee.judges >= 0)
            and committee.judges[-1] == committee.judges[:-1].sum()
        )
    )
    if not sound:
        raise StateMismatch("the saved committee's counts do not fit together")
