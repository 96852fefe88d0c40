"""The rules that kernels of policies keep, checked by running them as plain Python.

The compiler reports a broken rule with an obscure message, or overlooks it.
"""

from __future__ import annotations

import inspect
import traceback
from linecache import getline
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.errors import shown
from affinity_bandits.model.streams import policy_generator
from affinity_bandits.policies.contracts import RoundPolicy, StepPolicy
from affinity_bandits.policies.live import as_steps

PACKAGE = Path(__file__).parents[1]
PULLS = 60
"""Pulls in plain Python, enough for a policy that begins to draw later."""
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


def check_kernels(policy: StepPolicy | RoundPolicy, arms: int, horizon: int) -> None:
    """Check the rules that a compiler enforces with an obscure message, or overlooks.

    Raises:
        AssertionError: names the kernel or the field of the state, and the remedy.
    """
    _check_static(policy)
    _check_fields(policy, policy.start(arms, horizon))
    _check_pulls(policy, arms, horizon)


def _definition(policy: StepPolicy | RoundPolicy, name: str) -> Place:
    """Return the line that defines a kernel, below its decorators."""
    code = getattr(type(policy), name).__code__
    line = code.co_firstlineno
    while getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return Place(code.co_filename, line, name)


def _check_static(policy: StepPolicy | RoundPolicy) -> None:
    kind = RoundPolicy if isinstance(policy, RoundPolicy) else StepPolicy
    for name in KERNELS[kind]:
        found = inspect.getattr_static(type(policy), name)
        assert isinstance(found, staticmethod), (
            f"{policy}: {name} is not static: write @staticmethod above it; what it needs to "
            f"know, the state holds"
        )
    for name, kernel in policy.kernels()._asdict().items():
        assert isinstance(kernel, FunctionType), f"{policy}: {name} is no plain function"
        assert not kernel.__closure__, (
            f"{policy}: {name} reads {', '.join(kernel.__code__.co_freevars)} of an enclosing "
            f"function: put it into the state"
        )
        assert "_replace" not in kernel.__code__.co_names, (
            f"{policy}: {name} makes another state with _replace, which nobody sees: change the "
            f"arrays of the state in place"
        )


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
    played = as_steps(policy)
    kernels, state = played.kernels(), played.start(arms, horizon)
    rng = policy_generator(0, played.to_json(), 0)
    untouched = str(rng.bit_generator.state)
    feedback = np.random.default_rng(5).random(PULLS).tolist()
    name = "select"
    told = isinstance(policy, RoundPolicy) and policy.told_judges
    try:
        for seen in feedback:
            name = "plan" if isinstance(policy, RoundPolicy) else "select"
            if told and kernels.opens(state):
                kernels.meet(state, np.ones(arms, dtype=np.int64))
            arm = kernels.select(state, rng)
            assert isinstance(arm, int | np.integer), (
                f"{policy}: {name} returns {shown(arm)}, a {type(arm).__name__}: return the number "
                f"of an arm, a whole number from 0 to {arms - 1}\n{_definition(policy, name)}"
            )
            assert 0 <= arm < arms, f"{policy}: {name} returns {arm}, which is no arm"
            name = "absorb" if isinstance(policy, RoundPolicy) else "update"
            kernels.update(state, int(arm), seen)
    except AssertionError:
        raise
    except Exception as error:
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
        raise AssertionError(
            f"{policy}: {name} raises {type(error).__name__}: {words}{where}"
        ) from error
    assert policy.randomized or str(rng.bit_generator.state) == untouched, (
        f"{policy}: select draws from its stream: say randomized: ClassVar[bool] = True, or all "
        f"replicates draw the same numbers"
    )
