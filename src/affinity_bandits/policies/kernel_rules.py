"""The rules that kernels of policies keep, checked by running them as plain Python.

The compiler reports a broken rule with an obscure message, or overlooks it. So policies from
outside this package are checked before they are compiled.
"""

from __future__ import annotations

import difflib
import dis
import inspect
import random
import traceback
from collections.abc import Iterator
from dataclasses import fields
from linecache import getline
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.base import registry
from affinity_bandits.base.digests import global_names
from affinity_bandits.base.errors import InvalidInput, NotSupported, shown
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.feedback import Feedback
from affinity_bandits.model.streams import policy_generator
from affinity_bandits.policies.contracts import FOREVER, RoundPolicy, StepPolicy
from affinity_bandits.policies.live import AsSteps, as_steps

PACKAGE = Path(__file__).parents[1]
PULLS = 60
"""Pulls in plain Python, enough for a policy that begins to draw later."""
ROUNDS = 20
"""Rounds of extreme feedback, enough for most policies to drop an arm."""
LOOKED_AT = 2000
"""Arms looked at, about, in all pulls of a check: the more arms, the fewer pulls."""
NEAR = 0.85
"""Likeness, from 0 to 1, from which on one name counts as another one misspelled."""
GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)
KERNELS = {
    StepPolicy: ("select", "update", "candidate"),
    RoundPolicy: ("plan", "absorb", "candidate", "meet", "fewest_seats"),
}


class Place(NamedTuple):
    """A line of code, printed as file, line, function and the line itself."""

    file: str
    line: int
    function: str = ""

    @property
    def is_users(self) -> bool:
        """Whether the line is the user's own, outside this package and installed ones."""
        path = Path(self.file).resolve()
        return not (path.is_relative_to(PACKAGE) or "site-packages" in path.parts)

    def __str__(self) -> str:
        path = Path(self.file).resolve()
        near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        within = f", in {self.function}" if self.function else ""
        return f"{near}, line {self.line}{within}:\n    {getline(self.file, self.line).strip()}"


def is_own_policy(policy: StepPolicy | RoundPolicy) -> bool:
    """Return whether the class of a policy is a user's own, from outside this package."""
    inner = policy.policy if isinstance(policy, AsSteps) else policy
    return registry.is_own(type(inner))


def check_own(policy: StepPolicy | RoundPolicy, arms: int, horizon: int) -> None:
    """Check a policy from outside this package before it is compiled.

    Raises:
        NotSupported: names the broken rule and the remedy.
    """
    if is_own_policy(policy):
        try:
            check_kernels(policy, arms, horizon)
        except AssertionError as error:
            raise NotSupported(str(error)) from error


def check_kernels(policy: StepPolicy | RoundPolicy, arms: int, horizon: int) -> None:
    """Check the rules that a compiler enforces with an obscure message, or overlooks.

    Raises:
        AssertionError: names the kernel or the field of the state, and the remedy.
    """
    inner = policy.policy if isinstance(policy, AsSteps) else policy
    _check_settings(inner)
    _check_names(inner)
    _check_static(inner)
    _check_fields(inner, inner.start(arms, horizon))
    _check_pulls(inner, arms, horizon)
    if isinstance(inner, RoundPolicy):
        _check_rounds(inner, arms, horizon)


def _definition(policy: StepPolicy | RoundPolicy, name: str) -> Place:
    """Return the line that defines a kernel, below its decorators."""
    code = getattr(type(policy), name).__code__
    line = code.co_firstlineno
    while getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return Place(code.co_filename, line, name)


def _check_settings(policy: StepPolicy | RoundPolicy) -> None:
    try:
        policy.to_json()
    except InvalidInput as error:
        raise AssertionError(f"{policy}: {error}") from error


def _check_names(policy: StepPolicy | RoundPolicy) -> None:
    """Check that no name of a class is one of the contract misspelled, which would do nothing."""
    classes = [one for one in type(policy).__mro__ if one is not object]
    known = {name for one in classes if not registry.is_own(one) for name in vars(one)}
    own = {name for one in classes if registry.is_own(one) for name in vars(one)}
    for name in sorted(own - known - {item.name for item in fields(policy)}):
        missing = sorted(one for one in known - own if not one.startswith("_"))
        near = difflib.get_close_matches(name, missing, n=1, cutoff=NEAR)
        assert name.startswith("_") or not near, (
            f"{policy}: {name} is no part of a policy, and nothing calls it; did you mean "
            f"{near[0]!r}? Give a helper another name"
        )


def _check_draws(policy: StepPolicy | RoundPolicy, name: str, kernel: FunctionType) -> None:
    """Check that a kernel and the functions that it calls draw from its stream only."""
    waiting, seen = [kernel], {kernel}
    while waiting:
        function = waiting.pop()
        for source in _sources(function.__code__, function.__globals__):
            assert not source, (
                f"{policy}: {name} draws from {source}, so that no seed determines its results: "
                f"draw from rng in select, and say randomized: ClassVar[bool] = True"
            )
        for read in global_names(function.__code__):
            value = function.__globals__.get(read)
            value = getattr(value, "py_func", value)
            if isinstance(value, FunctionType) and value not in seen:
                seen.add(value)
                waiting.append(value)


def _sources(code: CodeType, names: dict[str, Any]) -> Iterator[str]:
    """Yield the generators of random numbers that code reads as globals, as it names them."""
    steps = list(dis.get_instructions(code))
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        if step.opname != "LOAD_GLOBAL":
            continue
        value, text = names.get(step.argval), str(step.argval)
        if value is np and after is not None and after.argval == "random":
            value, text = np.random, f"{text}.random"
        of = getattr(value, "__self__", value)  # of random.random, and other bound methods
        if of is random or of is np.random or isinstance(of, GENERATORS):
            yield text
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _sources(constant, names)


def _check_static(policy: StepPolicy | RoundPolicy) -> None:
    kind = RoundPolicy if isinstance(policy, RoundPolicy) else StepPolicy
    for name in KERNELS[kind]:
        found = inspect.getattr_static(type(policy), name)
        assert isinstance(found, staticmethod), (
            f"{policy}: {name} is not static: write @staticmethod above it; what it needs to "
            f"know, the state holds"
        )
    try:
        kernels = policy.kernels()
    except Exception as error:
        raise _raised(policy, "kernels", error) from error
    for name, kernel in kernels._asdict().items():
        assert isinstance(kernel, FunctionType), f"{policy}: {name} is no plain function"
        assert not kernel.__closure__, (
            f"{policy}: {name} reads {', '.join(kernel.__code__.co_freevars)} of an enclosing "
            f"function: put it into the state"
        )
        assert "_replace" not in kernel.__code__.co_names, (
            f"{policy}: {name} makes another state with _replace, which nobody sees: change the "
            f"arrays of the state in place"
        )
        _check_draws(policy, name, kernel)


def _check_fields(policy: StepPolicy | RoundPolicy, state: Any, place: str = "") -> None:
    assert hasattr(state, "_fields"), (
        f"{policy}: its state{place} is no named tuple, but {type(state).__name__}"
    )
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, tuple):
            _check_fields(policy, value, f" in {name}")
        elif isinstance(value, np.ndarray):
            fits = value.ndim == 1 and value.dtype in (np.int64, np.float64)
            assert fits, (
                f"{policy}: {name} of its state is an array of {value.dtype} with {value.ndim} "
                f"axes: take one-dimensional ones of int64 or float64 (counts, reals)"
            )
        else:
            assert isinstance(value, int | float), (
                f"{policy}: {name} of its state is a {type(value).__name__}: take numbers and "
                f"arrays"
            )


def _check_pulls(policy: StepPolicy | RoundPolicy, arms: int, horizon: int) -> None:
    """Play a few pulls by random feedback, and by extreme feedback."""
    played = as_steps(policy)
    kernels = played.kernels()
    rng = policy_generator(0, played.to_json(), 0)
    untouched = str(rng.bit_generator.state)
    name = "select"
    try:
        for feedback in _feedback(policy.assumes, arms):
            state = played.start(arms, horizon)
            for values in feedback:
                name = "plan" if isinstance(policy, RoundPolicy) else "select"
                if policy.told_judges and kernels.opens(state):
                    kernels.meet(state, np.ones(arms, dtype=np.int64))
                arm = kernels.select(state, rng)
                assert isinstance(arm, int | np.integer), (
                    f"{policy}: {name} returns {shown(arm)}, a {type(arm).__name__}: return the "
                    f"number of an arm, a whole number from 0 to {arms - 1}\n"
                    f"{_definition(policy, name)}"
                )
                assert 0 <= arm < arms, f"{policy}: {name} returns {arm}, which is no arm"
                name = "absorb" if isinstance(policy, RoundPolicy) else "update"
                kernels.update(state, int(arm), float(values[arm]))
                name = "candidate"
                for one in range(arms):
                    kernels.candidate(state, one)
    except AssertionError:
        raise
    except Exception as error:
        raise _raised(policy, name, error) from error
    assert policy.randomized or str(rng.bit_generator.state) == untouched, undeclared(policy)


def undeclared(policy: StepPolicy | RoundPolicy) -> str:
    """Return what to tell of a policy that draws and does not say so."""
    return (
        f"{policy}: select draws from its stream: say randomized: ClassVar[bool] = True, or all "
        f"replicates draw the same numbers"
    )


def _feedback(assumed: Feedback, arms: int) -> Iterator[FloatArray]:
    """Yield feedback of each arm at each pull, [pull, arm], of a kind that a policy assumes."""
    low, high = _range(assumed)
    pulls = max(4, min(PULLS, LOOKED_AT // arms))
    random = np.random.default_rng(5).random((pulls, arms))
    if assumed.law == "bernoulli":
        random = random.round()
    for parts in (random, *(np.tile(one, (pulls, 1)) for one in _extremes(arms))):
        yield low + (high - low) * parts


def _extremes(arms: int) -> FloatArray:
    """Return what each arm is worth, 0 or 1, if the first or last is the only good or bad one."""
    favored = np.zeros((2, arms))
    favored[0, 0] = favored[1, -1] = 1.0
    return np.concatenate([favored, 1.0 - favored])


def _range(assumed: Feedback) -> tuple[float, float]:
    return (assumed.low, assumed.high) if assumed.bounded else (0.0, 1.0)


def _check_rounds(policy: RoundPolicy, arms: int, horizon: int) -> None:
    """Play whole rounds of extreme feedback, so that arms are dropped."""
    kernels = policy.kernels()
    each = max(1, len(policy.nodes))
    low, high = _range(policy.assumes)
    name = "plan"
    try:
        for worth in _extremes(arms).astype(int).tolist():
            state = policy.start(arms, horizon)
            for number in range(max(4, min(ROUNDS, LOOKED_AT // arms))):
                if policy.told_judges:
                    kernels.meet(state, np.full(arms, number + 1, dtype=np.int64))
                name = "plan"
                planned = kernels.plan(state)
                if planned.repetitions >= FOREVER:
                    break
                times = float(planned.repetitions)
                seen = np.zeros((len(planned.arms), each))
                for row, arm in zip(seen, planned.arms, strict=True):
                    if policy.nodes:
                        row[-worth[arm]] = times
                    else:
                        row[0] = times * (high if worth[arm] else low)
                name = "absorb"
                kernels.absorb(state, seen.ravel())
                name = "candidate"
                for one in range(arms):
                    kernels.candidate(state, one)
    except Exception as error:
        raise _raised(policy, name, error) from error


def _raised(policy: StepPolicy | RoundPolicy, name: str, error: Exception) -> AssertionError:
    """Return an error of a policy's own code, with the line of the user's that raised it."""
    words = str(error)
    if isinstance(error, AttributeError) and ("set attribute" in words or "setter" in words):
        words += (
            ": numbers of a state never change; what changes is an array, of one place if need "
            "be (counts(1), reals(1))"
        )
        name = f"{name} sets a field of the state"
    frames = traceback.extract_tb(error.__traceback__)
    places = [Place(one.filename, one.lineno or 0, one.name) for one in frames]
    place = next((one for one in reversed(places) if one.is_users), None)
    where = "" if place is None else f"\n{place}"
    return AssertionError(f"{policy}: {name} raises {type(error).__name__}: {words}{where}")
