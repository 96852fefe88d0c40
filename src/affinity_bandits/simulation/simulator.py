"""Run policies on a bandit, many times over."""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from affinity_bandits.base import checks, registry
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.base.progress import heartbeat, show_progress
from affinity_bandits.catalogue import AnyPolicy, policy_from_json
from affinity_bandits.kernels.kernel import IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.simulation.caveats import caveat_of
from affinity_bandits.simulation.engines import Engine, Tick, engine_for
from affinity_bandits.simulation.environment import require_bandit
from affinity_bandits.simulation.jobs import Asked, Jobs
from affinity_bandits.simulation.result import PolicyRun, Result

PolicyLike = AnyPolicy | str | Mapping[str, Any]
Policies = PolicyLike | Iterable[PolicyLike]

DEFAULT_CHECKPOINTS = 60
MOST_BYTES = 8 * 2**30
ROUND_SECONDS = 0.5
"""How long all policies work on their replicates before the next ones are begun: an interrupt
loses at most that."""


def simulate(
    bandit: AffinityBandit,
    policies: Policies,
    horizon: int,
    replicates: int = 100,
    seed: int = 0,
    *,
    checkpoints: Iterable[int] | int = DEFAULT_CHECKPOINTS,
    engine: str = "auto",
    first_replicate: int = 0,
    n_jobs: int = 1,
    progress: bool | Callable[[float], None] | None = None,
) -> Result:
    """Run each policy on independent replicates of a bandit (Section 2).

    A replicate's outcome depends only on (bandit, policy, horizon, seed, its number, engine).

    Args:
        bandit: the instance.
        policies: a policy, its name, "module:Class", a table with a name and settings, a list of
            those, or a table from labels to them. A class in a module that has `select` and
            `update` is run in plain Python (`InPython`).
        horizon: pulls of every replicate, up to 10**15.
        replicates: number of replicates.
        seed: of all randomness.
        checkpoints: when to count pulls: a number of times, evenly spaced in the logarithm, or a
            list of times. The horizon is always added. Memory grows with their number.
        engine: "auto" draws whole rounds at once if the policy and the law of the feedback allow
            it; "rounds" insists on it; "steps" pulls one by one; "python" does so in plain Python,
            for policies that numba cannot compile (automatic for those with `in_python`).
            `Result.runs` says which was used.
        first_replicate: the number of the first replicate; 100 and then 100 more with
            `first_replicate=100` are the same as 200.
        n_jobs: how many shares of the replicates are run at once: in threads, or in processes
            where code is not compiled, which must then be in a module. The result is the same for
            any number.
        progress: True for a bar, None for a bar on a terminal after one second, False for silence,
            or a function that is called with the part done, first with 0 after compiling (with
            several jobs, from several threads, one at a time). With True
            and None, lines on standard error report compiling.

    Returns:
        The result; if interrupted (Ctrl-C) after the first replicates, the finished ones, with
        `complete` False and a warning.

    >>> from affinity_bandits import AffinityBandit, Power, simulate
    >>> bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    >>> result = simulate(bandit, ["ucb1", "elimination"], 1_000_000, replicates=20)
    >>> [run.engine for run in result.runs]
    ['steps', 'rounds']
    >>> (result.wrong_arm.mean(axis=1) > 0.5).tolist()
    [True, False]
    """
    bandit = require_bandit(bandit)
    chosen = _labeled(policies, bandit)
    horizon = checks.integer("horizon", horizon, low=1)
    replicates = checks.integer("replicates", replicates, low=1, high=10**9)
    first = checks.integer("first_replicate", first_replicate, low=0, high=2**62)
    checks.integer("seed", seed, low=0, high=2**128 - 1)
    checks.choice("engine", engine, ("auto", "rounds", "steps", "python"))
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InvalidInput("progress", "true, false, None or a function", progress)
    times = checkpoints_at(checkpoints, horizon)
    shape = (len(chosen), replicates, len(times), bandit.arms)
    if 8 * int(np.prod(shape, dtype=np.float64)) > MOST_BYTES:
        raise NotSupported(
            f"{shape[0]} policies x {shape[1]} replicates x {shape[2]} checkpoints x {shape[3]} "
            f"arms do not fit in {MOST_BYTES // 2**30} GiB: ask for fewer checkpoints, or run the "
            f"replicates in parts with first_replicate"
        )
    asked = [Asked(bandit, policy, horizon, int(seed), times, engine) for policy in chosen.values()]
    engines = [engine_for(*each) for each in asked]
    # Before the clock of the progress begins: it would take that time for work, and there is none.
    with nullcontext() if progress is False or callable(progress) else heartbeat("at work"):
        for runner, _ in engines:
            runner.compile()
    count = min(checks.integer("n_jobs", n_jobs, low=1, high=1024), replicates)
    pulls = np.zeros(shape, dtype=np.int64)
    ends = np.zeros((len(chosen), replicates, bandit.arms + 1), dtype=np.int64)
    finished = 0

    def run(place: int, runner: Engine, share: slice, tick: Tick) -> None:
        runner.run(first + share.start, pulls[place, share], ends[place, share], tick)

    with (
        show_progress(len(chosen) * replicates, wanted=progress) as bar,
        Jobs([runner for runner, _ in engines], asked, count) as jobs,
    ):
        bar.tick(0.0)
        try:
            for block in _blocks(replicates, count):
                jobs.run(block, run, bar.tick)
                finished = block.stop
        except KeyboardInterrupt:
            if finished == 0:
                raise
            warnings.warn(
                f"interrupted: {finished} of {replicates} replicates are finished and returned",
                stacklevel=2,
            )
    return Result(
        bandit=bandit,
        runs=tuple(
            PolicyRun(
                label,
                policy.to_json(),
                policy.eliminates,
                runner.name,
                note,
                caveat_of(label, policy, bandit),
            )
            for (label, policy), (runner, note) in zip(chosen.items(), engines, strict=True)
        ),
        horizon=horizon,
        seed=int(seed),
        replicates=np.arange(first, first + finished, dtype=np.int64),
        checkpoints=times,
        pulls=pulls[:, :finished],
        candidates=np.ascontiguousarray(ends[:, :finished, :-1]),
        decided_at=np.where(
            [[policy.eliminates] for policy in chosen.values()], ends[:, :finished, -1], 0
        ),
        complete=finished == replicates,
    )


def _blocks(replicates: int, jobs: int) -> Iterable[slice]:
    """Yield slices of the replicates, grown until one takes about ROUND_SECONDS."""
    start, size = 0, jobs
    while start < replicates:
        began = time.perf_counter()
        block = slice(start, min(replicates, start + size))
        yield block
        start = block.stop
        if time.perf_counter() - began < ROUND_SECONDS / 2:
            size *= 2


def _labeled(policies: Policies, bandit: AffinityBandit) -> dict[str, AnyPolicy]:
    if isinstance(policies, Mapping) and "name" not in policies:
        pairs = [
            (str(label), require_policy("policies", given, bandit))
            for label, given in policies.items()
        ]
    else:
        single = isinstance(policies, StepPolicy | RoundPolicy | str | Mapping | type)
        rule = "a policy, its name, or a list of them"
        items = [policies] if single else checks.sequence("policies", policies, rule)
        found = [require_policy("policies", item, bandit) for item in items]
        pairs = [(str(policy), policy) for policy in found]
    if not pairs:
        raise InvalidInput("policies", "at least one policy", policies)
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidInput("policies", "different from each other", label)
    for _, policy in pairs:
        # Fails early where a policy does not fit the bandit.
        registry.own("policies", f"start ({policy})", partial(policy.start, bandit.arms, 1))
        registry.own("policies", f"kernels ({policy})", policy.kernels)
    return dict(pairs)


def require_policy(parameter: str, given: object, bandit: AffinityBandit) -> AnyPolicy:
    """Return a policy that is given as such, by its name or by its description."""
    if isinstance(given, StepPolicy | RoundPolicy):
        return given
    if isinstance(given, str | Mapping):
        return policy_from_json(given, bandit, imports=True)
    one_of_several = parameter == "policies"
    rule = "a policy, its name, or a list of them" if one_of_several else "a policy or its name"
    if isinstance(given, type):
        own = not issubclass(given, StepPolicy | RoundPolicy)
        rule += f", not a class: {f'InPython({given.__name__})' if own else f'{given.__name__}()'}"
    raise InvalidInput(parameter, rule, given)


def checkpoints_at(wanted: Iterable[int] | int, horizon: int) -> IntArray:
    """Return when to count pulls: so many times, evenly spaced in log time, or the times given."""
    if isinstance(wanted, numbers.Real):
        count = checks.integer("checkpoints", wanted, low=1, high=10**6)
        exponents = np.linspace(0.0, np.log10(float(horizon)), count)
        times = np.unique(np.round(10.0**exponents).astype(np.int64))
        return np.unique(np.append(times[times < horizon], horizon))
    given = checks.integers_list("checkpoints", wanted, low=1, high=horizon)
    return np.unique(np.array([*given, horizon], dtype=np.int64))
