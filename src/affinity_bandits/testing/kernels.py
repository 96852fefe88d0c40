"""What can be wrong with a policy's kernels and state, found by running them in plain Python."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

import numpy as np

from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.policies.as_steps import as_steps
from affinity_bandits.streams import policy_generator

PULLS = 60
"""Made in plain Python: enough for every arm, and for a policy that begins to draw later."""
KERNELS = {
    StepPolicy: ("select", "update", "candidate"),
    RoundPolicy: ("plan", "absorb", "candidate", "meet", "fewest_seats"),
}


def check_kernels(policy: StepPolicy | RoundPolicy, arms: int, horizon: int) -> None:
    """Check what a compiler would refuse in its own words, or not notice at all.

    Raises:
        AssertionError: names the kernel or the field of the state, and says what to write.
    """
    _check_static(policy)
    _check_fields(policy, policy.start(arms, horizon))
    _check_pulls(policy, arms, horizon)


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
            arm = int(kernels.select(state, rng))
            assert 0 <= arm < arms, f"{policy}: {name} returns {arm}, which is no arm"
            name = "absorb" if isinstance(policy, RoundPolicy) else "update"
            kernels.update(state, arm, seen)
    except AttributeError as error:
        if "set attribute" not in str(error) and "no setter" not in str(error):
            raise
        raise AssertionError(
            f"{policy}: {name} sets a field of the state ({error}): numbers of a state never "
            f"change; what changes is an array, of one place if need be (counts(1), reals(1))"
        ) from error
    assert policy.randomised or str(rng.bit_generator.state) == untouched, (
        f"{policy}: select draws from its stream: say randomised: ClassVar[bool] = True, or all "
        f"replicates draw the same numbers"
    )
